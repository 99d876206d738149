"""Strict JSON."""

import json
from typing import Any


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
