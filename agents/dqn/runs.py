"""The files of a DQN run: written by the learners, read by agents and reports.

    RUN/run.json               what is trained, by what, how far it is; replaced in one piece
    RUN/log.jsonl              one JSON object a line: "train", "probe", "validation", "time"
    RUN/checkpoints/STEPS.pt   weights and what is needed to play them
    RUN/resume.pt              everything an interrupted run needs; removed when it has finished
    RUN/tensorboard/           event files, if tensorboard is installed

A sweep is a folder of such folders. Reading `run.json` and `log.jsonl` needs no torch.
"""

import json
import os
import platform
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final

import normgym_envs
from agents.dqn.checkpoints import (
    CHECKPOINTS,
    ENCODERS,
    REWARDS,
    Checkpoint,
    hash_norms,
    list_checkpoints,
    load_checkpoint,
)
from agents.dqn.files import (
    FORMAT,
    check_fields,
    check_world,
    load_tensors,
    save_tensors,
)
from normgym_envs.errors import RecordError, UnknownNameError
from normgym_envs.files import explain_disk, replace_file
from normgym_envs.norms.library import get_norm, num_slots
from normgym_envs.observations.flat import flat_size
from normgym_envs.versions import hash_world

try:
    import fcntl
except ImportError:  # not a POSIX system: nothing keeps two processes from one run
    fcntl = None  # type: ignore[assignment]

__all__ = [
    "CHECKPOINTS",
    "ENCODERS",
    "LEARNERS",
    "REWARDS",
    "TENSORBOARD",
    "Checkpoint",
    "RunInfo",
    "RunWriter",
    "hash_norms",
    "is_run",
    "list_checkpoints",
    "list_versions",
    "load_checkpoint",
    "load_run",
    "read_log",
]

LEARNERS: Final = ("sb3", "stacked")
STATUSES: Final = ("running", "finished", "failed")
RUN_FILE: Final = "run.json"
LOG_FILE: Final = "log.jsonl"
RESUME_FILE: Final = "resume.pt"
TENSORBOARD: Final = "tensorboard"
_RUN_FIELDS: Final = {
    "format": int,
    "status": str,
    "learner": str,
    "config": dict,
    "steps": int,
    "observation_size": int,
    "norm_library": str,
    "versions": dict,
    "error": str,
}
_PACKAGES: Final = ("numpy", "numba", "torch", "stable-baselines3")


@dataclass(frozen=True)
class RunInfo:
    """What `run.json` says."""

    folder: Path
    status: str  # STATUSES
    learner: str  # LEARNERS
    config: Mapping[str, Any]  # training.config.DQNConfig as JSON
    steps: int  # transitions that are safe on disk
    observation_size: int
    norm_library: str  # hash_norms() when it was trained
    versions: Mapping[str, str]  # with which it began
    error: str  # of a failed run
    world: str = ""  # normgym_envs.versions.hash_world() when it began; empty where not noted

    @property
    def condition(self) -> str:
        """Encoder, reward and replicate: what the runs of one table share."""
        return f"{self.config['encoder']}_{self.config['reward']}_{self.config['seed']}"


def list_versions() -> dict[str, str]:
    """Return the versions that can matter for a run, by package."""
    found = {"python": platform.python_version(), "normgym": normgym_envs.__version__}
    for name in _PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


class RunWriter:
    """Writes the files of one run; every file is whole at every moment but for a last log line.

    Example:
        >>> writer = RunWriter(folder, config.to_json(), "stacked")  # doctest: +SKIP
        >>> writer.log({"kind": "time", "steps": 0, "seconds": 0.0})  # doctest: +SKIP
        >>> writer.save_checkpoint(100_000, network.state_dict())  # doctest: +SKIP
        >>> writer.save_resume(100_000, state)  # doctest: +SKIP
        >>> writer.finish(1_000_000)  # doctest: +SKIP
    """

    def __init__(self, folder: Path, config: Mapping[str, Any], learner: str) -> None:
        """Open a run's folder; what an interrupted run has left there is kept.

        Args:
            folder: made when missing.
            config: training.config.DQNConfig as JSON.
            learner: "sb3" or "stacked".

        Raises:
            UnknownNameError: no such learner.
            RecordError: the folder holds another run.
            ConfigError: it cannot be written to.
        """
        if learner not in LEARNERS:
            raise UnknownNameError("learner", learner, LEARNERS)
        self.folder = folder
        self.config = dict(config)
        self.learner = learner
        self._world, self._versions = hash_world(), list_versions()
        with explain_disk(folder):
            (folder / CHECKPOINTS).mkdir(parents=True, exist_ok=True)
        if (folder / RUN_FILE).exists():
            found = load_run(folder)
            self._check_owner(found)
            if self.resume_path.exists() or found.status == "finished":
                self._world, self._versions = found.world, dict(found.versions)
        for leftover in [*folder.glob(".*.tmp"), *(folder / CHECKPOINTS).glob(".*.tmp")]:
            leftover.unlink(missing_ok=True)

    @property
    def resume_path(self) -> Path:
        """The file an interrupted run goes on from."""
        return self.folder / RESUME_FILE

    def is_finished(self) -> bool:
        """Return whether the folder holds this very run, trained to its end."""
        path = self.folder / RUN_FILE
        return path.exists() and load_run(self.folder).status == "finished"

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other processes from training the same run; the system frees it after a kill.

        Raises:
            RecordError: another process is at it.
        """
        with explain_disk(self.folder):
            lock = (self.folder / ".lock").open("ab")
        with lock, explain_disk(self.folder, only_full=True):
            if fcntl is not None:
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    raise RecordError(
                        f"{self.folder} is being trained by another process"
                    ) from None
            yield

    def note(self, steps: int, status: str = "running", error: str = "") -> None:
        """Write `run.json`.

        Args:
            steps: transitions done.
            status: one of STATUSES.
            error: what a failed run died of.
        """
        config = self.config
        content = {
            "format": FORMAT,
            "status": status,
            "learner": self.learner,
            "config": config,
            "steps": steps,
            "observation_size": flat_size(num_slots(get_norm(config["norm"]))),
            "norm_library": hash_norms(),
            "versions": self._versions,
            "world": self._world,
            "error": error,
        }
        text = json.dumps(content, indent=1, allow_nan=False) + "\n"
        replace_file(self.folder / RUN_FILE, text.encode())

    def log(self, entry: Mapping[str, Any]) -> None:
        """Append one entry to `log.jsonl`; a number that is none (nan) is written as null.

        Args:
            entry: "kind" and plain JSON values.
        """
        clean = {key: None if value != value else value for key, value in entry.items()}
        line = json.dumps(clean, separators=(",", ":"), allow_nan=False) + "\n"
        with explain_disk(self.folder), (self.folder / LOG_FILE).open("ab", buffering=0) as file:
            file.write(line.encode())

    def log_size(self) -> int:
        """Return the bytes of `log.jsonl`; part of what `save_resume` should keep."""
        path = self.folder / LOG_FILE
        return path.stat().st_size if path.exists() else 0

    def cut_log(self, size: int) -> None:
        """Drop what was logged after a resume file was written.

        Args:
            size: as `log_size` gave it then, bytes.

        Raises:
            RecordError: the log is shorter than that.
        """
        found = self.log_size()
        if found < size:
            raise RecordError(
                f"{self.folder / LOG_FILE} has {found} bytes; expected at least {size}"
            )
        if found > size:
            os.truncate(self.folder / LOG_FILE, size)

    def save_checkpoint(self, steps: int, state_dict: Mapping[str, Any]) -> Path:
        """Write a frozen policy.

        Args:
            steps: transitions it was trained on.
            state_dict: of `agents.dqn.networks.QNetwork`.

        Returns:
            The file, `checkpoints/STEPS.pt`.
        """
        slots = num_slots(get_norm(self.config["norm"]))
        path = self.folder / CHECKPOINTS / f"{steps}.pt"
        save_tensors(
            path,
            {
                "format": FORMAT,
                "encoder": self.config["encoder"],
                "observation_size": flat_size(slots),
                "num_slots": slots,
                "norm": self.config["norm"],
                "norm_library": hash_norms(),
                "world": self._world,
                "steps": steps,
                "state_dict": {k: v.detach().cpu().clone() for k, v in state_dict.items()},
            },
        )
        return path

    def save_resume(self, steps: int, state: Mapping[str, Any]) -> None:
        """Replace `resume.pt` and then write `run.json`.

        Args:
            steps: transitions done.
            state: everything needed; tensors, numbers, strings and containers of them.
        """
        save_tensors(self.resume_path, state)
        self.note(steps)

    def load_resume(self) -> dict[str, Any] | None:
        """Return what `save_resume` was given, None when there is nothing to go on from.

        Raises:
            RecordError: the file is damaged, or the run began in another world, in which its
                actions lead elsewhere.
        """
        if not self.resume_path.exists():
            return None
        if self._world not in ("", hash_world()):
            raise RecordError(
                f"{self.folder} was begun in world {self._world}; this is {hash_world()}, in which "
                f"its actions would lead elsewhere: go on with the sources of then, or remove "
                f"{self.resume_path.name} to begin anew"
            )
        return load_tensors(self.resume_path)

    def finish(self, steps: int) -> None:
        """Mark the run as finished and remove `resume.pt`."""
        self.note(steps, "finished")
        self.resume_path.unlink(missing_ok=True)

    def _check_owner(self, found: RunInfo) -> None:
        """Refuse to go on with another run."""
        old, new = {**found.config, "learner": found.learner}, {**self.config}
        new["learner"] = self.learner
        for name in dict.fromkeys([*old, *new]):
            if old.get(name) != new.get(name):
                raise RecordError(
                    f"{self.folder} holds another run: {name} is {old.get(name)!r} there, "
                    f"{new.get(name)!r} now; give another output folder or remove it"
                )
        if found.norm_library != hash_norms():
            raise RecordError(
                f"{self.folder} was trained on norm library {found.norm_library}; this is "
                f"{hash_norms()}; give another output folder or remove it"
            )


def is_run(folder: Path) -> bool:
    """Return whether a folder is that of a run, sound or not."""
    return (folder / RUN_FILE).is_file() or (folder / CHECKPOINTS).is_dir()


def load_run(folder: Path) -> RunInfo:
    """Return what the `run.json` of a folder says.

    Raises:
        RecordError: it is missing or damaged, or has another format.
    """
    path = folder / RUN_FILE
    try:
        data = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise RecordError(f"{folder} has no {RUN_FILE}") from None
    except (OSError, ValueError) as error:
        raise RecordError(f"{path} is damaged: {error}") from None
    check_fields(path, data, _RUN_FIELDS)
    if data["status"] not in STATUSES or data["learner"] not in LEARNERS:
        raise RecordError(f"{path} is damaged: status {data['status']!r}, {data['learner']!r}")
    for name in ("norm", "encoder", "reward", "steps", "seed"):
        if name not in data["config"]:
            raise RecordError(f"{path} is damaged: config without {name!r}")
    world = check_world(path, data)
    fields = {name: data[name] for name in _RUN_FIELDS if name != "format"}
    return RunInfo(folder, **fields, world=world)


def read_log(folder: Path) -> list[dict[str, Any]]:
    """Return the entries of a run's log; a last line that was cut off is left out.

    Raises:
        RecordError: there is none, or another line is damaged.
    """
    path = folder / LOG_FILE
    try:
        *lines, _ = path.read_bytes().split(b"\n")
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}") from None
    entries = []
    for number, line in enumerate(lines, start=1):
        try:
            entry = json.loads(line)
        except ValueError as error:
            raise RecordError(f"{path}: line {number} is damaged: {error}") from None
        if not isinstance(entry, dict) or not isinstance(entry.get("kind"), str):
            raise RecordError(f"{path}: line {number} is damaged: expected an object with a kind")
        entries.append(entry)
    return entries
