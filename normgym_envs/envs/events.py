"""What happened in the last turn, as a list: the public events behind infos and rewards."""

from typing import Final, NamedTuple

from normgym_envs.engine import BatchEngine
from normgym_envs.observations.text import name_slot

EVENTS: Final = ("arrival", "step", "goal", "collision", "displacement", "sanction", "departure")
"""Kinds of events, in the order in which a slot's events are listed."""


class Event(NamedTuple):
    """Something that happened to one person in one turn."""

    turn: int  # turn index of the decision that led to it; of the first one for an arrival
    agent: str  # id of the slot
    person: int  # index of the person in that slot, counted from 0
    kind: str  # one of EVENTS
    reward: float  # reward points that came of it; they add up to the slot's reward of the turn


def list_events(engine: BatchEngine, row: int) -> tuple[Event, ...]:
    """Return the public events of a row's last turn, by slot; after a reset, who is there.

    A violation that the community does not sanction is no public event and is not listed.

    Args:
        engine: whose row is read.
        row: row index, [0, B).
    """
    state = engine.states[row]
    next_turn = int(state["turn"])
    goal, cost, collision, sanction = (float(term) for term in state["reward_terms"])
    events = []
    for slot in range(int(state["num_slots"])):
        agent = name_slot(slot)
        person = int(state["person"][slot])
        is_here, is_new = bool(state["present"][slot]), bool(state["is_new"][slot])
        if next_turn == 0:
            if is_here:
                events.append(Event(0, agent, person, "arrival", 0.0))
            continue
        # a new person may appear in the very turn in which the last one left
        actor = person - is_new
        num_goals = int(state["goals"][slot])
        has_left = num_goals > 0 and (not is_here or is_new)
        turn = next_turn - 1
        if has_left or (is_here and not is_new):
            events.append(Event(turn, agent, actor, "step", -cost))
        events += [Event(turn, agent, actor, "goal", goal)] * num_goals
        if state["collided"][slot]:
            events.append(Event(turn, agent, actor, "collision", -collision))
        if state["displaced"][slot]:
            events.append(Event(turn, agent, actor, "displacement", 0.0))
        if state["sanctioned"][slot]:
            events.append(Event(turn, agent, actor, "sanction", -sanction))
        if has_left:
            events.append(Event(turn, agent, actor, "departure", 0.0))
        if is_new:
            events.append(Event(next_turn, agent, person, "arrival", 0.0))
    return tuple(events)
