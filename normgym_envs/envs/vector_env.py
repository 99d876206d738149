"""The Gymnasium vector face: many newcomers in one engine batch."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from normgym_envs.constants import INTERACTION_STEPS, NUM_ACTIONS, Driver, Ending
from normgym_envs.engine import BatchEngine
from normgym_envs.engine.batch_engine import DEFAULT_REWARD_TERMS
from normgym_envs.envs.stream import EpisodeStream, check_reward_terms
from normgym_envs.errors import (
    ActionError,
    ConfigError,
    StateError,
    UnknownNameError,
    check_integer,
)
from normgym_envs.norms.library import num_slots
from normgym_envs.observations import (
    flat_size,
    flat_space,
    image_space,
    observe_flat,
    observe_image,
)
from normgym_envs.types import Layout, Norm

ARRAYS = ("flat", "image")
"""Observations that come as one array for all rows."""
INFO_FIELDS = ("person", "present", "auto", "goals", "collided", "sanctioned")
"""Numbers of an info, one entry a row."""


class NormGymVectorEnv(VectorEnv[npt.NDArray[np.float32], npt.NDArray[np.int64], Any]):
    """Newcomers in many independent worlds, stepped as one batch.

    Description:
        Row i is a `NormGymEnv` of its own: the same seed and actions give the same bytes. Several
        norms may be given; row i has the norm i modulo their number, and all of them must have the
        same population.

    Observation:
        `flat`: (B, 553 / 569 / 585) float32, the action mask in the last five entries. `image`:
        (B, 132, 180, 3) uint8; needs pygame; masks are in `info["action_mask"]`.

    Action:
        (B,) integers in [0, 5).

    Episode end:
        SAME_STEP autoreset: in the step in which a row ends the observation is that of its next
        episode; the last one is in `info["final_obs"]`, its info in `info["final_info"]`. The
        limit is applied here.

    Seeding:
        `reset(seed=s)` gives row i the seed s + i; a list gives each row its own.

    Version history:
        v0: first version.

    Source: NG App. "Deep RL Baseline"; docs/rules.md.
    """

    metadata: dict[str, Any] = {  # noqa: RUF012 - declared as a plain attribute by Gymnasium
        "render_modes": [],
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        layout: str | Layout = "cafe",
        norm: str | Norm | Sequence[str | Norm] = "forbidden-zone-q",
        *,
        num_agents_total: int | None = None,
        num_norm_blind: int = 1,
        observation: str = "flat",
        max_episode_steps: int = INTERACTION_STEPS,
        predict_newcomer: str = "norm_aware",
        reward_terms: tuple[float, float, float, float] = DEFAULT_REWARD_TERMS,
        render_mode: str | None = None,
        num_threads: int = 1,
    ) -> None:
        """Make the worlds.

        Args:
            num_envs: B, at least 1.
            layout: layout or its name.
            norm: norm or its id, or several.
            num_agents_total: population; by default the paper's for the norms' kind.
            num_norm_blind: scripted slots that ignore the norm.
            observation: `flat` or `image`.
            max_episode_steps: limit.
            predict_newcomer: how others foresee the newcomer.
            reward_terms: goal, step cost, collision, sanction; reward points.
            render_mode: None.
            num_threads: threads that step batches of at least 256; results are the same.

        Raises:
            UnknownNameError: no such layout, norm or observation.
            ConfigError: a number outside its range, or norms with different populations.
        """
        num_envs = check_integer("num_envs", num_envs, 1)
        if render_mode is not None:
            raise ConfigError(f"render_mode is {render_mode!r}; expected None")
        if observation not in ARRAYS:
            raise UnknownNameError("observation of a batch", observation, ARRAYS)
        norms = [norm] if isinstance(norm, str | Norm) else list(norm)
        if not norms:
            raise ConfigError("norm is an empty list; expected at least one norm")
        self._streams = [
            EpisodeStream(
                layout,
                norms[row % len(norms)],
                num_agents=num_agents_total,
                num_norm_blind=num_norm_blind,
                limit=max_episode_steps,
                predict_newcomer=predict_newcomer,
            )
            for row in range(num_envs)
        ]
        sizes = {stream.num_slots: stream.norm for stream in self._streams}
        if len(sizes) > 1:
            sized = ", ".join(f"{norm.id}: {num_slots(norm)}" for norm in sizes.values())
            raise ConfigError(f"norms with different populations ({sized}); expected equal ones")
        self.num_slots = self._streams[0].num_slots
        self.num_envs = num_envs
        self.render_mode = render_mode
        self._reward_terms = check_reward_terms(reward_terms)
        used = {stream.norm.id: stream.norm for stream in self._streams}
        self._engine = BatchEngine(
            [self._streams[0].layout], list(used.values()), num_envs, num_threads=num_threads
        )
        self._is_image = observation == "image"
        self.single_observation_space = (
            image_space() if self._is_image else flat_space(self.num_slots)
        )
        self.single_action_space = spaces.Discrete(NUM_ACTIONS)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._started = False

    @property
    def engine(self) -> BatchEngine:
        """The engine whose rows are the worlds."""
        return self._engine

    def reset(
        self,
        *,
        seed: int | Sequence[int | None] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> tuple[npt.NDArray[Any], dict[str, Any]]:
        """Begin an episode in every row.

        Args:
            seed: of row 0, the others follow; or one for each row; None continues the streams.
            options: `predict_newcomer`; anything else is left to wrappers.

        Returns:
            observations (B, ...) and infos.

        Raises:
            SeedError: no valid seed.
            ConfigError: as many seeds as rows are expected.
        """
        seeds: list[int | None]
        if seed is None or isinstance(seed, int | np.integer):
            first = None if seed is None else int(seed)
            seeds = [None if first is None else first + row for row in range(self.num_envs)]
        else:
            seeds = list(seed)
        if len(seeds) != self.num_envs:
            raise ConfigError(f"{len(seeds)} seeds for {self.num_envs} environments")
        kept = {key: value for key, value in (options or {}).items() if key == "predict_newcomer"}
        for row, (stream, own) in enumerate(zip(self._streams, seeds, strict=True)):
            stream.seed(own)
            self._load(row, kept)
        self._started = True
        return self._observe(), self._infos()

    def step(
        self, actions: npt.NDArray[np.integer[Any]]
    ) -> tuple[
        npt.NDArray[Any],
        npt.NDArray[np.float64],
        npt.NDArray[np.bool_],
        npt.NDArray[np.bool_],
        dict[str, Any],
    ]:
        """Advance every world by one turn; rows that end begin their next episode at once.

        Args:
            actions: (B,) integers in [0, 5).

        Returns:
            observations (B, ...), rewards (B,) float64, terminations (B,) bool,
            truncations (B,) bool, infos.

        Raises:
            StateError: before the first reset.
            ActionError: wrong type, shape or range.
        """
        if not self._started:
            raise StateError("step was called before reset; call reset first")
        chosen = np.asarray(actions)
        if chosen.shape != (self.num_envs,):
            raise ActionError(f"actions have shape {chosen.shape}; expected ({self.num_envs},)")
        self._engine.step(chosen[:, None])
        states = self._engine.states
        rewards = states["reward"][:, 0].astype(np.float64)
        ending = states["ending"].copy()
        infos = self._infos()
        ended = np.flatnonzero(ending != Ending.RUNNING)
        if len(ended):
            final = np.full(self.num_envs, None, object)
            last = self._observe()
            for row in ended:
                final[row] = last[row].copy()
            infos = {**infos, "final_obs": final, "_final_obs": ending != Ending.RUNNING}
            infos["final_info"] = {**self._infos(), "_final": ending != Ending.RUNNING}
            infos["_final_info"] = ending != Ending.RUNNING
            for row in ended:
                self._load(int(row), {})
            infos.update(self._infos())
        return (
            self._observe(),
            rewards,
            ending == Ending.TERMINATED,
            ending == Ending.TRUNCATED,
            infos,
        )

    def action_masks(self) -> npt.NDArray[np.int8]:
        """Return which actions are open, (B, 5) int8."""
        return self._engine.action_masks()[:, 0]

    def _load(self, row: int, options: Mapping[str, Any]) -> None:
        spec = self._streams[row].draw(options)
        drivers = (int(Driver.EXTERNAL), *spec.drivers[1:])
        self._engine.load(row, spec, reward_terms=self._reward_terms, drivers=drivers)

    def _observe(self) -> npt.NDArray[Any]:
        if self._is_image:
            return observe_image(self._engine, 0)
        out = np.empty((self.num_envs, flat_size(self.num_slots)), np.float32)
        return observe_flat(self._engine, 0, self.num_slots, out)

    def _infos(self) -> dict[str, Any]:
        states = self._engine.states
        infos: dict[str, Any] = {"action_mask": self.action_masks()}
        for name in INFO_FIELDS:
            infos[name] = states[name][:, 0].astype(np.int64)
        everybody = np.ones(self.num_envs, np.bool_)
        return {**infos, **{f"_{name}": everybody for name in infos}}
