"""The JSON object that is a reply's answer: found among prose, fences and thoughts.

The answer is the last object that has the field asked for. Nothing is read from what the model
thought before it answered.
"""

import ast
import json
import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

_MAX_STARTS: Final = 5_000  # opening braces that are tried, the last ones
_MAX_REPAIRS: Final = 50  # of them, for which a repair is tried
_MAX_REPAIR: Final = 20_000  # characters of an object that is worth repairing

_CLOSING: Final = re.compile(
    r"</\s*(?:think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis)\s*>"
    r"|<\|?/?(?:end_of_thought|end_thinking|endofthink)\|?>"
    r"|\[/THINK\]|◁/think▷|</seed:think>"
    r"|<\|channel\|>\s*final\s*<\|message\|>",
    re.IGNORECASE,
)
_OPENING: Final = re.compile(
    r"<\s*(?:think|thinking|thought|thoughts|reasoning|reflection|scratchpad|analysis)\s*>"
    r"|<\|?(?:begin_of_thought|begin_thinking)\|?>"
    r"|\[THINK\]|◁think▷|<seed:think>"
    r"|<\|channel\|>\s*analysis\s*<\|message\|>",
    re.IGNORECASE,
)
_TOKENS: Final = re.compile(r'"(?:[^"\\]|\\.)*"|[{}]', re.DOTALL)
_TRAILING: Final = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', re.DOTALL)


def strip_thoughts(text: str) -> str:
    """Return a reply without what was thought before it.

    Everything up to the last closing mark goes, whether it was opened or not; after an opening
    mark that nothing closes, everything goes.

    Args:
        text: reply.
    """
    end = 0
    for match in _CLOSING.finditer(text):
        end = match.end()
    text = text[end:]
    opening = _OPENING.search(text)
    return text[: opening.start()] if opening else text


def find_objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield every outermost JSON object of a text, in order.

    Braces inside strings count for nothing. What is no JSON but nearly is (commas before a closing
    bracket, strings in single quotes) is read too.

    Args:
        text: prose, fences and objects.
    """
    starts = [match.start() for match in re.finditer("{", text)][-_MAX_STARTS:]
    position, repairs = starts[0] if starts else -1, 0
    while position >= 0:
        value, end = _read_object(text, position)
        if value is None and repairs < _MAX_REPAIRS:
            repairs += 1
            value, end = _read_nearly(text, position)
        if value is not None:
            yield value
        position = text.find("{", end)


def _make_object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object with folded keys; a field given twice must say the same."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        name = key.strip().casefold()
        if name in found and found[name] != value:
            found[name] = Conflict()
        else:
            found[name] = value
    return found


class Conflict:
    """Stands for a field that was given twice with different values."""

    def __repr__(self) -> str:
        """Return what a message about the field says."""
        return "given twice"


_DECODER: Final = json.JSONDecoder(strict=False, object_pairs_hook=_make_object)


def _read_object(text: str, start: int) -> tuple[dict[str, Any] | None, int]:
    """Return the object that starts at a brace, and where to go on."""
    try:
        return _DECODER.raw_decode(text, start)
    except ValueError:
        return None, start + 1
    except RecursionError:  # so deep that no answer can begin nearby
        return None, start + 1_000


def _read_nearly(text: str, start: int) -> tuple[dict[str, Any] | None, int]:
    """Return what is nearly an object, and where to go on."""
    end = _find_end(text, start)
    value = _repair(text[start:end]) if end >= 0 else None
    return (value, end) if value is not None else (None, start + 1)


def _find_end(text: str, start: int) -> int:
    """Return the position after the brace that closes the one at `start`, or -1."""
    depth = 0
    for match in _TOKENS.finditer(text, start, start + _MAX_REPAIR):
        if match[0] == "{":
            depth += 1
        elif match[0] == "}":
            depth -= 1
            if depth == 0:
                return match.end()
    return -1


def _repair(text: str) -> dict[str, Any] | None:
    """Return an object that is nearly JSON."""
    fixed = _TRAILING.sub(lambda match: match[1] or "", text)
    try:
        value = _DECODER.decode(fixed)
    except (ValueError, RecursionError):
        try:
            with warnings.catch_warnings(action="ignore", category=SyntaxWarning):
                value = ast.literal_eval(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
            return None
        if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
            return None
        value = _make_object(list(value.items()))
    return value if isinstance(value, dict) else None


def find_answer(text: str, field: str) -> tuple[dict[str, Any] | None, str]:
    """Return the last object with a field, or None and what is wrong.

    A text that is one object is taken as it is, whatever its strings hold.

    Args:
        text: reply.
        field: name of the field, in lower case; the fields of the object are too.
    """
    try:
        whole = _DECODER.decode(text.strip())
    except (ValueError, RecursionError):
        whole = None
    if isinstance(whole, dict) and field in whole:
        return whole, ""
    spoken = strip_thoughts(text)
    if not spoken.strip():
        return None, "nothing but thoughts"
    seen = 0
    answer = None
    for value in find_objects(spoken):
        seen += 1
        answer = next(_search(value, field), answer)
    if answer is not None:
        return answer, ""
    return None, f"no field {field!r}" if seen else "no JSON object"


def _search(value: object, field: str, depth: int = 0) -> Iterator[dict[str, Any]]:
    """Yield the objects inside a value that have a field, outermost and last first."""
    if isinstance(value, dict) and field in value:
        yield value
    if depth < 8 and isinstance(value, dict | list):
        inner: Iterable[object] = value.values() if isinstance(value, dict) else value
        for part in reversed(list(inner)):
            yield from _search(part, field, depth + 1)
