"""A share of a sweep in a process: `python -m training.stacked.worker DEVICE BACKEND FOLDER...`.

What to train is read from each folder's `run.json`, which the sweep has written.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from agents.dqn.runs import load_run
from normgym_envs.errors import NormGymError
from training.config import DQNConfig
from training.stacked.runs import train_stacked


def train_folders(
    folders: Sequence[Path], device: str, backend: str, *, parent: int | None = None
) -> dict[Path, str]:
    """Train what the folders' `run.json` name, or what is left of it.

    Args:
        folders: of the runs.
        device: as torch names it, or "auto".
        backend: as `training.stacked.stack.Stack`.
        parent: process that started this one; the runs stop, to be resumed, when it is gone.

    Returns:
        What went wrong, by folder.
    """

    def watch(steps: int) -> None:
        if parent is not None and os.getppid() != parent:
            sys.exit("the sweep that started these runs is gone")

    errors: dict[Path, str] = {}
    runs = []
    for folder in folders:
        try:
            runs.append((DQNConfig.from_json(load_run(folder).config), folder))
        except NormGymError as error:
            errors[folder] = str(error)
    return errors | train_stacked(runs, device=device, backend=backend, report=watch)


def main(arguments: Sequence[str]) -> int:
    """Run the command and return its exit status."""
    from torch import set_num_threads

    set_num_threads(1)
    device, backend, *folders = arguments
    errors = train_folders([Path(name) for name in folders], device, backend, parent=os.getppid())
    for folder, error in errors.items():
        print(f"{folder.name}: {error}", file=sys.stderr)
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
