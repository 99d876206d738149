"""Files that are replaced in one piece, and tensors that run no code when they are read."""

import errno
import os
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from normgym_envs.errors import ConfigError, MissingExtraError, RecordError

FORMAT: Final = 1
"""Version of the files of runs and checkpoints."""


def check_fields(path: Path, data: object, fields: Mapping[str, type]) -> None:
    """Refuse an object that lacks fields or has them of other types.

    Args:
        path: named in the message.
        data: what was read.
        fields: type by name.

    Raises:
        RecordError: it does not fit, or has another format.
    """
    if not isinstance(data, dict):
        raise RecordError(f"{path} is damaged: expected an object with {', '.join(fields)}")
    if data.get("format") != FORMAT:
        raise RecordError(f"{path} has format {data.get('format')!r}; expected {FORMAT}")
    for name, kind in fields.items():
        if type(data.get(name)) is not kind:
            raise RecordError(
                f"{path} is damaged: {name} is {type(data.get(name)).__name__}; "
                f"expected {kind.__name__}"
            )


def save_tensors(path: Path, content: Mapping[str, Any]) -> None:
    """Write a file of tensors in one piece.

    Raises:
        ConfigError: the disk is full, or the folder cannot be written to.
    """
    import torch

    buffer = BytesIO()
    torch.save(dict(content), buffer)
    replace_file(path, buffer.getvalue())


def load_tensors(path: Path) -> dict[str, Any]:
    """Return a file of tensors; nothing in it is executed.

    Raises:
        MissingExtraError: torch is missing.
        RecordError: the file is missing, damaged, or something else.
    """
    try:
        import torch
    except ImportError:
        raise MissingExtraError(
            "reading a DQN checkpoint needs torch; install the extra: pip install 'normgym[rl]'"
        ) from None
    try:
        content = path.read_bytes()
    except OSError as error:
        raise RecordError(f"{path} cannot be read: {error.strerror}") from None
    try:
        data = torch.load(BytesIO(content), map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises many kinds for files that are not its own
        raise RecordError(f"{path} is damaged or no checkpoint ({type(error).__name__})") from None
    if not isinstance(data, dict):
        raise RecordError(f"{path} is damaged: expected a table of values")
    return data


def replace_file(path: Path, content: bytes) -> None:
    """Replace a file so that at every moment it is the old one or the new one, whole.

    Raises:
        ConfigError: the disk is full, or the folder cannot be written to.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with explain_disk(path.parent):
        try:
            with temporary.open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


class explain_disk:
    """Turns an error of the file system into one line that says what to do."""

    def __init__(self, folder: Path, *, only_full: bool = False) -> None:
        """Watch what is done inside.

        Args:
            folder: named in the message.
            only_full: leave all errors alone but that of a full disk.
        """
        self._folder = folder
        self._only_full = only_full

    def __enter__(self) -> None:
        """Do nothing."""

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        """Explain what the file system refused."""
        is_full = isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT)
        if isinstance(error, OSError) and (is_full or not self._only_full):
            raise ConfigError(
                f"{self._folder} cannot be written to: {error.strerror}; make room or give "
                "another folder, then repeat the command: it goes on where it was"
            ) from None
