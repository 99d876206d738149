"""What an episode depends on beside its specification: the sources that play it."""

import hashlib
from functools import cache
from pathlib import Path
from typing import Final

_ELSEWHERE: Final = ("market", "mechanisms", "rendering", "envs", "files.py", "versions.py")
"""Packages and modules whose sources have no part in what happens in an episode."""


@cache
def hash_world() -> str:
    """Return a hash of the sources that decide what happens in an episode, 16 hex digits."""
    root = Path(__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        place = path.relative_to(root)
        if path.suffix in (".py", ".toml") and place.parts[0] not in _ELSEWHERE:
            digest.update(place.as_posix().encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
