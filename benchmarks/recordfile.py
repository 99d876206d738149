"""The file of a run's records: appended while it runs, ordered at its end, resumed after a kill.

First line: the run's configuration. Then one line an episode, in the order they ended; `finish`
rewrites the file in the order of the suite. A line is written in one piece and ends in a line
break, so that only the last line of an interrupted run can be incomplete.
"""

import os
import warnings
from collections.abc import Iterable
from pathlib import Path

from benchmarks.records import EpisodeRecord, Record, RunConfig, from_line, to_line
from benchmarks.suite import Suite
from normgym_envs.errors import RecordError
from normgym_envs.files import replace_file

try:
    import fcntl
except ImportError:  # not a POSIX system: nothing keeps two runs from one file
    fcntl = None  # type: ignore[assignment]


class RecordFile:
    """Records of one run on disk.

    Use as a context manager; while it is open no other run can open it.
    """

    def __init__(self, path: Path, config: RunConfig, suite: Suite) -> None:
        """Open or start a file; complete records of this very run are kept, errors dropped.

        Args:
            path: file; its folder is made when missing.
            config: the run's configuration.
            suite: the suite it plays.

        Raises:
            RecordError: the file is damaged before its last line, belongs to another
                configuration, or is being written by another run.
        """
        self._path = path
        self._config = config
        self._suite = suite
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = self._take_lock()
        try:
            self._remove_leftovers()
            self.records = self._read()
            self._rewrite(self.records.values())
            self._file = path.open("ab", buffering=0)
        except BaseException:
            self._release_lock()
            raise

    def __enter__(self) -> "RecordFile":
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file as it is."""
        self._file.close()
        self._release_lock()

    def append(self, record: Record) -> None:
        """Add a record in one write."""
        self._file.write(to_line(record))
        if isinstance(record, EpisodeRecord):
            self.records[record.episode] = record

    def finish(self, records: Iterable[Record]) -> None:
        """Put the file in the order of the suite.

        Args:
            records: those of this run, errors among them; kept records of earlier runs stay.
        """
        latest: dict[str, Record] = {**self.records}
        latest.update({record.episode: record for record in records})
        self._rewrite(latest.values())

    def _rewrite(self, records: Iterable[Record]) -> None:
        """Replace the file by the configuration and some records in the suite's order."""
        order = {spec.name: index for index, spec in enumerate(self._suite.specs)}
        ordered = sorted(records, key=lambda record: order[record.episode])
        content = b"".join([to_line(self._config), *map(to_line, ordered)])
        if not self._path.exists() or self._path.read_bytes() != content:
            replace_file(self._path, content)

    def _read(self) -> dict[str, EpisodeRecord]:
        """Return the complete records of the file by episode."""
        if not self._path.exists():
            return {}
        *lines, rest = self._path.read_bytes().split(b"\n")
        if rest:
            warnings.warn(
                f"{self._path}: the last line is incomplete, probably cut off by an interruption; "
                "it is dropped and its episode played again",
                stacklevel=4,
            )
        if not lines:
            if not to_line(self._config).startswith(rest):
                raise RecordError(f"{self._path}: line 1 is no configuration of this run")
            return {}
        self._check_config(lines[0])
        records: dict[str, EpisodeRecord] = {}
        tokens = {spec.name: self._suite.token(i) for i, spec in enumerate(self._suite.specs)}
        for number, line in enumerate(lines[1:], start=2):
            where = f"{self._path}: line {number}"
            record = from_line(line, where)
            if isinstance(record, RunConfig):
                raise RecordError(f"{where} is a second configuration")
            self._check_owner(record, where)
            if tokens.get(record.episode) != record.token:
                raise RecordError(
                    f"{where}: episode {record.episode!r} with token {record.token!r} "
                    f"is not in suite {self._suite.name!r}"
                )
            if record.episode in records:
                raise RecordError(f"{where}: a second record of episode {record.episode!r}")
            if isinstance(record, EpisodeRecord):
                records[record.episode] = record
        return records

    def _check_config(self, line: bytes) -> None:
        """Refuse the records of another run."""
        where = f"{self._path}: line 1"
        found = from_line(line, where)
        if not isinstance(found, RunConfig):
            raise RecordError(f"{where} is no configuration")
        check_config(self._path, found, self._config)

    def _check_owner(self, record: Record, where: str) -> None:
        """Refuse a record that another run has written."""
        for name in ("suite", "suite_hash", "package_version", "agent", "options", "seed"):
            old, new = getattr(record, name), getattr(self._config, name)
            if old != new:
                raise RecordError(f"{where}: {name} is {old!r}; expected {new!r}")

    def _remove_leftovers(self) -> None:
        """Remove half-written copies that an interruption has left beside the file."""
        for leftover in self._path.parent.glob(f".{self._path.name}.*"):
            if leftover.suffix == ".tmp":
                leftover.unlink()

    def _take_lock(self) -> int:
        """Keep other runs away until `_release_lock`; the system frees it after a kill."""
        if fcntl is None:
            return -1
        lock = os.open(
            self._path.with_name(f".{self._path.name}.lock"), os.O_CREAT | os.O_RDWR, 0o666
        )
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(lock)
            raise RecordError(f"{self._path} is being written by another run") from None
        return lock

    def _release_lock(self) -> None:
        """Let other runs in."""
        if self._lock >= 0:
            os.close(self._lock)


def check_config(path: Path, found: RunConfig, config: RunConfig) -> None:
    """Refuse records of another configuration.

    Args:
        path: file, for the message.
        found: what its first line says.
        config: of the present run.

    Raises:
        RecordError: they differ; the message names the first field that does.
    """
    for name in RunConfig.model_fields:
        old, new = getattr(found, name), getattr(config, name)
        if old != new:
            raise RecordError(
                f"{path} belongs to another run: {name} is {old!r} there, {new!r} now; "
                "give another output folder or remove the file"
            )


def set_aside(path: Path, config: RunConfig) -> Path | None:
    """Rename a file of records that belongs to another configuration; nothing is deleted.

    Args:
        path: file of a run; need not exist.
        config: of the present run.

    Returns:
        Where the file is now, with a number behind its name; None when it was left alone.
    """
    try:
        with path.open("rb") as file:
            found = from_line(file.readline().rstrip(b"\n"), f"{path}: line 1")
        if not isinstance(found, RunConfig):
            return None
        check_config(path, found, config)
        return None
    except FileNotFoundError:
        return None
    except RecordError:
        number = 1
        while (place := path.with_name(f"{path.name}.{number}")).exists():
            number += 1
        path.rename(place)
        return place
