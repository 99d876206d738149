"""What a run leaves behind: one record an episode, and the configuration they belong to.

How records get into a file and out of it again is in `recordfile.py`. The fields are frozen under
`SCHEMA`; a new field moves the number.
"""

import copy
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from agents.base import Belief
from benchmarks.files import dump_json, load_json
from benchmarks.suite import Suite
from normgym_envs.errors import RecordError
from normgym_envs.protocol.metrics import EpisodeMetrics
from normgym_envs.types import EpisodeSpec

SCHEMA: Final = 1
"""Version of the records' fields."""

AUTO: Final = "."
"""Stands in `EpisodeRecord.actions` for a turn that the environment played."""


class Frozen(BaseModel):
    """Base of the records: exact fields, no NaN, never changed."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class RunConfig(Frozen):
    """What decides every byte of a run's records. Records of different configurations never mix."""

    kind: Literal["config"] = "config"
    record_schema: int = SCHEMA  # version of these records
    suite: str  # name
    suite_version: int
    suite_hash: str  # hexadecimal
    package_version: str  # of normgym_envs
    world: str  # hash of the compiled world's sources
    agent: str  # as the user named it
    agent_digest: str  # hash of the file that defines it, "" when there is none
    options: dict[str, str]  # predict_newcomer: how the others foresee the newcomer
    seed: int  # of the agents' own random streams


class BeliefEntry(Frozen):
    """A belief at the moment it changed."""

    turn: int  # turn index after which it was held; -1 before the first
    text: str
    confidence: float  # [0, 1]
    details: dict[str, Any]  # JSON values of the agent's own

    def to_belief(self) -> Belief:
        """Return it as agents know it."""
        return Belief(self.text, self.confidence, copy.deepcopy(self.details))


class EpisodeKey(Frozen):
    """Which episode a record is about."""

    record_schema: int = SCHEMA
    suite: str  # name
    suite_hash: str  # hexadecimal
    package_version: str  # of normgym_envs
    agent: str  # as the user named it
    options: dict[str, str]  # as RunConfig
    seed: int  # of the run
    episode: str  # name in the suite
    norms: tuple[str, ...]  # norm ids
    family: str  # of the first norm
    layout: str
    phase: str  # constants.PHASES
    token: str  # name under which the agent knew it


class EpisodeRecord(EpisodeKey):
    """An episode that was played to its end. Metrics: `normgym_envs.protocol.metrics`."""

    kind: Literal["episode"] = "episode"
    turns: int  # steps played
    ending: Literal["terminated", "truncated"]
    goals_completed: int
    newcomers: int  # persons who used the newcomer's slot
    task: float | None  # [0, 1], tests only
    joint: float | None  # 0 or 1, tests only
    violations: tuple[int, ...]  # turns
    sanctions: tuple[int, ...]  # turns
    collisions: int  # turns with a charge
    involvements: int  # turns in a collision
    completed: bool | None  # tests only
    path_length: int | None  # steps, the limit when not completed; tests only
    wait_share: float | None  # [0, 1]
    background_violations: int
    community_finished: int  # persons
    community_path_length: float | None  # steps
    community_welfare: float | None  # reward points
    returns: tuple[float, ...]  # (N,) reward points
    actions: str  # (T,) a digit a turn, constants.Action; "." where the environment played
    state_hash: str  # of the final state's bytes, hexadecimal
    belief: BeliefEntry | None  # held at the end of an interaction; carried into a test
    beliefs: tuple[BeliefEntry, ...]  # changes of belief during an interaction


class ErrorRecord(EpisodeKey):
    """An episode that could not be finished; never counted, played again on resume."""

    kind: Literal["error"] = "error"
    turn: int  # turn index at which it ended, -1 before the first observation
    error: str  # type and message


Record = EpisodeRecord | ErrorRecord


def make_key(config: RunConfig, suite: Suite, index: int, family: str) -> dict[str, Any]:
    """Return the fields of `EpisodeKey` for an episode of a run."""
    spec: EpisodeSpec = suite.specs[index]
    return {
        "suite": config.suite,
        "suite_hash": config.suite_hash,
        "package_version": config.package_version,
        "agent": config.agent,
        "options": config.options,
        "seed": config.seed,
        "episode": spec.name,
        "norms": spec.norms,
        "family": family,
        "layout": spec.layout,
        "phase": spec.phase,
        "token": suite.token(index),
    }


def make_record(
    key: dict[str, Any],
    metrics: EpisodeMetrics,
    *,
    turns: int,
    ending: str,
    actions: str,
    state_hash: str,
    belief: BeliefEntry | None,
    beliefs: tuple[BeliefEntry, ...],
) -> EpisodeRecord:
    """Return the record of an episode that was played to its end."""
    return EpisodeRecord.model_validate(
        {
            **key,
            **metrics._asdict(),
            "turns": turns,
            "ending": ending,
            "actions": actions,
            "state_hash": state_hash,
            "belief": belief,
            "beliefs": beliefs,
        }
    )


def to_line(record: RunConfig | Record) -> bytes:
    """Return a record as one line of strict JSON; equal records give equal bytes."""
    return (dump_json(record.model_dump(mode="json")) + "\n").encode("ascii")


def from_line(line: bytes, where: str) -> RunConfig | Record:
    """Return the record of a line.

    Args:
        line: bytes without the line's end.
        where: file and line number for the message.

    Raises:
        RecordError: no strict JSON, or not the fields of a record.
    """
    try:
        value = load_json(line.decode("ascii"))
    except ValueError as error:
        raise RecordError(f"{where} is damaged: {error}") from None
    if isinstance(value, dict) and value.get("record_schema") not in (None, SCHEMA):
        raise RecordError(
            f"{where} has record schema {value['record_schema']!r}; expected {SCHEMA}"
        )
    models: dict[object, type[RunConfig | EpisodeRecord | ErrorRecord]] = {
        "config": RunConfig,
        "episode": EpisodeRecord,
        "error": ErrorRecord,
    }
    model = models.get(value.get("kind")) if isinstance(value, dict) else None
    if model is None:
        raise RecordError(f"{where} is damaged: expected a JSON object of a known kind")
    try:
        return model.model_validate_json(line, strict=True)
    except ValidationError as error:
        detail = error.errors()[0]
        place = ".".join(str(part) for part in detail["loc"])
        raise RecordError(f"{where} is damaged: {place}: {detail['msg']}") from None
