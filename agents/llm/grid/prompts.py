"""The texts of the prompts, by version: loaded, checked, hashed.

The files are in `prompts/`; a version may build on another and change parts of it.
"""

import hashlib
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from normgym_envs.errors import ConfigError, UnknownNameError

_FOLDER: Final = Path(__file__).parent / "prompts"
TEMPLATES: Final = ("system", "interaction", "test", "memory")


@dataclass(frozen=True)
class Prompts:
    """One version of the texts."""

    name: str  # "full" or "paper"
    templates: Mapping[str, str]  # of TEMPLATES, with {placeholders}
    blocks: Mapping[str, Mapping[str, str]]  # what placeholders may be filled with, by case
    digest: str  # of all texts, 12 hex digits

    def block(self, name: str, case: str, **values: object) -> str:
        """Return a block with its placeholders filled."""
        text = self.blocks[name][case]
        return text.format(**values) if values else text


def list_prompts() -> tuple[str, ...]:
    """Return the versions that there are."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))


@cache
def load_prompts(name: str) -> Prompts:
    """Return a version of the texts; its digest covers what it builds on.

    Args:
        name: "full" or "paper".

    Raises:
        UnknownNameError: no such version.
        ConfigError: the file lacks a template.
    """
    if name not in list_prompts():
        raise UnknownNameError("prompts", name, list_prompts())
    table = _read(name)
    missing = [key for key in TEMPLATES if key not in table]
    if missing:
        raise ConfigError(f"prompts {name!r} have no {missing[0]!r}")
    text = json.dumps(table, sort_keys=True)
    return Prompts(
        name=f"{name}-{table['version']}",
        templates={key: table[key].strip() for key in TEMPLATES},
        blocks={
            key: {k: v.strip() for k, v in cases.items()} for key, cases in table["blocks"].items()
        },
        digest=hashlib.sha256(text.encode()).hexdigest()[:12],
    )


def _read(name: str) -> dict[str, Any]:
    """Return the table of a file over that of its base."""
    table: dict[str, Any] = tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    if "base" not in table:
        return table
    base = _read(table["base"])
    blocks = {**base["blocks"], **table.get("blocks", {})}
    for key, cases in table.get("blocks", {}).items():
        blocks[key] = {**base["blocks"].get(key, {}), **cases}
    return {**base, **table, "blocks": blocks}
