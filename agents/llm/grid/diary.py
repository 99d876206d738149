"""What the newcomer remembers of a turn: written when the next observation shows how it went."""

from dataclasses import dataclass

from agents.base import Observation
from agents.llm.decision import Decision
from agents.llm.grid.actions import ACTION_NAMES
from agents.llm.grid.words import list_others, list_sanctioned, name_cell
from agents.llm.memory import Entry
from agents.llm.sanitise import shorten
from normgym_envs.constants import Action

MAX_REASONING = 1_500
"""Characters of a turn's reasoning that are remembered. Source: not specified in NG; chosen so that
ten turns of a talkative model do not fill its context."""


@dataclass(frozen=True)
class Style:
    """How much the words of a memory say; follows from prompts and modality."""

    positions: bool  # where everybody was
    community: bool  # groups, sanctions of others, collisions


def write_entry(
    before: Observation, decision: Decision | None, after: Observation, style: Style
) -> Entry:
    """Return the memory of a turn.

    Source: NG App. "Prompts", memory text; what `Style.community` adds is ours.

    Args:
        before: what was seen when the turn was decided.
        decision: None when nothing was asked.
        after: what is seen now.
        style: how much is said.
    """
    slot = int(before["slot"][0])
    turn = int(before["turn"][0])
    present = bool(before["present"][slot])
    sanctioned = present and bool(after["sanctioned"][slot])
    parts = []
    if present and style.positions:
        parts.append(f"I stood on {name_cell(before['positions'][slot])}")
    if style.positions:
        parts.append(f"the others: {list_others(before, with_groups=style.community)}")
    parts.append(_tell_action(before, decision, after, style, slot))
    sentences = ["; ".join(parts) + "."]
    if sanctioned:
        sentences.append("I was sanctioned for it.")
    if style.community:
        others = list_sanctioned(after, own=False)
        if others:
            sentences.append(f"Sanctioned in that turn: {'; '.join(others)}.")
    if present and after["left"][slot]:
        sentences.append("I went out, both goals complete.")
    if decision is not None and decision.reasoning:
        sentences.append(f"What I thought: {shorten(decision.reasoning, MAX_REASONING)}")
    return Entry(turn, f"- Turn {turn}: " + " ".join(sentences), sanctioned)


def _tell_action(
    before: Observation, decision: Decision | None, after: Observation, style: Style, slot: int
) -> str:
    """Return what was done and what came of it."""
    if not before["present"][slot]:
        return "automatic turn, as nobody was in my place"
    if decision is None:
        busy = "I was busy with goal 1" if before["service"][slot] else "I could not move"
        told = f"automatic turn, as {busy}; I waited"
    elif decision.failure:
        told = f"I gave no usable answer ({decision.failure}) and so waited"
    else:
        told = f"I chose {ACTION_NAMES[decision.action]}"
        if not before["action_mask"][decision.action]:
            told += ", but the way was blocked and I stayed"
    displaced, collided = after["displaced"][slot], after["collided"][slot]
    if style.community and collided:
        told += ", and collided"
    if style.community and displaced and style.positions:
        told += f", and was pushed to {name_cell(after['positions'][slot])}"
    elif style.community and displaced:
        told += ", and was pushed aside"
    return told


def is_blocked(observation: Observation, action: int) -> bool:
    """Return whether an action is one that the world would play as waiting."""
    return action != Action.WAIT and not observation["action_mask"][action]
