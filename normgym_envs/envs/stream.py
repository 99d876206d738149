"""The seeded stream of episodes behind every environment class."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from normgym_envs.constants import INTERACTION_STEPS, MAX_SLOTS
from normgym_envs.engine.checks import PREDICTIONS
from normgym_envs.errors import ConfigError, UnknownNameError, check_integer, check_seed
from normgym_envs.layouts import get_layout
from normgym_envs.norms.library import get_norm, num_slots
from normgym_envs.protocol.episodes import draw_episode
from normgym_envs.types import EpisodeSpec, Layout, Norm


class EpisodeStream:
    """Draws one episode after the other; equal seeds give equal streams.

    Attributes:
        layout: where the next episodes take place.
        norm: the norm of the next episodes.
        num_slots: population N.
        num_learners: slots driven from outside, the first ones.
    """

    def __init__(
        self,
        layout: str | Layout,
        norm: str | Norm,
        *,
        num_agents: int | None = None,
        num_learners: int = 1,
        num_norm_blind: int = 1,
        limit: int = INTERACTION_STEPS,
        predict_newcomer: str = "norm_aware",
    ) -> None:
        """Check and keep the settings; nothing is drawn yet.

        Args:
            layout: layout or its name.
            norm: norm or its id.
            num_agents: population; by default the paper's for the norm's kind.
            num_learners: slots driven from outside, 1 to the population.
            num_norm_blind: scripted slots that ignore the norm, the last ones.
            limit: steps of an episode.
            predict_newcomer: how others foresee outside-driven slots.

        Raises:
            UnknownNameError: no such layout, norm or prediction.
            ConfigError: a number outside its range, or something of the wrong type.
        """
        self.layout = to_layout(layout)
        self.norm = to_norm(norm)
        if predict_newcomer not in PREDICTIONS:
            raise UnknownNameError("predict_newcomer", predict_newcomer, PREDICTIONS)
        self._limit = check_integer("max_episode_steps", limit, 1)
        population = num_slots(self.norm) if num_agents is None else num_agents
        self.num_slots = check_integer("num_agents_total", population, 1, MAX_SLOTS)
        self.num_learners = check_integer("num_learners", num_learners, 1, self.num_slots)
        blind = check_integer("num_norm_blind", num_norm_blind, 0)
        self._num_norm_blind = min(blind, self.num_slots - self.num_learners)
        self._predict_newcomer = predict_newcomer
        self._rng = np.random.default_rng()

    def seed(self, seed: int | None) -> None:
        """Start the stream anew; None lets it go on.

        Raises:
            SeedError: no valid seed.
        """
        if seed is not None:
            self._rng = np.random.default_rng(check_seed(seed))

    def draw(self, options: Mapping[str, Any] | None = None) -> EpisodeSpec:
        """Return the next episode.

        Args:
            options: `layout` and `norm` from this episode on, `predict_newcomer` for this one;
                anything else is left to wrappers.

        Raises:
            UnknownNameError: no such layout or norm.
        """
        given = dict(options or {})
        if "layout" in given:
            self.layout = to_layout(given["layout"])
        if "norm" in given:
            self.norm = to_norm(given["norm"])
        return draw_episode(
            self.layout,
            self.norm,
            int(self._rng.integers(2**63)),
            num_agents=self.num_slots,
            num_learners=self.num_learners,
            num_norm_blind=self._num_norm_blind,
            limit=self._limit,
            predict_newcomer=given.get("predict_newcomer", self._predict_newcomer),
        )


def to_layout(layout: object) -> Layout:
    """Return a layout given as such or by name.

    Raises:
        UnknownNameError: no such layout.
        ConfigError: neither a layout nor a name.
    """
    if isinstance(layout, Layout):
        return layout
    if isinstance(layout, str):
        return get_layout(layout)
    raise ConfigError(f"layout is {layout!r}; expected a name or a Layout")


def to_norm(norm: object) -> Norm:
    """Return a norm given as such or by id.

    Raises:
        UnknownNameError: no such norm.
        ConfigError: neither a norm nor an id.
    """
    if isinstance(norm, Norm):
        return norm
    if isinstance(norm, str):
        return get_norm(norm)
    raise ConfigError(f"norm is {norm!r}; expected an id or a Norm")


def check_reward_terms(terms: object) -> tuple[float, float, float, float]:
    """Return goal, step cost, collision and sanction as floats, reward points.

    Raises:
        ConfigError: not four finite numbers that are at least 0.
    """
    try:
        goal, cost, collision, sanction = (float(term) for term in terms)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        goal = cost = collision = sanction = -1.0
    checked = (goal, cost, collision, sanction)
    if not all(0 <= term < np.inf for term in checked):
        raise ConfigError(f"reward_terms is {terms!r}; expected four numbers >= 0")
    return checked
