"""A run's log as TensorBoard curves, when tensorboard is installed; `log.jsonl` holds the same."""

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

_LABELS = ("kind", "steps", "set", "layout")


class Board:
    """Writes log entries as scalars, or nothing at all."""

    def __init__(self, folder: Path) -> None:
        """Keep the folder; nothing is written before `begin`."""
        self._folder = folder
        self._writer: Any = None

    def begin(self, entries: Iterable[Mapping[str, Any]]) -> None:
        """Write the curves anew, so that an interrupted run shows each point once.

        Args:
            entries: what the log holds.
        """
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError:
            return
        shutil.rmtree(self._folder, ignore_errors=True)
        self._writer = SummaryWriter(str(self._folder))
        for entry in entries:
            self.add(entry)

    def add(self, entry: Mapping[str, Any]) -> None:
        """Write the numbers of one entry."""
        if self._writer is None:
            return
        parts = [entry["kind"], entry.get("set"), entry.get("layout")]
        prefix = "/".join(part for part in parts if part)
        for name, value in entry.items():
            if name not in _LABELS and value is not None:
                self._writer.add_scalar(f"{prefix}/{name}", value, entry["steps"])

    def close(self) -> None:
        """Write what is not yet written."""
        if self._writer is not None:
            self._writer.close()
