"""Runs of a sweep as tasks of a Ray cluster; the only importer of ray here."""

import json
import logging
import socket
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from agents.dqn.runs import RUN_FILE
from normgym_envs.errors import ConfigError, MissingExtraError

_TIMEOUT: Final = 5.0
"""Seconds to wait for an address to answer."""
Result = tuple[str, dict[str, bytes]]
"""What went wrong, empty for nothing, and the files of a folder that the driver cannot see."""


class RayTasks:
    """The tasks of one sweep; a context manager that leaves the cluster as it was."""

    def __init__(self, address: str, device: str) -> None:
        """Keep where the cluster is; `__enter__` connects.

        Args:
            address: as `ray.init` takes it.
            device: as torch names it, or "auto".

        Raises:
            MissingExtraError: ray is missing.
        """
        try:
            import ray
        except ImportError:
            raise MissingExtraError(
                "--ray needs the extra: pip install 'normgym[ray,rl]'"
            ) from None
        self._ray: Any = ray
        self._address = address
        self._device = device
        self._tasks: dict[Any, Path] = {}

    def __enter__(self) -> "RayTasks":
        """Connect.

        Raises:
            ConfigError: there is no cluster at the address.
        """
        check_address(self._address)
        try:
            self._ray.init(address=self._address, log_to_driver=False, logging_level=logging.ERROR)
        except Exception as error:  # ray raises many kinds
            first = (str(error).splitlines() or [""])[0]
            raise ConfigError(
                f"no Ray cluster answers at {self._address!r}: {type(error).__name__}: {first}; "
                "start one with `ray start --head`, or leave out --ray"
            ) from None
        return self

    def __exit__(self, *_: object) -> None:
        """Cancel what still runs and disconnect."""
        for task in self._tasks:
            with suppress(Exception):
                self._ray.cancel(task, force=True)
        self._ray.shutdown()

    def submit(self, folder: Path, marker: Path) -> Any:
        """Start the task of a run.

        Args:
            folder: of the run; its `run.json` says what to train.
            marker: a file that tells whether a node sees the sweep's folder.

        Returns:
            What `collect` names it by.
        """
        needs_gpu = self._device.startswith("cuda")
        remote = self._ray.remote(num_cpus=1, num_gpus=1 if needs_gpu else 0, max_retries=0)(
            train_remotely
        )
        run_file = (folder / RUN_FILE).read_bytes()
        task = remote.remote(run_file, str(folder.resolve()), str(marker.resolve()), self._device)
        self._tasks[task] = folder
        return task

    def collect(self, seconds: float) -> Iterator[tuple[Any, str]]:
        """Wait for tasks and yield those that have ended, with what went wrong.

        Args:
            seconds: longest time to wait.
        """
        done, _ = self._ray.wait(list(self._tasks), num_returns=1, timeout=seconds)
        for task in done:
            folder = self._tasks.pop(task)
            try:
                error, files = self._ray.get(task)
                _write_files(folder, files)
            except Exception as failure:  # of the node, the task or the disk
                first = (str(failure).splitlines() or [""])[0]
                error = f"{type(failure).__name__}: {first}"
            yield task, error


def check_address(address: str) -> None:
    """Refuse an address at which nothing listens, before ray waits for it.

    Args:
        address: "host:port", "ray://host:port", or a word such as "auto", which is left to ray.

    Raises:
        ConfigError: no such host, or nothing listens there.
    """
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        return
    try:
        socket.create_connection((host, int(port)), timeout=_TIMEOUT).close()
    except (OSError, OverflowError) as error:
        raise ConfigError(
            f"no Ray cluster answers at {address!r}: {error}; start one with "
            "`ray start --head`, or leave out --ray"
        ) from None


def train_remotely(run_file: bytes, folder: str, marker: str, device: str) -> Result:
    """Train one run on a node; runs in a process of the cluster.

    Args:
        run_file: content of the run's `run.json`.
        folder: of the run, as the driver sees it.
        marker: a file beside it; when it is not there, the node does not see the driver's disk.
        device: as torch names it, or "auto".
    """
    from training.worker import train_folder

    if Path(marker).exists():
        return train_folder(Path(folder), device), {}
    with tempfile.TemporaryDirectory() as place:
        own = Path(place)
        data = json.loads(run_file)
        (own / RUN_FILE).write_text(json.dumps({**data, "status": "running", "steps": 0}))
        error = train_folder(own, device)
        files = {
            str(path.relative_to(own)): path.read_bytes()
            for path in sorted(own.rglob("*"))
            if path.is_file() and not path.name.startswith(".")
        }
    return error, files


def _write_files(folder: Path, files: dict[str, bytes]) -> None:
    """Write what a node has sent back; `run.json` last."""
    for name in sorted(files, key=lambda name: name == RUN_FILE):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(files[name])
