"""Prompts of the grid world: the texts of a version, filled with what the newcomer sees.

Modalities. With "text" the words hold the complete public state. With "image+text" they hold the
same (version `full`), or the static objects and everybody's position (version `paper`). With
"image" the words hold nothing that the picture shows: no map, no objects, no cell of anybody and
no one's sanction but the newcomer's own. What stays in words is what no picture says: rules,
names of the goals, the turn, the own sanction, what was chosen and thought in earlier turns.
"""

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from agents.base import Belief
from agents.llm.backend import Message
from agents.llm.grid.diary import Style
from agents.llm.grid.prompts import Prompts, fill, load_prompts
from agents.llm.grid.view import View
from agents.llm.grid.words import (
    NOBODY_ELSE,
    describe_goals,
    is_second_goal,
    list_objects,
    list_others,
    list_sanctioned,
    name_cell,
    to_ascii,
)
from agents.llm.memory import Recollection
from agents.llm.sanitise import shorten
from normgym_envs.constants import GRID_SHAPE
from normgym_envs.errors import ConfigError, UnknownNameError
from normgym_envs.observations.text import describe
from normgym_envs.types import Layout

Modality = Literal["image+text", "text", "image"]
MODALITIES: tuple[Modality, ...] = ("image+text", "text", "image")
MAX_BELIEF = 2_000
"""Characters of a belief that are shown again."""


@dataclass(frozen=True)
class Situation:
    """What a prompt is written about, besides the view."""

    is_test: bool
    limit: int  # turns
    known_norm: str | None  # the norm's sentence, in the condition that gives it away
    has_met: bool  # an interaction came before the test
    belief: Belief | None


class Writer:
    """Writes the prompts of one version and modality."""

    def __init__(self, prompts: str, modality: Modality, note: str = "") -> None:
        """Load the texts.

        Args:
            prompts: version, one of `list_prompts`.
            modality: of MODALITIES.
            note: a sentence added to the section on norms.

        Raises:
            UnknownNameError: no such version or modality.
            ConfigError: the version leaves to the picture what the modality does not show, or a
                placeholder of its texts open.
        """
        if modality not in MODALITIES:
            raise UnknownNameError("modality", modality, MODALITIES)
        self._texts = load_prompts(prompts)
        if not self._texts.community and modality == "text":
            raise ConfigError(
                f"prompts {prompts!r} leave the sanctions of others to the picture, and modality "
                "'text' has none; expected prompts 'full', or a modality with pictures"
            )
        self._modality = modality
        self._note = note
        self.shows_picture = modality != "text"
        with_words = modality != "image"
        self.style = Style(positions=with_words, community=with_words and self._texts.community)
        if not self.style.community:
            self._texts.block("sanctions", modality)  # nothing is named there, so nothing open
        extra = "" if not note else "+" + hashlib.sha256(note.encode()).hexdigest()[:6]
        self.version = f"{self._texts.name}:{self._texts.digest}/{modality}{extra}"

    def write(self, view: View, situation: Situation, memory: Recollection) -> list[Message]:
        """Return the prompt of a turn: a system message and a user message.

        Args:
            view: what is seen; a person must be in the newcomer's slot.
            situation: phase and condition.
            memory: what is remembered.

        Raises:
            ConfigError: the modality needs a picture and the view has none.
        """
        if self.shows_picture and view.picture is None:
            raise ConfigError(f"modality {self._modality!r} needs a picture; the view has none")
        pictures = (view.picture,) if self.shows_picture and view.picture else ()
        goals = describe_goals(view.observation, view.layout, with_cells=self.style.positions)
        return [
            Message("system", self._write_system(view, situation, goals)),
            Message("user", self._write_turn(view, situation, memory, goals), pictures),
        ]

    def _write_system(self, view: View, situation: Situation, goals: tuple[str, str]) -> str:
        """Return the rules, the place and the task."""
        block = self._texts.block
        norm = situation.known_norm
        place = f"{view.layout.title}. {view.layout.place}"
        if self.style.positions:
            objects = "What stands where:\n" + _find_place(view)[1]
        else:
            objects = ""
        return _join(
            self._texts,
            "system",
            shown=block("shown", self._modality),
            place=to_ascii(place),
            objects=objects,
            map=_find_place(view)[0] if self.style.community else "",
            self=block("self", self._modality),
            goals=f"1. {goals[0]}\n2. {goals[1]}",
            target=self._write_current(view, goals),
            succession=block("succession", "test" if situation.is_test else "interaction"),
            chairs=_many(to_ascii(view.layout.objects["chair"])),
            marks=self._write_marks(),
            norm=block("norm", "known", norm_sentence=norm) if norm else block("norm", "hidden"),
            note=self._note,
        )

    def _write_marks(self) -> str:
        """Return the meaning of marks in the picture and of words in the description."""
        marks = []
        if self.shows_picture:
            marks.append(self._texts.block("marks", "picture"))
        if self.style.community:
            marks.append(self._texts.block("marks", "text"))
        return "\n".join(marks)

    def _write_turn(
        self, view: View, situation: Situation, memory: Recollection, goals: tuple[str, str]
    ) -> str:
        """Return how things stand, what is remembered and what is asked."""
        observation, block = view.observation, self._texts.block
        turn = int(observation["turn"][0])
        own = bool(observation["sanctioned"][int(observation["slot"][0])])
        phase = "test" if situation.is_test else "interaction"
        values = {
            "state": self._write_state(view),
            "own_sanction": block("own_sanction", "yes" if own else "no"),
            "sanctions": self._write_sanctions(view),
            "turn": turn,
            "last_turn": situation.limit - 1,
            "memory": self._write_memory(situation, memory),
            "current": self._write_current(view, goals),
            f"example_{phase}": block("examples", phase),
        }
        if situation.is_test:
            values["learnt"] = self._write_learnt(situation)
        else:
            case = "known" if situation.known_norm else "hidden"
            values["purpose"] = block("purpose", case, limit=situation.limit)
        return _join(self._texts, phase, **values)

    def _write_state(self, view: View) -> str:
        """Return what the words say of the present state."""
        observation = view.observation
        slot = int(observation["slot"][0])
        turn = f"Turn {int(observation['turn'][0])} of {int(observation['limit'][0])}."
        shown = "The picture shows how things stand now." if self.shows_picture else ""
        if self.style.community:
            parts = _describe(view)
            return "\n\n".join([f"{parts[0]} {shown}".strip(), *parts[2:]])
        if not self.style.positions:
            return f"{turn} {shown}"
        others = list_others(observation, with_groups=False)
        others = "there is nobody else" if others == NOBODY_ELSE else others
        where = f"You are at {name_cell(observation['positions'][slot])}; the others: {others}."
        return f"{turn} {shown}\n{where} Cells are (row, column), counted from (0, 0) top left."

    def _write_sanctions(self, view: View) -> str:
        """Return what a sanction looks like and, in the full version, who was sanctioned."""
        block = self._texts.block
        if not self.style.community:
            return block("sanctions", self._modality)
        named = list_sanctioned(view.observation, own=True)
        told = block("named", "some", sanctioned="; ".join(named)) if named else None
        return block("sanctions", self._modality, named=told or block("named", "none"))

    def _write_current(self, view: View, goals: tuple[str, str]) -> str:
        """Return which goal is open."""
        second = is_second_goal(view.observation)
        case = "words" if self.style.positions else "picture"
        return self._texts.block("current", case, number=1 + second, goal=goals[second])

    def _write_learnt(self, situation: Situation) -> str:
        """Return what a test says of the time before it."""
        block = self._texts.block
        if situation.known_norm:
            return block("learnt", "known")
        if not situation.has_met:
            return block("learnt", "none")
        if situation.belief is None:
            carried = block("carried", "none")
        else:
            carried = block("carried", "some", **_name_belief(situation.belief))
        return block("learnt", "interaction") + "\n" + carried

    def _write_memory(self, situation: Situation, memory: Recollection) -> str:
        """Return what is remembered, and in an interaction what is believed."""
        block = self._texts.block
        if memory.total == 0:
            span = block("span", "none")
        elif memory.total == 1:
            span = block("span", "one", first=memory.first)
        else:
            span = block("span", "some", total=memory.total, first=memory.first, last=memory.last)
        if memory.dropped:
            span += " " + block("span", "cut", dropped=memory.dropped)
        listed = {}
        for name, entries in (("older", memory.older), ("recent", memory.recent)):
            lines = [block("remembered", name), *(entry.text for entry in entries)]
            listed[name] = "\n".join(lines) if entries else ""
        belief = ""
        if not situation.is_test:
            if situation.belief is None:
                belief = block("belief", "none")
            else:
                belief = block("belief", "some", **_name_belief(situation.belief))
        return _join(self._texts, "memory", span=span, belief=belief, **listed)


def _describe(view: View) -> list[str]:
    """Return the parts of the state in words: turn, map, own goals and actions, everybody."""
    observation = view.observation
    # the map takes most of the time and does not change, so it is drawn apart
    rest = {**observation, "cells": observation["cells"][:0], "zones": observation["zones"][:0]}
    parts = describe(rest, view.layout).split("\n\n")
    parts[1] = _find_place(view)[0]
    return parts


def _find_place(view: View) -> tuple[str, str]:
    """Return the map and the list of objects in words."""
    cells, zones = view.observation["cells"], view.observation["zones"]
    return _describe_place(view.layout, cells.tobytes(), zones.tobytes())


@lru_cache(maxsize=64)
def _describe_place(layout: Layout, cells: bytes, zones: bytes) -> tuple[str, str]:
    """Return the map and the list of objects of a layout; grids as bytes of int8."""
    empty = {
        "cells": np.frombuffer(cells, np.int8).reshape(GRID_SHAPE),
        "zones": np.frombuffer(zones, np.int8).reshape(GRID_SHAPE),
        **_NOBODY,
    }
    return describe(empty, layout).split("\n\n")[1], list_objects(empty, layout)


_NOBODY: Final[dict[str, npt.NDArray[np.int8]]] = {
    **{name: np.zeros(1, np.int8) for name in ("turn", "limit", "slot", "present", "left")},
    "action_mask": np.zeros(5, np.int8),
}
"""What is to be known of a place without people."""


def _name_belief(belief: Belief) -> dict[str, str]:
    """Return a belief as prompts show it."""
    return {
        "belief": shorten(belief.text, MAX_BELIEF),
        "confidence": f"{belief.confidence:.2f}".rstrip("0").rstrip("."),
    }


def _many(noun: str) -> str:
    """Return the plural of an object's name."""
    return noun + ("es" if re.search("(s|x|ch|sh)$", noun) else "s")


def _join(texts: Prompts, name: str, **values: object) -> str:
    """Return a template with its placeholders filled; lines that stay empty are closed up."""
    filled = fill(texts.templates[name], values, f"prompts {texts.name!r}, {name}")
    text = re.sub(r"[ \t]+\n", "\n", filled)
    return re.sub(r"\n{3,}", "\n\n", text).strip()
