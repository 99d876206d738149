"""The decisions of an episode on disk: appended as they are made, replayed on the next attempt.

One file an episode, named by the episode's opaque token. First line: which run and episode it
belongs to. Then one line a decision. A line is written in one piece and ends in a line break, so
that only the last line of an interrupted run can be incomplete; it is cut off.
"""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from agents.base import Belief
from agents.llm import Decision
from benchmarks.files import dump_json, load_json
from benchmarks.records import RunConfig, to_line
from normgym_envs.errors import RecordError

FORMAT: Final = 1
"""Version of the files."""


class DecisionLog:
    """The decisions of one episode, those of earlier attempts first.

    Without a folder it keeps them in memory.

    Attributes:
        stored: decisions of earlier attempts, in order.
    """

    def __init__(
        self, folder: Path | None, config: RunConfig, token: str, belief: Belief | None
    ) -> None:
        """Open or start a file.

        Args:
            folder: gets `<token>.jsonl`; None to keep nothing.
            config: of the run.
            token: of the episode.
            belief: carried into the episode.

        Raises:
            RecordError: the file is damaged before its last line, or belongs to another run or
                to another belief.
        """
        self._path = None if folder is None else folder / f"{token}.jsonl"
        self._header = _make_header(config, token, belief)
        self.stored: tuple[Decision, ...] = ()
        if self._path is None:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        if self._path.exists():
            self.stored = self._read(self._path)
        self._file = self._path.open("ab", buffering=0)
        if self._file.tell() == 0:
            self._file.write(_to_bytes(self._header))

    def append(self, decision: Decision) -> None:
        """Write a decision in one piece; when this returns, a kill of the process keeps it."""
        if self._path is not None:
            self._file.write(_to_bytes(decision.model_dump(mode="json")))

    def close(self) -> None:
        """Close the file."""
        if self._path is not None:
            self._file.close()

    def _read(self, path: Path) -> tuple[Decision, ...]:
        """Return the whole lines of a file, and cut off what is behind them."""
        content = path.read_bytes()
        whole = content[: content.rfind(b"\n") + 1]
        lines = whole.splitlines()
        if lines:
            self._check(load_line(lines[0], f"{path}: line 1"), path)
        decisions = tuple(
            read_decision(line, f"{path}: line {number}")
            for number, line in enumerate(lines[1:], start=2)
        )
        turns = [decision.turn for decision in decisions]
        if turns != sorted(set(turns)):
            raise RecordError(f"{path} is damaged: its turns are not in order")
        if len(whole) < len(content):
            with path.open("r+b") as file:
                file.truncate(len(whole))
        return decisions

    def _check(self, found: Any, path: Path) -> None:
        """Refuse the decisions of something else."""
        for name, value in self._header.items():
            old = found.get(name) if isinstance(found, dict) else None
            if old != value:
                raise RecordError(
                    f"{path} belongs to another run: {name} is {old!r} there, {value!r} now; "
                    "give another output folder or remove the file"
                )


def read_decisions(folder: Path) -> Iterator[tuple[str, tuple[Decision, ...]]]:
    """Yield the token and the whole decisions of every episode in a folder, by token.

    Args:
        folder: of decision files; may be missing.

    Raises:
        RecordError: a file is damaged before its last line.
    """
    for path in sorted(folder.glob("*.jsonl")):
        content = path.read_bytes()
        lines = content[: content.rfind(b"\n") + 1].splitlines()
        yield (
            path.stem,
            tuple(
                read_decision(line, f"{path}: line {number}")
                for number, line in enumerate(lines[1:], start=2)
            ),
        )


def read_decision(line: bytes, where: str) -> Decision:
    """Return the decision of a line.

    Raises:
        RecordError: no strict JSON, or not the fields of a decision.
    """
    value = load_line(line, where)
    try:
        return Decision.model_validate_json(json.dumps(value), strict=True)
    except ValidationError as error:
        detail = error.errors()[0]
        place = ".".join(str(part) for part in detail["loc"])
        raise RecordError(f"{where} is damaged: {place}: {detail['msg']}") from None


def load_line(line: bytes, where: str) -> Any:
    """Return the JSON value of a line.

    Raises:
        RecordError: no strict JSON.
    """
    try:
        return load_json(line.decode("ascii"))
    except ValueError as error:
        raise RecordError(f"{where} is damaged: {error}") from None


def hash_config(config: RunConfig) -> str:
    """Return a hash of a run's configuration, 16 hexadecimal digits."""
    return hashlib.sha256(to_line(config)).hexdigest()[:16]


def _make_header(config: RunConfig, token: str, belief: Belief | None) -> dict[str, Any]:
    """Return what a file must belong to for its decisions to be valid."""
    carried = "" if belief is None else dump_json([belief.text, belief.confidence])
    return {
        "kind": "decisions",
        "format": FORMAT,
        "run": hash_config(config),
        "token": token,
        "belief": hashlib.sha256(carried.encode()).hexdigest()[:16] if carried else "",
    }


def _to_bytes(value: Any) -> bytes:
    return (dump_json(value) + "\n").encode("ascii")
