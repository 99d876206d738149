"""Named lists of models with their parameters, from a data file."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from normgym_envs.errors import UnknownNameError

FILE: Final = Path(__file__).with_name("presets.toml")


@dataclass(frozen=True)
class Preset:
    """Models that were measured together."""

    name: str
    models: tuple[str, ...]
    temperature: float
    max_tokens: int


def list_presets() -> tuple[str, ...]:
    """Return the names of the presets."""
    return tuple(_load())


def get_preset(name: str) -> Preset:
    """Return a preset by name.

    Raises:
        UnknownNameError: no such preset.
    """
    presets = _load()
    if name not in presets:
        raise UnknownNameError("preset", name, presets)
    return presets[name]


@cache
def _load() -> dict[str, Preset]:
    """Return the presets that ship."""
    content = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return {
        name: Preset(name, tuple(row["models"]), float(row["temperature"]), int(row["max_tokens"]))
        for name, row in content.items()
    }
