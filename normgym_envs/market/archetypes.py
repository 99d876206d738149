"""The eight archetypes in two presets, as rows: how they draw quality and which policy they follow.

`as_run` behaves like the released runs behind SW's tables; `as_written` follows SW App. B. Every
parameter of `as_written` carries its source; `normgym bench market --preset as_written` prints it.
What the policies do is in `policies.py`.
"""

from enum import IntEnum
from typing import Final, NamedTuple

import numpy as np

from normgym_envs.errors import UnknownNameError
from normgym_envs.market.draws import Kind
from normgym_envs.market.state import CHANNELS, PROFILE_DTYPE

__all__ = ["ARCHETYPES", "PRESETS", "Archetype", "Draw", "Face", "Policy", "find_preset"]


class Policy(IntEnum):
    """What an agent does on its turn and how it answers."""

    HONEST = 1
    OPPORTUNISTIC = 2
    DECEPTIVE = 3
    ADVERSARIAL = 4
    DORMANT = 5  # lies low for ever and accepts everything
    CAUTIOUS = 6  # deals with nobody it does not trust already
    LEDGER = 7  # keeps a ledger of payoffs per partner
    DANCER = 8  # estimates the partner's ledger and exploits the room in it
    UNBLEMISHED = 9  # deals only with partners it never saw fail
    TIT_FOR_TAT = 10  # answers a partner's last move in kind
    OPEN = 11  # accepts everything, proposes at random


class Face(IntEnum):
    """What others take an agent for."""

    NEUTRAL = 0
    HONEST = 1
    ADVERSARIAL = 2


class Draw(NamedTuple):
    """How one observable is drawn."""

    kind: Kind
    first: float
    second: float
    source: str


class Archetype(NamedTuple):
    """One row of a preset."""

    letter: str
    policy: Policy
    face: Face
    task: Draw
    rework: Draw
    rejections: Draw
    misuse: Draw
    engagement: Draw
    aims: bool = False  # scales task and engagement to p = breaker threshold + AIM_ABOVE
    rehabilitates: bool = False  # draws like an honest agent right after a freeze
    transfer_trade: float = 0.0  # offered with a trade, payoff points
    transfer_collaboration: float = 0.0


AIM_ABOVE: Final = 0.02
"""epsilon of the threshold dancer, probability. Source: SW App. B.7 gives no number; chosen so that
a dancer stays within one standard deviation of the limit."""
AIM_WITHOUT_BREAKER: Final = 0.5
"""Threshold a dancer assumes where there is no breaker. Source: not specified; chosen because 0.5
is the label that says nothing."""

_RUN = "the released runs"
_TEXT = "SW App. B"


def _uniform(low: float, high: float, source: str = _RUN) -> Draw:
    """Return a uniform draw."""
    return Draw(Kind.UNIFORM, low, high, source)


def _count(low: int, high: int, source: str = _RUN) -> Draw:
    """Return a uniform draw of an integer, both ends included."""
    return Draw(Kind.INTEGER, low, high, source)


def _fixed(value: float, source: str = _RUN) -> Draw:
    """Return a number that never varies."""
    return Draw(Kind.CONSTANT, value, 0.0, source)


def _chosen(reason: str) -> str:
    """Return the source line of what no text gives."""
    return f"not specified; chosen because {reason}"


_HONEST_RUN = (_uniform(0.3, 0.8), _count(0, 1), _fixed(0), _fixed(0), _uniform(0.2, 0.6))
_HOSTILE_RUN = (_uniform(-0.3, 0.2), _count(1, 3), _count(1, 2), _count(0, 1), _uniform(-0.5, -0.1))

AS_RUN: Final[dict[str, Archetype]] = {
    "honest": Archetype("H", Policy.HONEST, Face.HONEST, *_HONEST_RUN),
    "opportunistic": Archetype(
        "O",
        Policy.OPPORTUNISTIC,
        Face.NEUTRAL,
        _uniform(0.1, 0.5),
        _count(0, 2),
        _count(0, 1),
        _fixed(0),
        _uniform(-0.2, 0.3),
    ),
    "deceptive": Archetype(
        "D",
        Policy.DECEPTIVE,
        Face.NEUTRAL,
        _uniform(0.2, 0.6),
        _count(0, 2),
        _count(0, 1),
        _fixed(0),
        _uniform(0.0, 0.4),
    ),
    "adversarial": Archetype("A", Policy.ADVERSARIAL, Face.ADVERSARIAL, *_HOSTILE_RUN),
    "adaptive_adversary": Archetype("AA", Policy.DORMANT, Face.ADVERSARIAL, *_HOSTILE_RUN),
    "cautious": Archetype("C", Policy.CAUTIOUS, Face.NEUTRAL, *_HOSTILE_RUN),
    "cautious_reciprocator": Archetype("CR", Policy.LEDGER, Face.HONEST, *_HONEST_RUN),
    "threshold_dancer": Archetype("TD", Policy.DANCER, Face.ADVERSARIAL, *_HOSTILE_RUN),
}
"""Source: the released runs: quality depends on the initiator's registered type alone, and
everything that is not honest, opportunistic or deceptive draws like an adversary."""

_ZERO_MISUSE = _fixed(0, _chosen("App. B names no tool misuse for it"))
_SAME_ENGAGEMENT = _chosen("App. B is silent; the range of the released runs")

_HONEST_TEXT = (
    Draw(Kind.NORMAL, 0.8, 0.1, f"{_TEXT}.1"),
    _fixed(0, f"{_TEXT}.1, near 0"),
    _fixed(0, f"{_TEXT}.1, near 0"),
    _ZERO_MISUSE,
    _uniform(0.2, 0.6, _SAME_ENGAGEMENT),
)
_HOSTILE_TEXT = (
    _uniform(-0.8, -0.2, f"{_TEXT}.4 says strongly negative; range " + _chosen("it stays below 0")),
    _count(1, 3, _chosen("App. B.4 is silent; the range of the released runs")),
    _count(
        2, 4, f"{_TEXT}.4 says high rejection rates; " + _chosen("it lies above the released range")
    ),
    _count(0, 1, _chosen("App. B.4 is silent; the range of the released runs")),
    _uniform(-0.5, -0.1, _SAME_ENGAGEMENT),
)
_CAREFUL_TEXT = (
    Draw(Kind.NORMAL, 0.8, 0.1, _chosen("App. B.6 is about acceptance; drawn as honest")),
    *_HONEST_TEXT[1:],
)

AS_WRITTEN: Final[dict[str, Archetype]] = {
    "honest": Archetype("H", Policy.HONEST, Face.HONEST, *_HONEST_TEXT),
    "opportunistic": Archetype(
        "O",
        Policy.OPPORTUNISTIC,
        Face.NEUTRAL,
        Draw(Kind.NORMAL, 0.4, 0.4, f"{_TEXT}.2"),
        Draw(Kind.POISSON, 1.0, 0.0, f"{_TEXT}.2"),
        _count(0, 1, _chosen("App. B.2 is silent; the range of the released runs")),
        _ZERO_MISUSE,
        _uniform(-0.2, 0.3, _SAME_ENGAGEMENT),
        transfer_trade=-0.5,
    ),
    "deceptive": Archetype(
        "D",
        Policy.DECEPTIVE,
        Face.NEUTRAL,
        Draw(Kind.NORMAL, 0.0, 0.1, f"{_TEXT}.3 says about 0; deviation as for honest agents"),
        _fixed(0, f"{_TEXT}.3, minimised"),
        _count(0, 1, _chosen("App. B.3 is silent; the range of the released runs")),
        _ZERO_MISUSE,
        _uniform(
            0.6, 1.0, f"{_TEXT}.3 says high; range " + _chosen("it lies above honest agents'")
        ),
        transfer_trade=-0.5,
        transfer_collaboration=0.1,
    ),
    "adversarial": Archetype(
        "A", Policy.ADVERSARIAL, Face.ADVERSARIAL, *_HOSTILE_TEXT, transfer_trade=-1.0
    ),
    "adaptive_adversary": Archetype(
        "AA",
        Policy.ADVERSARIAL,
        Face.ADVERSARIAL,
        *_HOSTILE_TEXT,
        rehabilitates=True,
        transfer_trade=-1.0,
    ),
    "cautious": Archetype("C", Policy.UNBLEMISHED, Face.NEUTRAL, *_CAREFUL_TEXT),
    "cautious_reciprocator": Archetype("CR", Policy.TIT_FOR_TAT, Face.HONEST, *_CAREFUL_TEXT),
    "threshold_dancer": Archetype(
        "TD",
        Policy.OPEN,
        Face.ADVERSARIAL,
        _uniform(0.5, 1.0, f"{_TEXT}.7: scaled to p = threshold + epsilon; base " + _chosen("any")),
        _fixed(0, _chosen("every p in range can then be reached")),
        _fixed(0, _chosen("every p in range can then be reached")),
        _ZERO_MISUSE,
        _uniform(0.5, 1.0, f"{_TEXT}.7: scaled likewise; base " + _chosen("any")),
        aims=True,
    ),
}
"""Source: SW App. B, field by field. Transfers: SW gives none; the released classes define these
offers and drop them, so this preset makes them."""

PRESETS: Final = {"as_run": AS_RUN, "as_written": AS_WRITTEN}
ARCHETYPES: Final = tuple(AS_RUN)


class PresetRules(NamedTuple):
    """What else differs between the presets, apart from archetypes."""

    feedback: bool  # reputation scales the initiator's quality
    engagement_cap: bool  # a rejected proposal has no positive engagement
    reputation_income: bool  # w_rep times reputation is paid
    tax_transfer: bool  # the tax base is the transfer
    breaker_either: bool  # running toxicity alone freezes
    slashing: bool  # violations cost stake
    frequency_only: bool  # the collusion score is the pair's frequency
    corrected_controller: bool  # tightening tightens


RULES: Final = {
    "as_run": PresetRules(True, True, False, False, False, False, False, False),
    "as_written": PresetRules(False, False, True, True, True, True, True, True),
}

DIFFERENCES: Final = (
    ("quality", "uniform ranges by registered type", "App. B's distributions"),
    ("reputation and quality", "factor .75 + .25 r on task and engagement", "none"),
    ("rejected proposals", "engagement at most 0", "as drawn"),
    ("reputation income", "none: w_rep has no effect", "w_rep times reputation, eq. 6 and 7"),
    ("transfers", "always 0", "-1 to .1 by archetype"),
    ("tax base", "max(0, 3p - 1) + |transfer|", "|transfer|"),
    (
        "circuit breaker",
        "violations are crossings of the mean",
        "mean above threshold, or violations",
    ),
    ("staking", "never slashed", "audit hits and freezes are slashed"),
    ("collusion", "four terms, fires on honest pairs", "frequency of the pair"),
    ("adaptive adversary", "never acts", "attacks; good quality right after a freeze"),
    ("cautious", "never takes part", "deals with partners never seen failing"),
    ("cautious reciprocator", "ledger of payoffs", "tit for tat"),
    ("threshold dancer", "adversarial quality, ledger phases", "p = breaker threshold + .02"),
    ("controller", "tightening lowers audit dials", "tightening tightens"),
)
"""What differs, as run, as written. The last dancer's row reads App. B.7 to the letter: with a
toxicity limit of .8 it makes dancers better than honest agents."""


def find_preset(name: str) -> dict[str, Archetype]:
    """Return a preset's archetypes.

    Raises:
        UnknownNameError: no such preset.
    """
    if name not in PRESETS:
        raise UnknownNameError("preset", name, PRESETS)
    return PRESETS[name]


def make_profiles(preset: str, threshold: float | None) -> np.ndarray:
    """Return the (8,) PROFILE_DTYPE table of a preset, in the order of ARCHETYPES.

    Args:
        preset: name.
        threshold: of the circuit breaker, for dancers; None when there is none.
    """
    table = np.zeros(len(ARCHETYPES), PROFILE_DTYPE)
    for row, archetype in zip(table, find_preset(preset).values(), strict=True):
        for channel, name in enumerate(CHANNELS):
            one = getattr(archetype, name)
            row["kind"][channel], row["first"][channel] = int(one.kind), one.first
            row["second"][channel] = one.second
        row["aims"] = archetype.aims
        wanted = (AIM_WITHOUT_BREAKER if threshold is None else threshold) + AIM_ABOVE
        row["wanted"] = min(max(wanted, 0.01), 0.99)
        row["transfer_trade"] = archetype.transfer_trade
        row["transfer_collaboration"] = archetype.transfer_collaboration
    return table
