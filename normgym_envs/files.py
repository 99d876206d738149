"""Files that are replaced in one piece, output folders, and what is said when a disk is full."""

import errno
import os
from pathlib import Path

from normgym_envs.errors import ConfigError


def replace_file(path: Path, content: bytes) -> None:
    """Replace a file so that at every moment it is the old one or the new one, whole.

    Args:
        path: file to write; its folder must exist.
        content: everything it shall hold.

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
                "another folder, then repeat the command; what was written before is kept"
            ) from None


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
    check_writable(folder / "any file", what)
