"""Plays one episode with a language model: asks it, or replays what it has decided before.

Episodes run side by side as coroutines, each with a row of an engine of its own. What becomes of
an episode is worked out by `benchmarks.playing`, as for every other agent.
"""

import asyncio
import copy
import re
from collections.abc import Callable

import numpy as np

from agents.base import AgentContext, Belief, Observation
from agents.llm import Decision, LLMNewcomer, TransportError, View
from agents.llm.asking import hash_prompt
from benchmarks.llm.decisions import DecisionLog
from benchmarks.llm.ledger import Ledger, StopWatch
from benchmarks.llm.pictures import draw_png
from benchmarks.playing import (
    Observe,
    Seat,
    Watch,
    describe_error,
    drop_row,
    find_asked,
    finish_row,
)
from benchmarks.records import Record
from benchmarks.suite import Suite
from normgym_envs.constants import MAX_SLOTS, Action, Ending
from normgym_envs.engine import BatchEngine
from normgym_envs.errors import ConfigError, NormGymError, RecordError
from normgym_envs.protocol.trace import TraceRecorder
from normgym_envs.types import EpisodeSpec, Layout


class SeatedNewcomer:
    """A newcomer as a seat knows its player, which hands over observations."""

    def __init__(self, newcomer: LLMNewcomer, layout: Layout) -> None:
        """Seat a newcomer.

        Args:
            newcomer: of one episode.
            layout: where it plays.
        """
        self.newcomer, self.layout = newcomer, layout
        self.latest: Decision | None = None

    def reset(self, context: AgentContext) -> None:
        """Begin an episode."""
        self.newcomer.reset(context)

    def observe(self, observation: Observation) -> None:
        """See a turn on which nothing is asked."""
        self.latest = None
        self.newcomer.observe(View(observation, self.layout))

    def belief(self) -> Belief | None:
        """Return what the newcomer believes."""
        return self.newcomer.belief()

    def reasoning(self) -> str | None:
        """Return why it acted as it did on the last turn."""
        return None if self.latest is None else self.latest.reasoning


def tell_norm(suite: Suite, spec: EpisodeSpec) -> str:
    """Return the sentence that tells what an episode's community lives by.

    Args:
        suite: knows the norms.
        spec: of the episode.

    Raises:
        ConfigError: the norm changes in mid-episode, so that one sentence would be false.
    """
    if spec.norms_after:
        raise ConfigError(
            f"episode {spec.name!r} changes its norm in mid-episode; a norm that is told must "
            "hold throughout"
        )
    sentences = {norm.id: norm.sentence for norm in suite.norms}
    return " ".join(sentences[norm] for norm in spec.norms)


class Table:
    """Where the episodes of a suite are played: worked out once, a row for each episode."""

    def __init__(self, engine: BatchEngine, observe: Observe, pictures: bool) -> None:
        """Take an engine.

        Args:
            engine: of one row, with all layouts and norms.
            observe: what the newcomer may see of a row.
            pictures: whether it gets pictures too.
        """
        self._engine, self.observe = engine, observe
        self._pictures = pictures

    def make_row(self) -> BatchEngine:
        """Return an engine with one row of its own; it shares the layouts and norms."""
        engine = copy.copy(self._engine)
        engine.states = self._engine.states.copy()
        return engine

    def look(self, engine: BatchEngine) -> View:
        """Return what the newcomer is shown."""
        state = engine.states[0]
        layout = engine.layouts[int(state["layout"])]
        picture = draw_png(state, layout) if self._pictures else None
        return View(self.observe(engine, 0), layout, picture)


async def play_episode(
    table: Table,
    seat: Seat,
    log: DecisionLog,
    ledger: Ledger,
    stopwatch: StopWatch,
    on_step: Callable[[int], None],
    watch: Watch | None = None,
) -> Record:
    """Play an episode to its end and return its record.

    Args:
        table: where it is played.
        seat: taken by a `SeatedNewcomer`.
        log: replayed first, then written.
        ledger: told of new decisions.
        stopwatch: goes while no request is out.
        on_step: told how many steps have just been played or have become needless.
        watch: looks on.

    Returns:
        An error record when the newcomer's code failed or the model could not be reached.

    Raises:
        NormGymError: the set-up is at fault, the money is spent or the log does not fit; no other
            episode would fare better.
    """
    stopwatch.go()
    engine = table.make_row()
    engine.load(0, seat.spec, drivers=(seat.driver, *seat.spec.drivers[1:]))
    player = seat.agent
    assert isinstance(player, SeatedNewcomer)
    player.reset(seat.context)
    if watch is not None:
        watch.begin(engine, 0, seat)
    recorder = TraceRecorder(engine)
    stored = iter(log.stored)
    actions = np.full((1, MAX_SLOTS), Action.WAIT, np.int8)
    try:
        while engine.states["ending"][0] == Ending.RUNNING:
            turn = int(engine.states["turn"][0])
            actions[0, 0] = Action.WAIT
            if find_asked(engine)[0]:
                decision = next(stored, None)
                if decision is None:
                    decision = await _ask(table, engine, seat, player, ledger)
                    if decision is not None:
                        log.append(decision)
                        ledger.add(decision)
                else:
                    _replay(engine, table, player, decision, turn, seat.context.token)
                    stopwatch.stop()
                    await asyncio.sleep(0)  # others have answers waiting
                    stopwatch.go()
                if decision is not None:
                    player.latest = decision
                    actions[0, 0] = decision.action
                seat.turn = turn
            else:
                seat.show(table.observe(engine, 0), turn)
            seat.note_belief()
            if seat.error:
                return drop_row(engine, 0, seat, on_step)
            engine.step(actions)
            recorder.record()
            if watch is not None:
                watch.turn(engine, 0, seat)
            on_step(1)
        left = seat.spec.limit - int(engine.states["turn"][0])
        on_step(left)
        if next(stored, None) is not None:
            raise RecordError(
                f"episode {seat.context.token}: decisions are stored for turns after its end"
            )
        return finish_row(engine, 0, seat, table.observe, recorder)
    finally:
        if watch is not None:
            watch.end(seat)
        stopwatch.stop()


async def _ask(
    table: Table, engine: BatchEngine, seat: Seat, player: SeatedNewcomer, ledger: Ledger
) -> Decision | None:
    """Return a new decision; None, with the seat's error set, when there is none to be had."""
    ledger.check_budget()
    try:
        decision = await player.newcomer.decide(table.look(engine))
    except NormGymError:
        raise
    except Exception as error:
        kind = type(error).__name__
        if kind == "LimitExceededError":
            raise  # a limit of inspect's, which ends the sample
        if kind == "PrerequisiteError":  # of inspect, marked up for a terminal
            text = re.sub(r"\[/?\w+\]", "", " ".join(str(error).split()))
            raise ConfigError(f"the model cannot be reached: {text}") from error
        seat.error = describe_error(error)
        return None
    ledger.asked += 1
    if decision.failure == "transport":
        ledger.transport += 1
        seat.error = describe_error(TransportError(decision.error or "the model did not answer"))
        return None
    return decision


def _replay(
    engine: BatchEngine,
    table: Table,
    player: SeatedNewcomer,
    decision: Decision,
    turn: int,
    token: str,
) -> None:
    """Take a stored decision instead of asking."""
    if decision.turn != turn:
        raise RecordError(
            f"a decision of turn {decision.turn} is stored where turn {turn} is played; the "
            "decisions do not belong to this episode"
        )
    view = table.look(engine)
    asked = hash_prompt(player.newcomer.prompt(view))
    if decision.prompt_hash != asked:
        raise RecordError(
            f"episode {token}, turn {turn}: the stored decision answers another prompt "
            f"({decision.prompt_hash!r}) than would be asked now ({asked!r}); prompts, pictures or "
            "the model's context have changed since; give another output folder"
        )
    player.newcomer.replay(view, decision)
