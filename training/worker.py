"""One run of a sweep in a process of its own: `python -m training.worker RUN_FOLDER DEVICE`.

What to train is read from the folder's `run.json`, which the sweep has written.
"""

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from agents.dqn.runs import RunWriter, load_run
from normgym_envs.errors import NormGymError
from training.config import DQNConfig


def train_folder(folder: Path, device: str, *, parent: int | None = None) -> str:
    """Train what a folder's `run.json` names, or what is left of it.

    Args:
        folder: of the run.
        device: as torch names it, or "auto".
        parent: process that started this one; the run stops, to be resumed, when it is gone.

    Returns:
        What went wrong, empty for nothing; also written to `run.json`, unless another process is
        training the run.
    """

    def watch(steps: int) -> None:
        if parent is not None and os.getppid() != parent:
            sys.exit("the sweep that started this run is gone")

    try:
        info = load_run(folder)
        config = DQNConfig.from_json(info.config)
        with RunWriter(folder, info.config, info.learner).locked():
            return _train_locked(config, folder, device, watch)
    except Exception as error:  # another's folder, or another process is at it: not ours to note
        return _explain(error)


def _train_locked(
    config: DQNConfig, folder: Path, device: str, watch: Callable[[int], None]
) -> str:
    """Train a run whose lock is held; return what went wrong, and note it in `run.json`."""
    try:
        from training.dqn import train_open

        train_open(config, folder, device=device, report=watch)
    except Exception as error:
        text = _explain(error)
        with suppress(NormGymError):  # e.g. no room for it
            info = load_run(folder)
            RunWriter(folder, info.config, info.learner).note(info.steps, "failed", text)
        return text
    return ""


def _explain(error: Exception) -> str:
    return str(error) if isinstance(error, NormGymError) else f"{type(error).__name__}: {error}"


def main(arguments: Sequence[str]) -> int:
    """Run the command and return its exit status."""
    from torch import set_num_threads

    set_num_threads(1)
    folder, device = Path(arguments[0]), arguments[1]
    error = train_folder(folder, device, parent=os.getppid())
    if error:
        print(error, file=sys.stderr)
    return 1 if error else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
