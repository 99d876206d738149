"""The texts of the prompts, by version: loaded, checked, hashed.

The files are in `prompts/`; a version may build on another and change parts of it.
"""

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from normgym_envs.errors import ConfigError, UnknownNameError, nearest

_FOLDER: Final = Path(__file__).parent / "prompts"
_PLACEHOLDER: Final = re.compile(r"\{([a-z_]+)\}")
TEMPLATES: Final = ("system", "interaction", "test", "memory")


@dataclass(frozen=True)
class Prompts:
    """One version of the texts."""

    name: str  # e.g. "full-1"
    templates: Mapping[str, str]  # of TEMPLATES, with {placeholders}
    blocks: Mapping[str, Mapping[str, str]]  # what placeholders may be filled with, by case
    digest: str  # of all texts and `community`, 12 hex digits
    community: bool  # words say what concerns the others: map, groups, sanctions, states

    def block(self, name: str, case: str, **values: object) -> str:
        """Return a block with its placeholders filled.

        Raises:
            ConfigError: there is no such block, or one of its placeholders has no value.
        """
        where = f"prompts {self.name!r}, [blocks.{name}] {case}"
        try:
            text = self.blocks[name][case]
        except KeyError:
            raise ConfigError(f"{where}: there is no such text") from None
        return fill(text, values, where)


def list_prompts() -> tuple[str, ...]:
    """Return the versions that there are."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))


def fill(text: str, values: Mapping[str, object], where: str) -> str:
    """Return a text with its placeholders filled; braces around anything else stay as they are.

    Args:
        text: with {placeholders}.
        values: by placeholder.
        where: names the text in messages.

    Raises:
        ConfigError: a placeholder has no value.
    """
    left = [name for name in _PLACEHOLDER.findall(text) if name not in values]
    if left:
        raise ConfigError(f"{where}: nothing fills {{{left[0]}}}{nearest(left[0], values)}")
    return _PLACEHOLDER.sub(lambda found: str(values[found[1]]), text)


@cache
def load_prompts(name: str) -> Prompts:
    """Return a version of the texts; its digest covers what it builds on.

    Args:
        name: one of `list_prompts`.

    Raises:
        UnknownNameError: no such version.
        ConfigError: the file lacks a template, or does not say whether it speaks of the community.
    """
    if name not in list_prompts():
        raise UnknownNameError("prompts", name, list_prompts())
    table = _read(name)
    missing = [key for key in TEMPLATES if key not in table]
    if missing:
        raise ConfigError(f"prompts {name!r} have no {missing[0]!r}")
    if not isinstance(table.get("community"), bool):
        raise ConfigError(
            f"prompts {name!r}: community is {table.get('community')!r}; expected true or false"
        )
    text = json.dumps(table, sort_keys=True)
    return Prompts(
        name=f"{name}-{table['version']}",
        templates={key: table[key].strip() for key in TEMPLATES},
        blocks={
            key: {k: v.strip() for k, v in cases.items()} for key, cases in table["blocks"].items()
        },
        digest=hashlib.sha256(text.encode()).hexdigest()[:12],
        community=table["community"],
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
