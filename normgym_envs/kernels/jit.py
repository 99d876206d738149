"""The project's `njit`: one place for compiler flags, and a disk cache that cannot go stale.

Numba's own cache looks only at the file of the cached function, not at the files of the functions
it calls, so an edited predicate would keep its old verdict. Here the cache folder carries a hash of
all compiled packages' sources: any edit starts a new folder.
"""

import hashlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np

F = TypeVar("F", bound=Callable[..., Any])

COMPILED_PACKAGES = (
    "kernels",
    "norms",
    "engine",
    "rendering",
    "observations",
    "mechanisms",
    "market",
)
"""Sub-packages of `normgym_envs` whose functions are compiled."""


def hash_sources(root: Path) -> str:
    """Return a short hash of the compiled packages' sources and of the compiler's versions.

    Args:
        root: folder of `normgym_envs`.

    Returns:
        str, 16 hexadecimal digits.
    """
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__}".encode())
    # constants are frozen into compiled code
    paths = [root / "constants.py"]
    for package in COMPILED_PACKAGES:
        paths += sorted((root / package).glob("*.py"))
    for path in paths:
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def find_cache_folder() -> str | None:
    """Return a writable folder for compiled code, or None when there is none.

    `NUMBA_CACHE_DIR` is honoured as the parent folder, then the user's cache folder.
    """
    name = f"normgym-{hash_sources(Path(__file__).resolve().parents[1])}"
    own = os.environ.get("NUMBA_CACHE_DIR")
    cache_home = os.environ.get("XDG_CACHE_HOME")
    parents = [Path(own)] if own else []
    try:
        parents.append(Path(cache_home) if cache_home else Path.home() / ".cache")
    except RuntimeError:  # no home, as in some containers
        pass
    for parent in parents:
        folder = parent / name
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=folder):
                return str(folder)
        except OSError:
            continue
    return None


_CACHE_FOLDER = find_cache_folder()


def njit(function: F) -> F:
    """Compile a function with the project's flags; cached on disk when a place can be written.

    Args:
        function: function over NumPy arrays, records and scalars.

    Returns:
        The compiled function, typed as the one given.
    """
    return _compile(function, parallel=False)


def njit_parallel(function: F) -> F:
    """Compile a function whose `numba.prange` loops may run on several threads.

    Args:
        function: as for `njit`.

    Returns:
        The compiled function, typed as the one given.
    """
    return _compile(function, parallel=True)


def _compile(function: F, *, parallel: bool) -> F:
    settings: Any = numba.config
    previous = settings.CACHE_DIR
    try:
        if _CACHE_FOLDER is not None:
            settings.CACHE_DIR = _CACHE_FOLDER
        compile_: Any = numba.njit(
            cache=_CACHE_FOLDER is not None, nogil=True, error_model="numpy", parallel=parallel
        )
        compiled: F = compile_(function)
    finally:
        settings.CACHE_DIR = previous
    return compiled
