"""Strict JSON, and files that are replaced in one piece."""

import json
import os
from pathlib import Path
from typing import Any

from normgym_envs.errors import ConfigError


def dump_json(value: object, *, sort_keys: bool = False) -> str:
    """Return compact strict JSON in ASCII: no NaN, no infinity.

    Args:
        value: plain JSON values.
        sort_keys: give the same text for equal values, whatever their order.
    """
    return json.dumps(value, sort_keys=sort_keys, separators=(",", ":"), allow_nan=False)


def load_json(text: str) -> Any:
    """Return what strict JSON text holds.

    Raises:
        ValueError: no JSON, or NaN or infinity in it.
    """
    return json.loads(text, parse_constant=_refuse)


def _refuse(name: str) -> None:
    """Refuse the numbers that strict JSON does not have."""
    raise ValueError(f"{name} is no strict JSON")


def write_atomically(path: Path, content: bytes) -> None:
    """Replace a file so that at every moment it is the old one or the new one, whole.

    Args:
        path: file to write; its folder must exist.
        content: everything it shall hold.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def check_writable(path: Path, what: str) -> None:
    """Refuse a place that could not be written to, before any work is done for it.

    Args:
        path: file that is to be written.
        what: the option it came from, for the message.

    Raises:
        ConfigError: the folder does not exist or may not be written, or the path is a folder.
    """
    if path.is_dir():
        raise ConfigError(f"{what}: {path} is a folder; expected a file")
    if not path.parent.is_dir():
        raise ConfigError(f"{what}: folder {path.parent} does not exist")
    if not os.access(path.parent, os.W_OK):
        raise ConfigError(f"{what}: folder {path.parent} cannot be written to")


def make_folder(folder: Path, what: str) -> None:
    """Make an output folder and refuse one that could not be written to.

    Args:
        folder: made with its parents when missing.
        what: the option it came from, for the message.

    Raises:
        ConfigError: it cannot be made or written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(f"{what}: folder {folder} cannot be made: {error.strerror}") from None
    check_writable(folder / "report.md", what)
