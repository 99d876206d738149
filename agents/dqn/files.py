"""Fields that are checked, and tensors that run no code when they are read."""

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any, Final

from normgym_envs.errors import MissingExtraError, RecordError
from normgym_envs.files import replace_file

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


def check_world(path: Path, data: Mapping[str, Any]) -> str:
    """Return the hash of the world that something was trained in, empty where it was not noted.

    Raises:
        RecordError: it is no text.
    """
    world = data.get("world", "")
    if not isinstance(world, str):
        raise RecordError(f"{path} is damaged: world is {type(world).__name__}; expected str")
    return world


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
