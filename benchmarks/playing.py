"""Plays episodes in lockstep: one row of a batch engine each, one agent in each newcomer's seat.

Which episodes, in which order and with what belief is the runner's business.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, Protocol, cast

import numpy as np
import numpy.typing as npt

from agents.base import Agent, AgentContext, Belief, Observation
from benchmarks.files import dump_json, load_json
from benchmarks.records import (
    AUTO,
    BeliefEntry,
    EpisodeRecord,
    ErrorRecord,
    Record,
    make_record,
)
from normgym_envs.constants import MAX_SLOTS, TEST_PHASES, Action, Driver, Ending
from normgym_envs.engine import BatchEngine
from normgym_envs.envs.actions import read_action
from normgym_envs.errors import ConfigError
from normgym_envs.protocol.metrics import measure_episode
from normgym_envs.protocol.trace import TraceRecorder
from normgym_envs.types import EpisodeSpec

Observe = Callable[[BatchEngine, int], Observation]
"""Returns what the newcomer of a row may see."""

_SECRET = re.compile("KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_MESSAGE = 500  # characters of an error message that are kept


class Player(Protocol):
    """What a seat asks of whoever takes it; how it is asked for actions is the player's business.

    `choose` and `play` ask for an `Agent`. Optional, as there: `observe`, `belief`, `reasoning`.
    """

    def reset(self, context: AgentContext) -> None:
        """Begin an episode."""
        ...


@dataclass
class Seat:
    """One episode, who plays it, and what came of it so far."""

    spec: EpisodeSpec
    key: dict[str, Any]  # fields of EpisodeKey
    agent: Player | None  # None: the engine's planner
    driver: Driver  # who fills the newcomer's slot
    context: AgentContext
    belief: BeliefEntry | None = None  # carried into a test
    beliefs: list[BeliefEntry] = field(default_factory=list)  # changes during an interaction
    error: str = ""
    turn: int = -1  # turn index of the latest observation

    @property
    def is_test(self) -> bool:
        """Whether beliefs are fixed and the episode ends with the newcomer's departure."""
        return self.spec.phase in TEST_PHASES

    def attempt(self, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return what the agent's code returns; note what it raises, and return None."""
        try:
            return function(*arguments)
        except Exception as error:
            self.error = describe_error(error)
            return None

    def begin(self) -> None:
        """Reset the agent."""
        if self.agent is not None:
            self.attempt(self.agent.reset, self.context)

    def choose(self, observation: Observation, turn: int) -> Any:
        """Return the agent's answer to an observation; None once it has failed."""
        self.turn = turn
        agent = cast(Agent, self.agent)  # lockstep play seats nobody else
        return self.attempt(agent.act, observation)

    def show(self, observation: Observation, turn: int) -> None:
        """Show the agent what it is not asked about."""
        self.turn = turn
        observe = getattr(self.agent, "observe", None)
        if callable(observe):
            self.attempt(observe, observation)

    def note_belief(self) -> None:
        """Ask an interacting agent what it believes, and keep it when it has changed."""
        ask = getattr(self.agent, "belief", None)
        if self.error or self.is_test or not callable(ask):
            return
        entry = self.attempt(lambda: self._to_entry(ask()))
        if entry is None:
            return
        last = self.beliefs[-1] if self.beliefs else None
        if last is None or entry.model_copy(update={"turn": last.turn}) != last:
            self.beliefs.append(entry)

    def _to_entry(self, belief: object) -> BeliefEntry | None:
        """Return a belief as a record stores it."""
        if belief is None:
            return None
        if not isinstance(belief, Belief):
            raise ConfigError(
                f"belief() returned a {type(belief).__name__}; expected agents.Belief or None"
            )
        details = load_json(dump_json(dict(belief.details)))
        return BeliefEntry(
            turn=self.turn, text=belief.text, confidence=belief.confidence, details=details
        )

    def to_error(self) -> ErrorRecord:
        """Return the record of an episode that its agent has broken off."""
        return ErrorRecord(**self.key, turn=self.turn, error=self.error)


class Watch(Protocol):
    """Looks on while episodes are played, e.g. to write traces (`benchmarks.replay`)."""

    def begin(self, engine: BatchEngine, row: int, seat: Seat) -> None:
        """Learn that an episode has been loaded into a row."""
        ...

    def turn(self, engine: BatchEngine, row: int, seat: Seat) -> None:
        """Learn that a step has been played in a row."""
        ...

    def end(self, seat: Seat) -> None:
        """Learn that an episode has ended or been broken off; its beliefs are complete."""
        ...


def find_asked(engine: BatchEngine) -> npt.NDArray[np.bool_]:
    """Return in which rows the newcomer has something to choose, (num_rows,) bool.

    Elsewhere it is served, has no seat or is walled in, and WAIT is all that can happen.
    """
    return np.asarray(engine.action_masks()[:, 0, : Action.WAIT].any(axis=1))


def play(
    engine: BatchEngine,
    seats: Sequence[Seat],
    observe: Observe,
    on_step: Callable[[int], None],
    watch: Watch | None = None,
) -> Iterator[Record]:
    """Play episodes side by side and yield each one's record as it ends.

    Args:
        engine: as many rows as there are seats; reloaded.
        seats: one for each row.
        observe: what an agent may see of a row.
        on_step: told how many steps have just been played or have become needless.
        watch: looks on.

    Yields:
        Records, in the order of ending and by row within a step.

    Raises:
        ActionError: an agent returned something that is no action.
    """
    for row, seat in enumerate(seats):
        engine.load(row, seat.spec, drivers=(seat.driver, *seat.spec.drivers[1:]))
        seat.begin()
        if watch is not None:
            watch.begin(engine, row, seat)
    recorder = TraceRecorder(engine)
    running = list(range(len(seats)))
    while running:
        actions = np.full((engine.num_rows, MAX_SLOTS), Action.WAIT, np.int8)
        is_asked = find_asked(engine)
        for row in running:
            if seats[row].agent is not None and not seats[row].error:
                actions[row, 0] = _decide(engine, row, seats[row], observe, bool(is_asked[row]))
        for row in [row for row in running if seats[row].error]:
            if watch is not None:
                watch.end(seats[row])
            yield drop_row(engine, row, seats[row], on_step)
            running.remove(row)
        if not running:
            return
        engine.step(actions)
        recorder.record()
        if watch is not None:
            for row in running:
                watch.turn(engine, row, seats[row])
        on_step(len(running))
        endings = engine.states["ending"]
        for row in [row for row in running if endings[row] != Ending.RUNNING]:
            running.remove(row)
            on_step(seats[row].spec.limit - int(engine.states["turn"][row]))
            record = finish_row(engine, row, seats[row], observe, recorder)
            if watch is not None:
                watch.end(seats[row])
            yield record


def _decide(engine: BatchEngine, row: int, seat: Seat, observe: Observe, is_asked: bool) -> int:
    """Return the action of an outside-driven newcomer; WAIT when it is not asked or has failed."""
    turn = int(engine.states["turn"][row])
    observation = observe(engine, row)
    action = int(Action.WAIT)
    if is_asked:
        answer = seat.choose(observation, turn)
        if not seat.error:
            action = read_action(answer, f"agent {seat.key['agent']!r}")
    else:
        seat.show(observation, turn)
    seat.note_belief()
    return action


def drop_row(
    engine: BatchEngine, row: int, seat: Seat, on_step: Callable[[int], None]
) -> ErrorRecord:
    """Stop a row whose agent has failed, and return what is recorded of it."""
    on_step(seat.spec.limit - int(engine.states["turn"][row]))
    engine.states["ending"][row] = Ending.TRUNCATED
    return seat.to_error()


def finish_row(
    engine: BatchEngine, row: int, seat: Seat, observe: Observe, recorder: TraceRecorder
) -> Record:
    """Show the agent how a row has ended, and return what is recorded of it."""
    state = engine.states[row]
    if seat.agent is not None:
        seat.show(observe(engine, row), int(state["turn"]))
        seat.note_belief()
        if seat.error:
            return seat.to_error()
    trace = recorder.trace(row)
    played = zip(trace.action[:, 0].tolist(), trace.auto[:, 0].tolist(), strict=True)
    learnt = seat.beliefs[-1] if seat.beliefs else None
    record: EpisodeRecord = make_record(
        seat.key,
        measure_episode(trace, seat.spec.limit, seat.is_test),
        turns=int(state["turn"]),
        ending=Ending(int(state["ending"])).name.lower(),
        actions="".join(AUTO if auto else str(action) for action, auto in played),
        state_hash=sha256(state.tobytes()).hexdigest(),
        belief=seat.belief if seat.is_test else learnt,
        beliefs=tuple(seat.beliefs),
    )
    return record


def describe_error(error: BaseException) -> str:
    """Return type and message of an error, without what the environment keeps secret."""
    text = f"{type(error).__name__}: {error}"
    for name, value in os.environ.items():
        if _SECRET.search(name) and len(value) >= 8:
            text = text.replace(value, f"[{name}]")
    return text.encode("utf-8", "replace").decode()[:_MESSAGE]
