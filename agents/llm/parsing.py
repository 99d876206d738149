"""From a reply to a choice, a belief and a confidence; every failure has a name.

The answer is the last JSON object that has the field of the choice. It is final: an answer that
names no legal choice is a failure, whatever else the reply says. Nothing is read from what the
model thought before it answered.
"""

import json
import math
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from agents.llm.backend import Completion
from agents.llm.decision import Failure
from agents.llm.objects import Conflict, find_answer
from agents.llm.sanitise import sanitise, shorten
from normgym_envs.errors import ConfigError

MAX_READ: Final = 100_000
"""Characters from the end of a reply that are read."""
_MAX_FIELD: Final = 4_000  # characters of a text field that are kept

_INVISIBLE: Final = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufe0e\ufe0f\ufeff]")
_BRACKETS: Final = {"<": ">", "[": "]", "(": ")", "{": "}", '"': '"', "'": "'", "`": "`", "*": "*"}


@dataclass(frozen=True)
class ReplyFormat:
    """What an answer must hold."""

    choices: tuple[str, ...]  # as the prompt names them
    fallback: int  # index of the choice played after a failure
    synonyms: Mapping[str, int]  # other wordings, in the form that `fold` gives -> index
    choice_field: str = "action"
    reasoning_field: str = "reasoning"
    belief_field: str = ""  # empty: not asked for
    confidence_field: str = ""

    def __post_init__(self) -> None:
        """Refuse a format that could not be read.

        Raises:
            ConfigError: the fallback is no choice, or a wording stands for none or is not folded.
        """
        if not 0 <= self.fallback < len(self.choices):
            raise ConfigError(
                f"fallback is {self.fallback}; expected an index below {len(self.choices)}"
            )
        for wording, index in self.synonyms.items():
            if fold(wording) != wording or not 0 <= index < len(self.choices):
                raise ConfigError(f"synonym {wording!r} -> {index}: expected {fold(wording)!r}")


class Reply(NamedTuple):
    """What a completion says."""

    choice: int  # the fallback after a failure
    failure: Failure
    detail: str  # reason of a failure, or what was odd
    reasoning: str
    belief: str | None
    confidence: float | None


def read_completion(completion: Completion, form: ReplyFormat) -> Reply:
    """Return what a completion says.

    A refusal, an overflow and an outage are failures whatever text comes with them. A reply that
    was cut is a failure only if the answer was not complete yet.

    Args:
        completion: of a backend.
        form: what was asked for.
    """
    stop = completion.stop
    if stop == "refusal" or stop == "context_overflow" or stop == "transport":
        return Reply(form.fallback, stop, shorten(completion.error, 300), "", None, None)
    reply = parse_reply(completion.text, form)
    if reply.failure and stop == "length":
        return reply._replace(failure="length", detail=f"cut: {reply.detail}")
    return reply


def parse_reply(text: str, form: ReplyFormat) -> Reply:
    """Return what the text of a reply says.

    Args:
        text: as the model gave it; at most `MAX_READ` characters from its end are read.
        form: what was asked for.
    """
    if not text.strip():
        return Reply(form.fallback, "parse", "empty", "", None, None)
    answer, problem = find_answer(text[-MAX_READ:], form.choice_field)
    if answer is None:
        return Reply(form.fallback, "parse", problem, "", None, None)
    reasoning = answer.get(form.reasoning_field)
    said = _read_text(reasoning) or ""
    belief, confidence, odd = _read_belief(answer, form)
    choice, problem = read_choice(answer[form.choice_field], form)
    if choice is None:
        return Reply(form.fallback, "parse", problem, said, belief, confidence)
    return Reply(choice, "", odd, said, belief, confidence)


def read_choice(value: object, form: ReplyFormat) -> tuple[int | None, str]:
    """Return the index of the choice that a value names, or None and why it names none.

    Args:
        value: of the field.
        form: what there is to choose from.
    """
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if not isinstance(value, str):
        kind = "null" if value is None else type(value).__name__
        return None, f"{form.choice_field} is no text ({kind}): {shorten(repr(value), 60)}"
    wording = fold(value)
    for index, name in enumerate(form.choices):
        if fold(name) == wording:
            return index, ""
    if wording in form.synonyms:
        return form.synonyms[wording], ""
    return None, f"{form.choice_field} {shorten(value, 60)!r} is none of the choices"


def fold(text: str) -> str:
    """Return a wording without case, decoration and punctuation, words parted by one space.

    Args:
        text: e.g. "**Move_UP**." or "<move up>".

    Example:
        >>> fold("[ <Move-Up> ].")
        'move up'
    """
    text = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text[:200]))
    text = re.sub(r"[\s_\-\u2010-\u2014]+", " ", text).strip(" .,!;:").casefold()
    while len(text) > 2 and _BRACKETS.get(text[0]) == text[-1]:
        text = text[1:-1].strip(" .,!;:")
    return text


def _read_text(value: object) -> str | None:
    """Return a text field made safe; parts of a list are joined, other values written out."""
    if value is None or isinstance(value, Conflict):
        return None
    if isinstance(value, list):
        value = " ".join(part if isinstance(part, str) else repr(part) for part in value)
    if not isinstance(value, str):
        value = json.dumps(value, default=repr)
    return sanitise(value, _MAX_FIELD).strip()


def _read_belief(
    answer: Mapping[str, Any], form: ReplyFormat
) -> tuple[str | None, float | None, str]:
    """Return belief, confidence and what was odd about them."""
    if not form.belief_field:
        return None, None, ""
    belief = _read_text(answer.get(form.belief_field))
    confidence = read_share(answer.get(form.confidence_field))
    odd = []
    if not belief:
        belief = None
        odd.append(f"no {form.belief_field}")
    if confidence is None:
        odd.append(f"no {form.confidence_field}")
    return belief, confidence, ", ".join(odd)


def read_share(value: object) -> float | None:
    """Return a number from 0 to 1, or None.

    Text is read too, with a per cent sign as per cent; so is a bare number from 10 to 100, which
    can mean nothing else. A number above 1 and below 10 may be out of 10 or of 5: None.

    Args:
        value: of the field.

    Example:
        >>> read_share("80 %"), read_share(80), read_share("0,8"), read_share(8)
        (0.8, 0.8, 0.8, None)
    """
    divisor = 1.0
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, str):
        text = "".join(_INVISIBLE.sub("", value[:40]).split()).strip("<>[](){}\"'`*")
        if text.endswith("%"):
            text, divisor = text[:-1], 100.0
        if re.fullmatch(r"\d*,\d+", text):
            text = text.replace(",", ".")
        if not re.fullmatch(r"\+?(\d+\.?\d*|\.\d+)(e-?\d{1,2})?", text) or len(text) > 30:
            return None
        value = float(text)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if divisor == 1.0 and 10 <= value <= 100:
        divisor = 100.0
    share = value / divisor if abs(value) <= 1000 else math.nan
    return share if 0 <= share <= 1 else None
