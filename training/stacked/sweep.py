"""A sweep by stacked learners: each process takes its share of the norms, side by side.

A sweep given again goes on where it was, whatever the number of processes; a run that fails is
noted and the others go on.
"""

import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from agents.dqn.runs import load_run
from normgym_envs.errors import ConfigError, NormGymError, UnknownNameError
from normgym_envs.norms.library import get_norm, num_slots
from training.sweep import Report, Sweep, SweepRun, explain_end, find_line, start_process

BACKENDS: Final = ("auto", "compiled", "torch")
"""As `training.stacked.stack.Stack` takes them."""
SHARE_LOG: Final = "stacked-worker-{}.log"
_POLL: Final = 0.5
"""Seconds between looks at what runs."""


def train_in_shares(
    sweep: Sweep,
    *,
    workers: int,
    device: str = "cpu",
    backend: str = "auto",
    report: Report | None = None,
) -> None:
    """Train what is left of a sweep, a torch thread a process.

    Args:
        sweep: as `training.sweep.plan_sweep` gave it for the learner "stacked".
        workers: processes, one share each.
        device: as torch names it, or "auto".
        backend: one of BACKENDS.
        report: shown the sweep, about twice a second.

    Raises:
        ConfigError: fewer than one worker.
        UnknownNameError: no such backend.
    """
    if workers < 1:
        raise ConfigError(f"workers is {workers}; expected at least 1")
    if backend not in BACKENDS:
        raise UnknownNameError("backend", backend, BACKENDS)
    running: dict[int, tuple[list[SweepRun], Path, subprocess.Popen[bytes]]] = {}
    try:
        for number, share in enumerate(deal_shares(sweep, workers)):
            log = sweep.folder / SHARE_LOG.format(number)
            try:
                folders = [str(run.folder) for run in share]
                process = start_process(["training.stacked.worker", device, backend, *folders], log)
            except OSError as error:
                for run in share:
                    run.finish(f"no process could be started: {error}")
                continue
            running[process.pid] = share, log, process
            for run in share:
                run.status = "running"
        while running:
            for pid, (share, log, process) in list(running.items()):
                code = process.poll()
                if code is not None:
                    del running[pid]
                    _finish(share, log, code)
                else:
                    _look(share)
            if report is not None:
                report(sweep)
            if running:
                time.sleep(_POLL)
    finally:
        for _, _, process in running.values():
            process.terminate()
        for _, _, process in running.values():
            process.wait()
    if report is not None:
        report(sweep)


def deal_shares(sweep: Sweep, workers: int) -> list[list[SweepRun]]:
    """Return waiting runs in shares of about equal work.

    Args:
        sweep: the runs.
        workers: shares at most; none is empty.
    """
    waiting = [run for run in sweep.runs if run.status == "waiting"]
    waiting.sort(key=lambda run: (run.steps, num_slots(get_norm(run.config.norm))))
    shares = [waiting[start::workers] for start in range(workers)]
    return [share for share in shares if share]


def _look(share: Sequence[SweepRun]) -> None:
    """Read how far the runs of a process are; some may have ended before the others."""
    for run in share:
        try:
            found = load_run(run.folder)
        except NormGymError:
            continue
        run.steps, run.status, run.error = found.steps, found.status, found.error


def _finish(share: Sequence[SweepRun], log: Path, code: int) -> None:
    """Note how the runs of a process have ended: its own end explains those left running."""
    _look(share)
    for run in share:
        if run.status != "running":
            continue
        named = find_line(log, f"{run.folder.name}: ")
        if code < 0:
            run.finish(explain_end(log, code))
        else:  # the last line may be about another run
            run.finish(named or f"its process ended with status {code}; see {log}")
