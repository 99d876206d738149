"""Many DQN runs in one folder: processes of this machine, or tasks of a Ray cluster.

A sweep given again goes on where it was; a run that fails is noted and the others go on.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from agents.dqn.runs import RunWriter, load_run
from normgym_envs.errors import ConfigError, NormGymError
from training.config import DQNConfig, run_name

LEARNER: Final = "sb3"
WORKER_LOG: Final = "worker.log"
_POLL: Final = 0.5
"""Seconds between looks at what runs."""


@dataclass
class SweepRun:
    """One run of a sweep and how far it is."""

    config: DQNConfig
    folder: Path
    status: str = "waiting"  # waiting, running, finished or failed
    steps: int = 0  # transitions that are safe on disk
    error: str = ""

    def look(self) -> None:
        """Read how far a running one is."""
        try:
            self.steps = load_run(self.folder).steps
        except NormGymError:
            return

    def finish(self, error: str) -> None:
        """Note how a run has ended."""
        self.look()
        self.error = error
        self.status = "failed" if error else "finished"


@dataclass
class Sweep:
    """The runs of a folder."""

    folder: Path
    runs: list[SweepRun] = field(default_factory=list)

    @property
    def failed(self) -> list[SweepRun]:
        """Runs that could not be finished."""
        return [run for run in self.runs if run.status == "failed"]


Report = Callable[[Sweep], None]
"""Shown the sweep whenever something may have changed."""


def plan_sweep(configs: Sequence[DQNConfig], folder: Path, *, learner: str = LEARNER) -> Sweep:
    """Prepare the folders of a sweep; finished runs are known.

    Foreign runs, and those that another process is training, count as failed.

    Args:
        configs: what to train; no two may have the same name.
        folder: made when missing.
        learner: "sb3" or "stacked".

    Raises:
        ConfigError: nothing to train, the same run twice, or the folder cannot be made.
    """
    names = [run_name(config) for config in configs]
    if not names:
        raise ConfigError("nothing to train; expected at least one norm")
    double = next((name for name in names if names.count(name) > 1), None)
    if double is not None:
        raise ConfigError(f"run {double!r} is asked for twice")
    sweep = Sweep(folder)
    for name, config in zip(names, configs, strict=True):
        run = SweepRun(config, folder / name)
        sweep.runs.append(run)
        try:
            with RunWriter(run.folder, config.to_json(), learner).locked():
                writer = RunWriter(run.folder, config.to_json(), learner)
                if writer.is_finished():
                    run.finish("")
                else:
                    run.look()
                    writer.note(run.steps)
        except ConfigError:
            raise
        except NormGymError as error:
            run.finish(str(error))
    return sweep


def train_locally(
    sweep: Sweep, *, workers: int, device: str = "cpu", report: Report | None = None
) -> None:
    """Train what is left of a sweep in processes of this machine, a torch thread each.

    Args:
        sweep: as `plan_sweep` gave it.
        workers: processes at a time.
        device: as torch names it, or "auto".
        report: shown the sweep, about twice a second.

    Raises:
        ConfigError: fewer than one worker.
    """
    if workers < 1:
        raise ConfigError(f"workers is {workers}; expected at least 1")
    waiting = [run for run in sweep.runs if run.status == "waiting"]
    running: dict[int, tuple[SweepRun, subprocess.Popen[bytes]]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                run = waiting.pop(0)
                try:
                    process = start_process(
                        ["training.worker", str(run.folder), device], run.folder / WORKER_LOG
                    )
                except OSError as error:
                    run.finish(f"no process could be started: {error}")
                    continue
                running[process.pid] = run, process
                run.status = "running"
            for pid, (run, process) in list(running.items()):
                code = process.poll()
                if code is None:
                    run.look()
                    continue
                del running[pid]
                run.finish(explain_end(run.folder / WORKER_LOG, code))
            if report is not None:
                report(sweep)
            if running:
                time.sleep(_POLL)
    finally:
        for _, process in running.values():
            process.terminate()
        for _, process in running.values():
            process.wait()


def train_on_ray(
    sweep: Sweep, address: str, *, device: str = "cpu", report: Report | None = None
) -> None:
    """Train what is left of a sweep as tasks of a Ray cluster, a processor each.

    Where a node does not see the sweep's folder, its runs are trained in a temporary one and come
    back whole; such a run begins anew when it is interrupted.

    Args:
        sweep: as `plan_sweep` gave it.
        address: of the cluster, as `ray.init` takes it, e.g. "10.0.0.1:6379" or "auto".
        device: as torch names it; with a GPU each task asks for one.
        report: shown the sweep, about twice a second.

    Raises:
        MissingExtraError: ray is missing.
        ConfigError: there is no cluster at the address.
    """
    from training.ray_tasks import RayTasks

    marker = sweep.folder / f".sweep-{os.getpid()}"
    marker.touch()
    try:
        with RayTasks(address, device) as tasks:
            waiting = {}
            for run in sweep.runs:
                if run.status == "waiting":
                    waiting[tasks.submit(run.folder, marker)] = run
                    run.status = "running"
            while waiting:
                for task, error in tasks.collect(_POLL):
                    waiting.pop(task).finish(error)
                for run in waiting.values():
                    run.look()
                if report is not None:
                    report(sweep)
    finally:
        marker.unlink(missing_ok=True)
    if report is not None:
        report(sweep)


def start_process(arguments: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
    """Start a module of this package as a process with one torch thread.

    Args:
        arguments: name of the module, and what it is given.
        log: what it prints.

    Raises:
        OSError: it cannot be started.
    """
    root = str(Path(__file__).resolve().parents[1])
    paths = [root, *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "OMP_NUM_THREADS": "1",
        "OMP_WAIT_POLICY": "PASSIVE",
    }
    with log.open("wb") as output:
        return subprocess.Popen(
            [sys.executable, "-m", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
        )


def explain_end(log: Path, code: int) -> str:
    """Return why a process ended, empty if it had finished.

    Args:
        log: as `start_process`.
        code: its status, negative for a signal.
    """
    if code == 0:
        return ""
    if code < 0:
        name = signal.Signals(-code).name if -code in list(signal.Signals) else str(-code)
        return f"its process was killed by {name}; the same command goes on with it"
    last = list(_read_lines(log))[-1:]
    return last[0] if last else f"its process ended with status {code}"


def find_line(log: Path, start: str) -> str:
    """Return what stands behind `start` in the last line of a log that begins so, or nothing."""
    found = [line for line in _read_lines(log) if line.startswith(start)]
    return found[-1].removeprefix(start) if found else ""


def _read_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a log that are not empty."""
    try:
        text = path.read_text(errors="replace")
    except OSError:
        return
    yield from (line for line in text.splitlines() if line.strip())
