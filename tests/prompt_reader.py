"""A newcomer that knows nothing but the text of its prompts: proof that they say everything.

It takes a prompt as one string, rebuilds the world from its words, plans with the slow restatement
of the rules and answers as a language model would. Two of them: one obeys the norm that the prompt
states, one ignores it. Run as a script it answers JSON lines and cannot import the engine:

    python tests/prompt_reader.py obey | ignore
"""

import json
import re
import sys
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any

from naive_planner import PATIENCE, best_actions, joint_prediction
from naive_world import (
    ANY_CHAIR,
    ANY_ZONE_R,
    COUNTER,
    GROUPS,
    NORM_AWARE,
    PLACE,
    WAIT,
    WIDTH,
    NaiveLayout,
    NaiveSlot,
    NaiveWorld,
    Row,
    make_layout,
    neighbour,
)

LIBRARY = Path(__file__).resolve().parents[1] / "normgym_envs" / "norms" / "library.toml"
ANSWERS = ("move up", "move down", "move left", "move right", "wait")
BELIEF = "I take no notice of norms."
NEAR = 3
"""Cells; who is farther away cannot meet the newcomer in the next turn, nor be in its way."""
CELL = r"\((\d+), (\d+)\)"


class PromptError(ValueError):
    """The prompt does not say what it should."""


@dataclass(frozen=True)
class Past:
    """What the remembered turns say of the newcomer itself."""

    streak: int  # own moves in a row
    positions: tuple[int, ...]  # where it stood, by remembered turn
    thought: str  # of the latest turn on which it was asked


def obey(prompt: str) -> str:
    """Answer a prompt that states the norm, keeping to it."""
    return answer(prompt, obedient=True)


def ignore(prompt: str) -> str:
    """Answer a prompt without regard to norms and people."""
    return answer(prompt, obedient=False)


def answer(prompt: str, obedient: bool) -> str:
    """Return the reply to a prompt.

    Args:
        prompt: texts of all messages.
        obedient: keep to the norm that the prompt states.

    Returns:
        JSON as the prompt asks for it.
    """
    rows = [find_norm(prompt)] if obedient else []
    world = read_world(prompt, rows)
    past = read_past(prompt)
    me = world.slots[0]
    me.streak = past.streak
    stood = {world.layout.zones[cell] for cell in (*past.positions, me.pos)}
    me.visited = "Q" in stood or "seen Q" in past.thought
    waited = re.search(r"let somebody pass (\d+)", past.thought)
    me.courtesy = int(waited[1]) if waited else 0
    action, courteous = choose_action(world) if obedient else (rush(world), False)
    thoughts = [f"I see {len(world.slots) - 1} others and choose {ANSWERS[action]}."]
    if courteous:
        thoughts.append(f"I let somebody pass {me.courtesy + 1} times.")
    if me.visited:
        thoughts.append("I have seen Q.")
    reply: dict[str, Any] = {"reasoning": " ".join(thoughts), "action": ANSWERS[action]}
    if '"belief"' in prompt:
        reply |= {"belief": BELIEF, "confidence": 0.5}
    return json.dumps(reply)


def choose_action(world: NaiveWorld) -> tuple[int, bool]:
    """Return the newcomer's action, and whether it only waits for somebody to pass.

    Of those nearby the next step is foreseen; everybody else is expected to stay.
    """
    me = world.slots[0]
    occupied = expect_others(world)
    action = min(best_actions(world, 0, occupied))
    if action == WAIT or neighbour(me.pos, action) not in occupied:
        return action, False
    if me.leg == 1 and me.courtesy >= PATIENCE:
        return action, False
    return WAIT, True


def rush(world: NaiveWorld) -> int:
    """Return the action of one who goes straight for the goal, and at a counter round the others.

    Whoever is in the way is pushed.
    """
    me = world.slots[0]
    is_waiting = me.goal1_kind == COUNTER and me.leg == 0
    return min(best_actions(world, 0, expect_others(world) if is_waiting else set()))


def expect_others(world: NaiveWorld) -> set[int]:
    """Return the cells where the others are expected after this turn."""
    intents = [foresee(world, slot) for slot in range(len(world.slots))]
    return set(joint_prediction(world, intents)[1:])


def foresee(world: NaiveWorld, slot: int) -> int:
    """Return the cell a person would enter if all the others stood still, as far as one can tell.

    Where others want to sit or stand is not public, so those who look for a given place are
    expected to stay, and those on their way out to take the nearest door.
    """
    me, person = world.slots[0], world.slots[slot]
    rows = abs(me.pos // WIDTH - person.pos // WIDTH)
    is_far = rows + abs(me.pos % WIDTH - person.pos % WIDTH) > NEAR
    is_secret = slot > 0 and person.leg == 0 and person.goal1_kind == PLACE
    if is_far or is_secret or person.held:
        return person.pos
    action = min(best_actions(world, slot, {other.pos for other in world.others(slot)}))
    return person.pos if action == WAIT else neighbour(person.pos, action)


def find_norm(prompt: str) -> Row:
    """Return the row whose sentence the prompt states."""
    section = find_section(prompt, "Social norms")
    for sentence, row in load_sentences().items():
        if sentence in section:
            return row
    raise PromptError("the prompt states no norm of the library")


@cache
def load_sentences() -> dict[str, Row]:
    """Return the rows of the library by their sentences, the longest first."""
    rows = tomllib.loads(LIBRARY.read_text(encoding="utf-8"))["norm"]
    found = {" ".join(row["sentence"].split()): row for row in rows}
    return dict(sorted(found.items(), key=lambda item: -len(item[0])))


def find_section(prompt: str, title: str) -> str:
    """Return what stands under a heading, on one line."""
    match = re.search(rf"^# {title}\n(.*?)(?=^# |\Z)", prompt, re.DOTALL | re.MULTILINE)
    if match is None:
        raise PromptError(f"the prompt has no section {title!r}")
    return " ".join(match[1].split())


def read_world(prompt: str, rows: Sequence[Row]) -> NaiveWorld:
    """Return the world that a prompt describes, the newcomer in slot 0."""
    match = re.search(r"^Turn (\d+) of (\d+)\.", prompt, re.MULTILINE)
    if match is None:
        raise PromptError("the prompt does not say which turn it is")
    kind, cell, door, leg = read_goals(prompt)
    world = NaiveWorld(
        read_layout(prompt),
        {row["id"]: row for row in rows},
        norms=[row["id"] for row in rows],
        turn=int(match[1]),
        limit=int(match[2]),
    )
    for name, group, here, facts in read_people(prompt):
        person = NaiveSlot(
            present=True,
            driver=NORM_AWARE,
            priority=len(world.slots),
            pos=here,
            prev=here,
            group=group,
            goal1_kind=kind,
            leg=int("first goal done" in facts),
            timer=read_number(r"in service for (\d+) turns", facts),
        )
        # somebody who is done in zone R and still waits there keeps the place for the time being
        waits = person.leg == 1 and "chose WAIT" in facts
        person.holder = waits and world.layout.zones[here] == "R"
        if name == "newcomer":
            person.holder = False
            person.goal1_cell, person.goal2_door, person.leg = cell, door, leg
            person.priority = -1
            world.slots.insert(0, person)
        else:
            world.slots.append(person)
    if not re.search(r"^- newcomer: (?!nobody|.*has left)", prompt, re.MULTILINE):
        raise PromptError("the prompt does not say where the newcomer is")
    return world


def read_layout(prompt: str) -> NaiveLayout:
    """Return the map; every prompt of an episode draws the same."""
    lines = re.findall(r"^ *(\d+) ((?:  ?\S)+) *$", prompt, re.MULTILINE)
    drawn = [signs.split() for number, signs in lines if len(signs.split()) == WIDTH]
    if len(drawn) != 11:
        raise PromptError(f"the prompt draws {len(drawn)} lines of a map")
    return parse_map("\n".join("".join(signs) for signs in drawn))


@cache
def parse_map(signs: str) -> NaiveLayout:
    """Return the layout of a drawing in which marked floor hides the floor."""
    return make_layout(re.sub("[QR]", ".", signs), re.sub(r"[^QR\n]", ".", signs))


def read_goals(prompt: str) -> tuple[int, int, int, int]:
    """Return kind and cell of the first goal, door of the second, and how many are complete."""
    first = re.search(r"^Goal 1 \((now|done)\): (.*)\.$", prompt, re.MULTILINE)
    second = re.search(r"^Goal 2(?: \(now\))?: leave by (.*)\.$", prompt, re.MULTILINE)
    if first is None or second is None:
        raise PromptError("the prompt does not state both goals")
    door = {"any door": -1, "the left door": 0, "the bottom door": 1, "the right door": 2}
    words = first[2]
    place = re.match(f"stay at {CELL}", words)
    if place:
        kind, cell = PLACE, int(place[1]) * WIDTH + int(place[2])
    elif words.startswith("be served at "):
        kind, cell = COUNTER, -1
    elif words.startswith("sit on any "):
        kind, cell = ANY_CHAIR, -1
    elif words == "stay anywhere in zone R":
        kind, cell = ANY_ZONE_R, -1
    else:
        raise PromptError(f"what is the goal {words!r}?")
    return kind, cell, door[second[1]], int(first[1] == "done")


def read_people(prompt: str) -> list[tuple[str, int, int, str]]:
    """Return name, group, cell and other facts of everybody present."""
    found = []
    pattern = rf"^- (newcomer|background_\d+): (\w+), at {CELL}(.*)$"
    for name, group, row, column, facts in re.findall(pattern, prompt, re.MULTILINE):
        found.append((name, GROUPS.index(group), int(row) * WIDTH + int(column), facts))
    return found


def read_number(pattern: str, text: str) -> int:
    """Return the number that a pattern finds, 0 when it finds none."""
    match = re.search(pattern, text)
    return int(match[1]) if match else 0


def read_past(prompt: str) -> Past:
    """Return what the latest turns of the memory say, since the present person came in."""
    _, _, latest = prompt.partition("The latest turns, the newest at the end:\n")
    streak, thought = 0, ""
    positions: list[int] = []
    for line in re.findall(r"^- Turn \d+: .*$", latest, re.MULTILINE):
        facts, _, said = line.partition(" What I thought: ")
        if "nobody was in my place" in facts:
            streak, positions, thought = 0, [], ""
            continue
        where = re.search(f"I stood on {CELL}", facts)
        if where is None:
            raise PromptError(f"where did the newcomer stand? {line}")
        positions.append(int(where[1]) * WIDTH + int(where[2]))
        stayed = "I chose move" not in facts or "the way was blocked" in facts
        pushed = "was pushed" in facts
        streak = 0 if stayed or pushed else streak + 1
        if "I chose" in facts:
            thought = said
    return Past(streak, tuple(positions), thought)


class _NoEngine(MetaPathFinder):
    """Refuses to import what would let the reader look at the world itself."""

    hidden = ("normgym_envs", "numba", "agents", "benchmarks", "training")

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name.partition(".")[0] in self.hidden:
            raise ImportError(f"{name} is out of reach for a reader of prompts")


def serve(reply: Callable[[str], str]) -> None:
    """Answer prompts from standard input, one JSON string a line, until it ends."""
    for line in sys.stdin:
        print(json.dumps(reply(json.loads(line))), flush=True)


if __name__ == "__main__":
    sys.meta_path.insert(0, _NoEngine())
    serve({"obey": obey, "ignore": ignore}[sys.argv[1]])
