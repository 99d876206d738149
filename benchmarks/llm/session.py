"""One model in one suite: groups of episodes, their records, and what they cost."""

import asyncio
import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType

from agents import AgentContext
from agents.llm import Backend, LLMNewcomer
from benchmarks.llm.decisions import DecisionLog
from benchmarks.llm.ledger import Ledger, StopWatch, TimedBackend
from benchmarks.llm.pictures import prepare
from benchmarks.llm.player import SeatedNewcomer, Table, play_episode, tell_norm
from benchmarks.llm.setup import LLMSetup
from benchmarks.playing import Seat, Watch
from benchmarks.recordfile import RecordFile
from benchmarks.records import EpisodeRecord, ErrorRecord, Record, make_key
from benchmarks.runner import Run, make_slug, make_stream, observe_newcomer
from benchmarks.suite import Group, Suite
from normgym_envs.constants import Driver
from normgym_envs.engine import BatchEngine
from normgym_envs.errors import ConfigError, NormGymError

Step = Callable[[int], None]


class Session:
    """Plays groups side by side; what is complete is kept and not played again.

    Use as a context manager. While it is open no other run can write the same records.
    """

    def __init__(
        self,
        setup: LLMSetup,
        suite: Suite,
        groups: Sequence[Group],
        *,
        folder: Path | None = None,
        ledger: Ledger | None = None,
        max_episodes: int = 64,
        on_step: Step = lambda steps: None,
        watch: Watch | None = None,
    ) -> None:
        """Prepare; nothing is played yet.

        Args:
            setup: model and condition.
            suite: what is played.
            groups: of the suite, as `LLMSetup.choose` returns them.
            folder: gets `records/` and `decisions/`; complete episodes found there are kept,
                broken ones go on where they stopped. None keeps nothing.
            ledger: adds up what it costs; filled with what earlier attempts have cost.
            max_episodes: most episodes in flight at a time.
            on_step: told of played steps.
            watch: looks on.

        Raises:
            ConfigError: the number of episodes is below 1, or a norm that is to be told changes.
        """
        if max_episodes < 1:
            raise ConfigError(f"max_episodes is {max_episodes}; expected at least 1")
        self.setup, self.suite, self.groups = setup, suite, tuple(groups)
        self.config = setup.make_config(suite)
        self.ledger = ledger or Ledger()
        self.records: dict[str, Record] = {}
        self.fault: NormGymError | None = None  # the first that stopped an episode for good
        self._folder, self._on_step, self._watch = folder, on_step, watch
        self._places = asyncio.Semaphore(max_episodes)
        self._file: RecordFile | None = None
        slug = make_slug(self.config.agent)
        self._decisions = None if folder is None else folder / "decisions" / slug
        self._path = None if folder is None else folder / "records" / f"{slug}.jsonl"
        places = {layout.name: layout for layout in suite.layouts()}
        engine = BatchEngine(tuple(places.values()), suite.norms, 1)
        shows = setup.newcomer.modality != "text"
        self._table = Table(engine, observe_newcomer, shows)
        if shows:
            used = {suite.specs[i].layout for group in self.groups for i in self.members(group)}
            prepare(places[name] for name in sorted(used))
        if setup.newcomer.known_norm:
            for spec in suite.specs:
                tell_norm(suite, spec)

    def __enter__(self) -> "Session":
        """Open the files.

        Raises:
            RecordError: they are damaged, of another run, or being written by another run.
        """
        wanted = {self.suite.specs[i].name for group in self.groups for i in self.members(group)}
        if self._path is not None and self._decisions is not None:
            self._file = RecordFile(self._path, self.config, self.suite)
            try:
                kept = self._file.records.items()
                self.records = {name: record for name, record in kept if name in wanted}
                self.ledger.read(self._decisions)
            except BaseException:
                self._file.__exit__()
                raise
        for spec in self.suite.specs:
            if spec.name in self.records:
                self._on_step(spec.limit)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the files; the records are put in the order of the suite."""
        if self._file is not None:
            try:
                if kind is None:
                    self._file.finish(self.records.values())
            finally:
                self._file.__exit__()

    @staticmethod
    def members(group: Group) -> tuple[int, ...]:
        """Return the indices of a group's episodes, the interaction first."""
        return group.tests if group.interaction is None else (group.interaction, *group.tests)

    def finish(self) -> Run:
        """Return what came of it, in the order of the suite."""
        ordered = [self.records.get(spec.name) for spec in self.suite.specs]
        return Run(self.config, tuple(record for record in ordered if record is not None))

    def group_records(self, group: Group) -> tuple[Record, ...]:
        """Return the records there are of a group."""
        names = [self.suite.specs[index].name for index in self.members(group)]
        return tuple(self.records[name] for name in names if name in self.records)

    async def play_group(self, group: Group, backend: Backend) -> tuple[Record, ...]:
        """Play what is missing of a group: the interaction, then its tests side by side.

        Returns:
            The records of the group, errors among them.

        Raises:
            NormGymError: the set-up is at fault or the money is spent.
        """
        carried: Record | None = None
        if group.interaction is not None:
            carried = await self._play(group, group.interaction, None, backend)
        try:
            async with asyncio.TaskGroup() as tasks:
                for index in group.tests:
                    tasks.create_task(self._play(group, index, carried, backend))
        except BaseExceptionGroup as errors:
            raise _find_first(errors) from None
        return self.group_records(group)

    async def play(self, backend: Backend) -> Run:
        """Play all groups side by side.

        Raises:
            NormGymError: the set-up is at fault or the money is spent.
        """
        try:
            async with asyncio.TaskGroup() as tasks:
                for group in self.groups:
                    tasks.create_task(self.play_group(group, backend))
        except BaseExceptionGroup as errors:
            raise _find_first(errors) from None
        return self.finish()

    async def _play(
        self, group: Group, index: int, carried: Record | None, backend: Backend
    ) -> Record:
        """Return the record of an episode, playing it unless there is a complete one."""
        spec = self.suite.specs[index]
        present = self.records.get(spec.name)
        if isinstance(present, EpisodeRecord):
            return present
        async with self._places:
            stopwatch = StopWatch(self.ledger)
            newcomer = LLMNewcomer(TimedBackend(backend, stopwatch), self.setup.newcomer)
            seat = self._make_seat(group, index, carried, newcomer)
            if isinstance(carried, ErrorRecord):
                seat.error = f"not played, as {carried.episode} failed"
                self._on_step(seat.spec.limit)
                record: Record = seat.to_error()
            else:
                log = DecisionLog(
                    self._decisions, self.config, seat.context.token, seat.context.belief
                )
                try:
                    record = await play_episode(
                        self._table, seat, log, self.ledger, stopwatch, self._on_step, self._watch
                    )
                except NormGymError as error:
                    self.fault = self.fault or error
                    raise
                finally:
                    log.close()
        self.records[spec.name] = record
        if self._file is not None:
            self._file.append(record)
        return record

    def _make_seat(
        self, group: Group, index: int, carried: Record | None, newcomer: LLMNewcomer
    ) -> Seat:
        """Return an episode with its newcomer."""
        spec = dataclasses.replace(
            self.suite.specs[index], predict_newcomer=self.config.options["predict_newcomer"]
        )
        belief = carried.belief if isinstance(carried, EpisodeRecord) else None
        token = self.suite.token(index)
        layout = next(place for place in self.suite.layouts() if place.name == spec.layout)
        is_told = self.setup.newcomer.known_norm
        return Seat(
            spec=spec,
            key=make_key(self.config, self.suite, index, group.family),
            agent=SeatedNewcomer(newcomer, layout),
            driver=Driver.EXTERNAL,
            context=AgentContext(
                token=token,
                phase=spec.phase,
                rng=make_stream(self.config.seed, token),
                limit=spec.limit,
                belief=belief.to_belief() if belief else None,
                known_norm=tell_norm(self.suite, spec) if is_told else None,
            ),
            belief=belief,
        )


def _find_first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """Return the first error that is no group."""
    first: BaseException = errors
    while isinstance(first, BaseExceptionGroup):
        first = first.exceptions[0]
    return first
