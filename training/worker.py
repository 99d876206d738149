"""One run of a sweep in a process of its own: `python -m training.worker RUN_FOLDER DEVICE`.

What to train is read from the folder's `run.json`, which the sweep has written.
"""

import os
import sys
from collections.abc import Sequence
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
        What went wrong, empty for nothing; also written to `run.json`.
    """

    def watch(steps: int) -> None:
        if parent is not None and os.getppid() != parent:
            sys.exit("the sweep that started this run is gone")

    info = None
    try:
        info = load_run(folder)
        config = DQNConfig.from_json(info.config)
        from training.dqn import train_dqn

        train_dqn(config, folder, device=device, report=watch)
    except Exception as error:
        text = str(error) if isinstance(error, NormGymError) else f"{type(error).__name__}: {error}"
        if info is not None:
            with suppress(NormGymError):  # e.g. no room for it
                RunWriter(folder, info.config, info.learner).note(
                    _safe_steps(folder), "failed", text
                )
        return text
    return ""


def _safe_steps(folder: Path) -> int:
    """Return how many transitions are safe on disk."""
    try:
        return load_run(folder).steps
    except NormGymError:
        return 0


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
