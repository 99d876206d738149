"""Runs an agent through a suite: interactions first, then the tests with the belief they left.

The episodes themselves are played in `playing.py`, records kept by `recordfile.py`.
"""

import dataclasses
import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np

import normgym_envs
from agents import AgentContext, AgentSource, Observation, find_agent
from agents.planners import is_planner
from benchmarks.playing import Observe, Seat, Watch, play
from benchmarks.progress import draw_progress
from benchmarks.recordfile import RecordFile
from benchmarks.records import EpisodeRecord, ErrorRecord, Record, RunConfig, make_key
from benchmarks.suite import Group, Suite
from normgym_envs.constants import FAMILIES, NUM_ACTIONS, TEST_PHASES, Driver
from normgym_envs.engine import BatchEngine
from normgym_envs.errors import ConfigError, UnknownNameError, check_seed
from normgym_envs.versions import hash_world

CONDITIONS: Final = (*TEST_PHASES, "all")
BY_NORM: Final = "one a norm"
"""Option "policies" of an agent whose policy is chosen by the hidden norm."""


@dataclass(frozen=True)
class Run:
    """What came of one agent in one suite."""

    config: RunConfig
    records: tuple[Record, ...]  # in the order of the suite, errors among them

    @property
    def errors(self) -> tuple[ErrorRecord, ...]:
        """The episodes that could not be finished."""
        return tuple(record for record in self.records if isinstance(record, ErrorRecord))

    def episodes(self, phase: str) -> tuple[EpisodeRecord, ...]:
        """Return the complete records of a phase."""
        return tuple(
            record
            for record in self.records
            if isinstance(record, EpisodeRecord) and record.phase == phase
        )


def run(
    agent: str | AgentSource,
    suite: Suite,
    *,
    seed: int = 0,
    norms: Sequence[str] = (),
    families: Sequence[str] = (),
    condition: str = "all",
    folder: Path | None = None,
    max_rows: int = 256,
    show_progress: bool = False,
    observe: Observe | None = None,
    watch: Watch | None = None,
) -> Run:
    """Play a suite with an agent, or what is left of it.

    Every episode has an instance of the agent and a random stream of its own, so that a record
    depends neither on what else is played nor on interruptions.

    Args:
        agent: name as `agents.find_agent` takes it, or where instances come from.
        suite: what to play.
        seed: of the agents' random streams, [0, 2**63].
        norms: only episodes about these norms; empty for all.
        families: only episodes about norms of these families; empty for all.
        condition: which tests: "seen", "unseen" or "all".
        folder: where `<agent>.jsonl` is kept; complete records found there are not played again.
        max_rows: most episodes played side by side; changes no record.
        show_progress: draw a bar on standard error if that is a terminal.
        observe: what an agent may see of a row; None for what its class asks for.
        watch: looks on while episodes are played.

    Raises:
        UnknownNameError: no such agent, norm, family or condition.
        ConfigError: the agent cannot be made, or the selection holds no test.
        RecordError: the record file is damaged or belongs to another run.
        ActionError: the agent returned something that is no action.
    """
    source = find_agent(agent) if isinstance(agent, str) else agent
    groups = select_playable(source, select_groups(suite, norms, families, condition))
    config = make_config(source, suite, check_seed(seed))
    path = None if folder is None else folder / f"{make_slug(source.name)}.jsonl"
    job = _Job(source, suite, config, observe or find_observer(config), max_rows, watch)
    steps = sum(suite.specs[index].limit for group in groups for index in _list_episodes(group))
    with (
        nullcontext() if path is None else RecordFile(path, config, suite) as file,
        draw_progress(source.name, steps, show_progress) as on_step,
    ):
        wanted = {suite.specs[i].name for group in groups for i in _list_episodes(group)}
        records: dict[str, Record] = {
            name: record
            for name, record in (file.records if file else {}).items()
            if name in wanted
        }
        on_step(
            sum(
                suite.specs[i].limit
                for i in range(len(suite.specs))
                if suite.specs[i].name in records
            )
        )
        for record in job.play_groups(groups, records, on_step):
            records[record.episode] = record
            if file is not None:
                file.append(record)
        ordered = tuple(records[spec.name] for spec in suite.specs if spec.name in records)
        if file is not None:
            file.finish(ordered)
    return Run(config, ordered)


def select_groups(
    suite: Suite, norms: Sequence[str], families: Sequence[str], condition: str
) -> tuple[Group, ...]:
    """Return what is to be played.

    Args:
        suite: what there is.
        norms: norm ids, empty for all.
        families: families, empty for all.
        condition: "seen", "unseen" or "all".

    Raises:
        UnknownNameError: a name that the suite does not have.
        ConfigError: no test is left.
    """
    known = dict.fromkeys(norm for group in suite.groups for norm in group.norms)
    for norm in norms:
        if norm not in known:
            raise UnknownNameError("norm", norm, known)
    for family in families:
        if family not in FAMILIES:
            raise UnknownNameError("family", family, FAMILIES)
    if condition not in CONDITIONS:
        raise UnknownNameError("condition", condition, CONDITIONS)
    selected = []
    for group in suite.groups:
        tests = tuple(i for i in group.tests if condition in ("all", suite.specs[i].phase))
        chosen = not norms or any(norm in norms for norm in group.norms)
        if tests and chosen and (not families or group.family in families):
            selected.append(dataclasses.replace(group, tests=tests))
    if not selected:
        raise ConfigError(
            f"suite {suite.name!r} has no test episode for condition {condition!r}"
            + (f", norms {', '.join(norms)}" if norms else "")
            + (f", families {', '.join(families)}" if families else "")
        )
    return tuple(selected)


def select_playable(source: AgentSource, groups: Sequence[Group]) -> tuple[Group, ...]:
    """Return what an agent has a policy for; all of it unless it has one a norm.

    Raises:
        ConfigError: nothing is left.
    """
    policies = source.by_norm
    if policies is None:
        return tuple(groups)
    playable = tuple(group for group in groups if group.norms[0] in policies)
    if not playable:
        wanted = ", ".join(dict.fromkeys(group.norms[0] for group in groups))
        raise ConfigError(
            f"agent {source.name!r} has policies for {', '.join(policies)} only, and for no norm "
            f"that is asked for ({wanted})"
        )
    return playable


def list_notes(source: AgentSource, groups: Sequence[Group]) -> tuple[str, ...]:
    """Return what a user should know before an agent is played: one sentence each."""
    wanted = dict.fromkeys(group.norms[0] for group in groups)
    missing = [norm for norm in wanted if source.by_norm is not None and norm not in source.by_norm]
    if not missing:
        return source.notes
    shown = ", ".join(missing[:5]) + (", ..." if len(missing) > 5 else "")
    return (
        *source.notes,
        f"agent {source.name!r} has no policy for {len(missing)} of {len(wanted)} norms, which are "
        f"not played: {shown}",
    )


def find_observer(config: RunConfig) -> Observe:
    """Return what the agent of a run asks to see.

    Raises:
        UnknownNameError: it asks for something that does not exist.
    """
    wanted = config.options.get("observation", "symbolic")
    if wanted not in OBSERVERS:
        raise UnknownNameError(f"observation of agent {config.agent!r}", wanted, OBSERVERS)
    return OBSERVERS[wanted]


def _name_observation(instance: object) -> str:
    """Return the name of what an agent wants to see."""
    return str(getattr(instance, "observation", "symbolic"))


def make_config(source: AgentSource, suite: Suite, seed: int) -> RunConfig:
    """Return what decides the records of a run."""
    instance = source.make()
    if getattr(instance, "privileged", False) and not is_planner(instance):
        raise ConfigError(
            f"agent {source.name!r} asks for privileges; only the built-in planners have them"
        )
    foreseen = instance.predict_newcomer if is_planner(instance) else "norm_aware"
    options = {"predict_newcomer": foreseen}
    if _name_observation(instance) != "symbolic":
        options["observation"] = _name_observation(instance)
    if source.by_norm is not None:
        options["policies"] = BY_NORM
    return RunConfig(
        suite=suite.name,
        suite_version=suite.version,
        suite_hash=suite.sha256,
        package_version=normgym_envs.__version__,
        world=hash_world(),
        agent=source.name,
        agent_digest=source.digest,
        options=options,
        seed=seed,
    )


def make_slug(name: str) -> str:
    """Return an agent's name as a file name; different names never give the same one."""
    if re.fullmatch(r"[a-z0-9_]+", name):
        return name
    plain = re.sub(r"[^A-Za-z0-9_]+", "-", name).strip("-")
    return f"{plain}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def observe_newcomer(engine: BatchEngine, row: int) -> Observation:
    """Return the symbolic observation of a row's newcomer."""
    from normgym_envs.observations.symbolic import observe_symbolic

    return observe_symbolic(engine, row, 0)


def observe_newcomer_flat(engine: BatchEngine, row: int) -> Observation:
    """Return the flat vector of a row's newcomer, (size,) float32, and its mask, (5,) int8."""
    from normgym_envs.observations.flat import flat_size, write_flat

    num_slots = int(engine.states["num_slots"][row])
    out = np.empty((1, flat_size(num_slots)), np.float32)
    write_flat(engine.states[row : row + 1], engine.tables[0], 0, num_slots, out)
    return {"flat": out[0], "action_mask": out[0, -NUM_ACTIONS:].astype(np.int8)}


OBSERVERS: Final[dict[str, Observe]] = {
    "symbolic": observe_newcomer,
    "flat": observe_newcomer_flat,
}
"""What an agent may ask to see, by the name in its class."""


def _list_episodes(group: Group) -> tuple[int, ...]:
    """Return the indices of all episodes of a group."""
    return group.tests if group.interaction is None else (group.interaction, *group.tests)


@dataclass(frozen=True)
class _Job:
    """One agent in one suite."""

    source: AgentSource
    suite: Suite
    config: RunConfig
    observe: Observe
    max_rows: int
    watch: Watch | None = None

    def play_groups(
        self,
        groups: Iterable[Group],
        present: dict[str, Record],
        on_step: Callable[[int], None],
    ) -> Iterator[Record]:
        """Yield the records that are missing, interactions before tests.

        Args:
            groups: what is wanted.
            present: complete records by episode; new ones have to be added by the caller.
            on_step: told of played steps.
        """
        specs = self.suite.specs
        first = [
            self._make_seat(group, group.interaction, None)
            for group in groups
            if group.interaction is not None and specs[group.interaction].name not in present
        ]
        yield from self._play(first, on_step)
        second = []
        for group in groups:
            for index in group.tests:
                if specs[index].name in present:
                    continue
                known = (
                    None if group.interaction is None else present[specs[group.interaction].name]
                )
                seat = self._make_seat(group, index, known)
                if isinstance(known, ErrorRecord):
                    seat.error = f"not played, as {known.episode} failed"
                    on_step(seat.spec.limit)
                    yield seat.to_error()
                else:
                    second.append(seat)
        yield from self._play(second, on_step)

    def _play(self, seats: list[Seat], on_step: Callable[[int], None]) -> Iterator[Record]:
        """Play seats in batches."""
        for start in range(0, len(seats), self.max_rows):
            batch = seats[start : start + self.max_rows]
            engine = BatchEngine(self.suite.layouts(), self.suite.norms, len(batch))
            yield from play(engine, batch, self.observe, on_step, self.watch)

    def _make_seat(self, group: Group, index: int, interaction: Record | None) -> Seat:
        """Return one episode with a new instance of the agent."""
        spec = dataclasses.replace(
            self.suite.specs[index], predict_newcomer=self.config.options["predict_newcomer"]
        )
        instance = self.source.make_for(group.norms[0])
        carried = interaction.belief if isinstance(interaction, EpisodeRecord) else None
        token = self.suite.token(index)
        return Seat(
            spec=spec,
            key=make_key(self.config, self.suite, index, group.family),
            agent=None if is_planner(instance) else instance,
            driver=instance.driver if is_planner(instance) else Driver.EXTERNAL,
            context=AgentContext(
                token=token,
                phase=spec.phase,
                rng=make_stream(self.config.seed, token),
                limit=spec.limit,
                belief=carried.to_belief() if carried else None,
            ),
            belief=carried,
        )


def make_stream(seed: int, token: str) -> np.random.Generator:
    """Return the random stream of an agent in an episode; unrelated to the world's own.

    Args:
        seed: of the run.
        token: of the episode.
    """
    digest = hashlib.sha256(f"agent {seed} {token}".encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "big"))
