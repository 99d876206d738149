"""The seeded stream of episodes behind every environment class."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from normgym_envs.constants import INTERACTION_STEPS, MAX_SLOTS
from normgym_envs.engine.checks import PREDICTIONS
from normgym_envs.errors import ConfigError, UnknownNameError, check_seed
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
            ConfigError: a number outside its range.
        """
        self.layout = get_layout(layout) if isinstance(layout, str) else layout
        self.norm = get_norm(norm) if isinstance(norm, str) else norm
        if predict_newcomer not in PREDICTIONS:
            raise UnknownNameError("predict_newcomer", predict_newcomer, PREDICTIONS)
        if limit < 1:
            raise ConfigError(f"max_episode_steps is {limit}; expected at least 1")
        self.num_slots = num_slots(self.norm) if num_agents is None else num_agents
        if not 1 <= self.num_slots <= MAX_SLOTS:
            raise ConfigError(f"num_agents_total is {self.num_slots}; expected 1 to {MAX_SLOTS}")
        if not 1 <= num_learners <= self.num_slots:
            raise ConfigError(f"num_learners is {num_learners}; expected 1 to {self.num_slots}")
        if num_norm_blind < 0:
            raise ConfigError(f"num_norm_blind is {num_norm_blind}; expected at least 0")
        self.num_learners = num_learners
        self._num_norm_blind = min(num_norm_blind, self.num_slots - num_learners)
        self._limit = limit
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
            layout = given["layout"]
            self.layout = get_layout(layout) if isinstance(layout, str) else layout
        if "norm" in given:
            norm = given["norm"]
            self.norm = get_norm(norm) if isinstance(norm, str) else norm
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
