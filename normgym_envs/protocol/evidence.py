"""What an interaction shows: whether its public record could teach anybody the norm.

The newcomer is played by the norm-aware planner; everything measured is public.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from normgym_envs.constants import MAX_SLOTS, Action, Driver, Ending
from normgym_envs.engine import BatchEngine
from normgym_envs.protocol.equivalence import explain_moves, read_moves
from normgym_envs.types import BoolArray, EpisodeSpec, RecordArray

HORIZON = 60
"""Turns within which a norm-blind person must break the norm for a compliance to be informative.
Source: not specified; chosen because no leg of a trip takes longer in an open room."""


class Evidence(NamedTuple):
    """What one interaction shows."""

    episode: str  # name
    norm: str  # id of the true norm
    equivalent: tuple[str, ...]  # norms that come to the same on this layout, the true one too
    own_violations: int  # of the newcomer
    sanctioned: int  # own moves of others that were sanctioned
    informative: int  # turns on which others did not do what would have led them to a violation
    settled_by_others: int  # turns after which others' moves leave only the truth's class; -1 never
    settled_by_all: int  # the same with the newcomer's own moves
    left_by_others: tuple[str, ...]  # wrong norms that others' moves do not rule out
    left_by_all: tuple[str, ...]  # wrong norms that nothing rules out


def examine_interaction(engine: BatchEngine, spec: EpisodeSpec, equivalent: BoolArray) -> Evidence:
    """Play an interaction with a norm-aware newcomer and report what could be seen.

    A turn of a norm-aware person is informative when it did something permissible, other than what
    a norm-blind person in its place would have done, and such a person would have broken the norm
    before reaching its present goal.

    Args:
        engine: all hypotheses, and the layout; every row is overwritten.
        spec: the interaction; its first norm is the true one.
        equivalent: (n, n) from `find_equivalent_norms`.

    Returns:
        What one interaction shows.
    """
    ids = [norm.id for norm in engine.norms]
    true = ids.index(spec.norms[0])
    before, after, blind = _play(engine, spec)
    moves = read_moves(before, after, engine.tables[0])
    shown = after["sanctioned"] != 0
    agrees = explain_moves(engine, moves, after["sanctioned"])
    same = equivalent[true]
    by_others = np.asarray(agrees[:, :, 1:].all(axis=2))
    by_all = np.asarray(agrees.all(axis=2))
    return Evidence(
        episode=spec.name,
        norm=spec.norms[0],
        equivalent=tuple(ids[i] for i in np.flatnonzero(same)),
        own_violations=int(after["violated"][:, 0].sum()),
        sanctioned=int(shown[:, 1:].sum()),
        informative=_count_informative(engine, before, after, blind),
        settled_by_others=_settle(by_others, same),
        settled_by_all=_settle(by_all, same),
        left_by_others=tuple(ids[i] for i in np.flatnonzero(by_others.all(axis=0) & ~same)),
        left_by_all=tuple(ids[i] for i in np.flatnonzero(by_all.all(axis=0) & ~same)),
    )


def _play(
    engine: BatchEngine, spec: EpisodeSpec
) -> tuple[RecordArray, RecordArray, npt.NDArray[np.int8]]:
    """Return states before and after each turn, and what norm-blind persons would have done."""
    engine.states["ending"] = Ending.TRUNCATED
    engine.load(0, spec, drivers=(Driver.NORM_AWARE, *spec.drivers[1:]))
    actions = np.full((engine.num_rows, MAX_SLOTS), Action.WAIT, np.int8)
    rows, blind = [engine.states[0].copy()], []
    while engine.states["ending"][0] == Ending.RUNNING:
        drivers = engine.states["driver"][0].copy()
        engine.states["driver"][0] = Driver.NORM_BLIND
        blind.append(engine.plan()[0][0])
        engine.states["driver"][0] = drivers
        engine.step(actions)
        rows.append(engine.states[0].copy())
    states = np.array(rows)
    return states[:-1], states[1:], np.array(blind)


def _count_informative(
    engine: BatchEngine, before: RecordArray, after: RecordArray, blind: npt.NDArray[np.int8]
) -> int:
    """Return the number of informative turns of others."""
    differs = (
        (before["driver"] == Driver.NORM_AWARE)
        & (before["present"] != 0)
        & (after["auto"] == 0)
        & (after["violated"] == 0)
        & (after["displaced"] == 0)
        & (after["action"] != blind)
    )
    differs[:, 0] = False
    turns, slots = np.nonzero(differs)
    count = 0
    actions = np.full((engine.num_rows, MAX_SLOTS), Action.WAIT, np.int8)
    for first in range(0, len(turns), engine.num_rows):
        chunk = slice(first, first + engine.num_rows)
        who = slots[chunk]
        rows = np.arange(len(who))
        engine.states["ending"] = Ending.TRUNCATED
        engine.states[: len(who)] = before[turns[chunk]]
        states = engine.states
        states["limit"][: len(who)] = states["turn"][: len(who)] + HORIZON
        states["driver"][rows, who] = states["predicted"][rows, who] = Driver.NORM_BLIND
        person, leg = states["person"][rows, who].copy(), states["leg"][rows, who].copy()
        broke = np.zeros(len(who), bool)
        alive = np.ones(len(who), bool)
        while alive.any():
            engine.step(actions)
            states = engine.states
            broke |= alive & (states["violated"][rows, who] != 0)
            alive &= (
                ~broke
                & (states["ending"][: len(who)] == Ending.RUNNING)
                & (states["present"][rows, who] != 0)
                & (states["person"][rows, who] == person)
                & (states["leg"][rows, who] == leg)
            )
            engine.states["ending"][: len(who)][~alive] = Ending.TRUNCATED
        count += int(broke.sum())
    return count


def _settle(agrees: npt.NDArray[np.bool_], same: npt.NDArray[np.bool_]) -> int:
    """Return the number of turns after which only the truth's class explains all, -1 for never.

    Args:
        agrees: (T, n), whether a norm explains a turn.
        same: (n,), the truth's class.
    """
    alive = np.logical_and.accumulate(agrees, axis=0)
    settled = ~(alive & ~same).any(axis=1) & alive[:, same].any(axis=1)
    return int(np.argmax(settled)) + 1 if settled.any() else -1
