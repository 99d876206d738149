"""The PettingZoo face of the world."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv

from normgym_envs.constants import (
    INTERACTION_STEPS,
    MAX_SLOTS,
    NUM_ACTIONS,
    Action,
    Driver,
    Ending,
)
from normgym_envs.engine import BatchEngine
from normgym_envs.engine.batch_engine import DEFAULT_REWARD_TERMS
from normgym_envs.envs.actions import read_actions
from normgym_envs.envs.events import Event, list_events
from normgym_envs.envs.frames import RENDER_FPS, RENDER_MODES, FrameMaker
from normgym_envs.envs.stream import EpisodeStream, check_reward_terms
from normgym_envs.errors import ConfigError, SpecError, StateError, UnknownNameError
from normgym_envs.layouts import get_layout
from normgym_envs.norms.library import get_norm, list_norms, load_norms
from normgym_envs.observations import (
    OBSERVATIONS,
    flat_size,
    flat_space,
    image_space,
    observe_flat,
    observe_image,
    observe_symbolic,
    observe_text,
    symbolic_space,
    text_space,
)
from normgym_envs.observations.text import name_slot
from normgym_envs.observations.views import FACTS, Views, look
from normgym_envs.types import EpisodeSpec, Layout, Norm

AgentDict = dict[str, Any]

_RUNNING, _TERMINATED, _TRUNCATED = (int(ending) for ending in Ending)  # members are slow to read

OPTIONS = ("layout", "norm", "spec", "predict_newcomer")
"""Options of `reset` that this environment reads; others are left to wrappers."""


class NormGymParallelEnv(ParallelEnv[str, Any, int]):  # type: ignore[misc]  # it ships no types
    """A community with a hidden norm, as a PettingZoo parallel environment.

    Description:
        Agents walk an 11 x 15 grid: reach a first goal, stay for a short service, leave by a door.
        A norm that nobody states forbids some moves; forbidden moves are possible, and sanctioned
        in public. Agent ids name slots: `newcomer`, then `background_1`, ... Every learnt slot is
        in `agents` from the reset to the common end. After a person has left its slot is empty
        for one to three turns (zero observation, zero reward, only WAIT open) and then refilled;
        `info["person"]` counts the people who used it. Slots that are not learnt are played by
        the planner.

    Observation:
        By name. `flat`: Dict of `observation` (553 / 569 / 585 float32 in [-1, 1] for 6 / 8 / 10
        slots) and `action_mask` (5,) int8. `box`: the vector alone, a Box; its last five numbers
        are the mask. `symbolic`: Dict of named integer arrays, mask inside.
        `text`: Dict of `text` and `action_mask`. `image`: Dict of `observation` (132, 180, 3) uint8
        and `action_mask`; needs pygame.

    Action:
        Discrete(5): UP, DOWN, LEFT, RIGHT, WAIT. A move that is not open is played as WAIT.

    Reward:
        10 for each goal completed, -0.1 a step while somebody is in the slot, -5 for moving into
        a contested cell, -20 for a sanction.

    Episode end:
        Truncated for all agents at `max_episode_steps`. Test episodes given as
        `options={"spec": ...}` end with termination for all agents when the newcomer has left.

    Arguments:
        layout: name of a layout or a layout.
        norm: id of a norm or a norm; it also decides the kinds of goals.
        num_agents_total: population N; by default the paper's for the norm's kind.
        num_learners: slots that are learnt, the first ones; 1 to N.
        num_norm_blind: scripted slots that ignore the norm, the last ones.
        observation: `flat`, `box`, `symbolic`, `text` or `image`.
        max_episode_steps: limit of drawn episodes.
        predict_newcomer: how scripted agents foresee learnt slots, `norm_aware` or `norm_blind`.
        reward_terms: goal, step cost, collision, sanction; reward points.
        privileged: let `state()` hold the norm.
        render_mode: `human` (a window, shown at every turn), `rgb_array`, `ansi` or None; the
            newcomer's view, its goal marked.
        render_style: `flat` or `isometric`.
        render_width: pixels of a frame, a multiple of 15 from 180 to 1,320.

    Seeding:
        `reset(seed=s)` starts a stream of episodes; later resets without a seed continue it.
        Equal seeds and actions give equal bytes in every process.

    Version history:
        v0: first version.

    Source: NG "NormGym" and App. "Environment Details"; docs/rules.md.

    Example:
        >>> env = NormGymParallelEnv(norm="even-turns-only", num_learners=2)
        >>> observations, infos = env.reset(seed=0)
        >>> env.agents
        ['newcomer', 'background_1']
        >>> step = env.step({agent: 4 for agent in env.agents})
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "normgym_community_v0",
        "render_modes": list(RENDER_MODES),
        "render_fps": RENDER_FPS,
        "is_parallelizable": True,
    }

    def __init__(
        self,
        layout: str | Layout = "cafe",
        norm: str | Norm = "forbidden-zone-q",
        *,
        num_agents_total: int | None = None,
        num_learners: int = 1,
        num_norm_blind: int = 1,
        observation: str = "flat",
        max_episode_steps: int = INTERACTION_STEPS,
        predict_newcomer: str = "norm_aware",
        reward_terms: tuple[float, float, float, float] = DEFAULT_REWARD_TERMS,
        privileged: bool = False,
        render_mode: str | None = None,
        render_style: str = "flat",
        render_width: int = 660,
    ) -> None:
        """Make an environment; arguments as in the class.

        Raises:
            UnknownNameError: no such layout, norm or observation.
            ConfigError: a number outside its range.
        """
        if observation not in OBSERVATIONS:
            raise UnknownNameError("observation", observation, OBSERVATIONS)
        self._frames = FrameMaker(render_mode, render_style, render_width)
        self._stream = EpisodeStream(
            layout,
            norm,
            num_agents=num_agents_total,
            num_learners=num_learners,
            num_norm_blind=num_norm_blind,
            limit=max_episode_steps,
            predict_newcomer=predict_newcomer,
        )
        self.num_slots = self._stream.num_slots
        self._observation = observation
        self._reward_terms = check_reward_terms(reward_terms)
        if privileged and self._stream.norm.id not in list_norms():
            raise ConfigError(
                f"privileged is True, but norm {self._stream.norm.id!r} is not in the library; "
                "expected one that state() can name"
            )
        self._privileged = privileged
        self.render_mode = render_mode
        self.possible_agents = [name_slot(slot) for slot in range(num_learners)]
        self.agents: list[str] = []
        self._observation_spaces: dict[str, spaces.Space[Any]] = {
            agent: self._make_space() for agent in self.possible_agents
        }
        self._action_spaces: dict[str, spaces.Space[Any]] = {
            agent: spaces.Discrete(NUM_ACTIONS) for agent in self.possible_agents
        }
        self._engine: BatchEngine | None = None
        self._chosen = np.full((1, MAX_SLOTS), Action.WAIT, np.int8)
        self._sees_flat = observation in ("flat", "box")

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the agent's space; the same object every time."""
        return self._look_up(self._observation_spaces, agent)

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the agent's space; the same object every time."""
        return self._look_up(self._action_spaces, agent)

    @property
    def state_space(self) -> spaces.Box:
        """Space of `state()`: (state_size,) float32 in [-1, 1]."""
        size = self.num_slots * flat_size(self.num_slots)
        size += len(load_norms()) if self._privileged else 0
        return spaces.Box(-1.0, 1.0, (size,), np.float32)

    def reset(
        self, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[AgentDict, AgentDict]:
        """Begin an episode.

        Args:
            seed: starts the stream of episodes, [0, 2**63]; None continues it.
            options: `layout` or `norm` for this episode on, `predict_newcomer` for this episode,
                or `spec`, a whole EpisodeSpec.

        Returns:
            observations and infos by agent id.

        Raises:
            SeedError: no valid seed.
            UnknownNameError: no such layout or norm.
            SpecError: an episode that does not fit this environment.
        """
        given = dict(options or {})
        self._stream.seed(seed)
        spec = given["spec"] if "spec" in given else self._stream.draw(given)
        if spec.num_slots != self.num_slots:
            raise SpecError(
                f"episode {spec.name!r} has {spec.num_slots} slots; expected {self.num_slots}"
            )
        learners = len(self.possible_agents)
        drivers = (int(Driver.EXTERNAL),) * learners + tuple(
            int(Driver.NORM_AWARE if driver == Driver.EXTERNAL else driver)
            for driver in spec.drivers[learners:]
        )
        engine = self._find_engine(spec)
        engine.load(0, spec, reward_terms=self._reward_terms, drivers=drivers)
        self._engine = engine
        self.agents = list(self.possible_agents)
        if self.render_mode == "human":
            self.render()
        views = self._look()
        return self._observe(views), self._infos(views)

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[AgentDict, dict[str, float], dict[str, bool], dict[str, bool], AgentDict]:
        """Advance by one turn.

        Args:
            actions: an action of every agent in `agents`.

        Returns:
            observations, rewards (reward points), terminations, truncations, infos, all by id.

        Raises:
            StateError: before the first reset or after the end.
            ActionError: a missing, unknown or malformed entry.
        """
        self._check_running()
        ending, views = self.play(read_actions(actions, self.agents))
        rewards = dict(zip(self.possible_agents, views.rewards[0].tolist(), strict=True))
        terminations = dict.fromkeys(rewards, ending == _TERMINATED)
        truncations = dict.fromkeys(rewards, ending == _TRUNCATED)
        return self._observe(views), rewards, terminations, truncations, self._infos(views)

    def play(self, chosen: Sequence[int]) -> tuple[int, Views]:
        """Advance by one turn, for callers that have read the actions.

        Args:
            chosen: action of every learnt slot.

        Returns:
            constants.Ending and what the learnt slots are told, one row.

        Raises:
            StateError: before the first reset or after the end.
        """
        self._check_running()
        engine = self._engine
        assert engine is not None
        self._chosen[0, : len(chosen)] = chosen
        engine.advance(self._chosen)
        ending = int(engine.states["ending"][0])
        if ending != _RUNNING:
            self.agents = []
        if self.render_mode == "human":
            self.render()
        return ending, self._look()

    def state(self) -> np.ndarray:
        """Return all slots' views as one vector, for critics; the norm only with `privileged`.

        Returns:
            (state_size,) float32 in [-1, 1]: the flat observations of all slots in order; with
            `privileged` one more number per norm of the library, 1 for those in force.

        Raises:
            StateError: before the first reset.
        """
        if self._engine is None:
            raise StateError("state was called before reset; call reset first")
        views = [
            observe_flat(self._engine, slot, self.num_slots)[0] for slot in range(self.num_slots)
        ]
        if self._privileged:
            row = self._engine.states[0]
            changed = 0 <= row["change_turn"] <= row["turn"]
            force = row["norms_after"] if changed else row["norms"]
            ids = {self._engine.norms[index].id for index in force if index >= 0}
            views.append(np.array([norm.id in ids for norm in load_norms()], np.float32))
        return np.concatenate(views)

    def events(self) -> tuple[Event, ...]:
        """Return what happened to whom in the last turn, scripted slots included.

        Infos hold the same as numbers for the learnt slots alone.

        Raises:
            StateError: before the first reset.
        """
        if self._engine is None:
            raise StateError("events was called before reset; call reset first")
        return list_events(self._engine, 0)

    def action_masks(self, agent: str) -> np.ndarray:
        """Return which actions are open to an agent, (5,) bool.

        Raises:
            StateError: before the first reset.
            UnknownNameError: no learnt slot of that id.
        """
        if self._engine is None:
            raise StateError("action_masks was called before reset; call reset first")
        if agent not in self.possible_agents:
            raise UnknownNameError("agent", agent, self.possible_agents)
        slot = self.possible_agents.index(agent)
        masks: np.ndarray = self._engine.action_masks()[0, slot] != 0
        return masks

    def render(self) -> Any:
        """Return or show a frame of the present state.

        Returns:
            (H, W, 3) uint8 for `rgb_array`, str for `ansi`, None for `human`.

        Raises:
            StateError: before the first reset.
            ConfigError: there is no render mode, or no display for a window.
            MissingExtraError: pygame is missing.
        """
        if self._engine is None:
            raise StateError("render was called before reset; call reset first")
        return self._frames.make(self._engine)

    def close(self) -> None:
        """Close the window, if there is one; the environment can be reset again."""
        self._frames.close()

    def _check_running(self) -> None:
        """Refuse a step before the first reset and after the end."""
        if not self.agents:
            when = "before reset" if self._engine is None else "after the end of the episode"
            raise StateError(f"step was called {when}; call reset first")

    def _make_space(self) -> spaces.Space[Any]:
        mask = spaces.Box(0, 1, (NUM_ACTIONS,), np.int8)
        if self._observation == "flat":
            return spaces.Dict({"observation": flat_space(self.num_slots), "action_mask": mask})
        if self._observation == "box":
            return flat_space(self.num_slots)
        if self._observation == "image":
            return spaces.Dict({"observation": image_space(), "action_mask": mask})
        if self._observation == "text":
            return spaces.Dict({"text": text_space(), "action_mask": mask})
        return symbolic_space(self.num_slots)

    def _look_up(self, table: Mapping[str, spaces.Space[Any]], agent: str) -> spaces.Space[Any]:
        if agent not in table:
            raise UnknownNameError("agent", agent, table)
        return table[agent]

    def _find_engine(self, spec: EpisodeSpec) -> BatchEngine:
        """Return an engine for an episode; the present one if it will do."""
        own, norm = self._stream.layout, self._stream.norm
        layout = own if spec.layout == own.name else get_layout(spec.layout)
        wanted = dict.fromkeys((*spec.norms, *spec.norms_after))
        norms = tuple(norm if name == norm.id else get_norm(name) for name in wanted)
        engine = self._engine
        if engine is not None and engine.layouts[0] is layout and engine.norms == norms:
            return engine
        return BatchEngine([layout], norms, 1)

    def _look(self) -> Views:
        assert self._engine is not None
        return look(self._engine, self.num_slots, len(self.possible_agents), flat=self._sees_flat)

    def _observe(self, views: Views) -> AgentDict:
        """Return fresh observations of the learnt slots."""
        return {agent: self.view(views, slot) for slot, agent in enumerate(self.possible_agents)}

    def view(self, views: Views, slot: int) -> Any:
        """Return a fresh observation of one learnt slot."""
        if self._observation == "box":
            return views.flat[0, slot]
        mask = views.masks[0, slot]
        if self._observation == "flat":
            return {"observation": views.flat[0, slot], "action_mask": mask}
        assert self._engine is not None
        if self._observation == "symbolic":
            return observe_symbolic(self._engine, 0, slot)
        if self._observation == "image":
            return {"observation": observe_image(self._engine, slot)[0], "action_mask": mask}
        return {"text": observe_text(self._engine, 0, slot), "action_mask": mask}

    def _infos(self, views: Views) -> AgentDict:
        """Return fresh infos of the learnt slots: numbers, the same keys for all from the reset."""
        facts = views.facts[0].tolist()
        return {
            agent: {
                "action_mask": views.masks[0, slot].copy(),
                **dict(zip(FACTS, facts[slot], strict=True)),
            }
            for slot, agent in enumerate(self.possible_agents)
        }
