"""Random draws of the market: every one has an address, so rows and threads cannot mix them up."""

from enum import IntEnum
from typing import Any

import numpy as np

from normgym_envs.kernels import draw, njit
from normgym_envs.market.proxy import score_one

_UNIT = 2.0**-53
_SHIFT = np.uint64(11)


class Kind(IntEnum):
    """How a channel is drawn; `first` and `second` are the numbers of its row."""

    CONSTANT = 0  # first
    UNIFORM = 1  # first to second
    NORMAL = 2  # mean first, deviation second, cut to [-1, 1]
    INTEGER = 3  # first to second, both included
    POISSON = 4  # mean first


class Stream(IntEnum):
    """What a draw is for."""

    TURN = 31  # at (turn, index of the decision)
    ANSWER = 32  # at (ordinal of the interaction, 0)
    OBSERVABLE = 33  # at (ordinal of the interaction, two a channel)


TURN, ANSWER, OBSERVABLE = int(Stream.TURN), int(Stream.ANSWER), int(Stream.OBSERVABLE)
_CONSTANT, _UNIFORM, _NORMAL = int(Kind.CONSTANT), int(Kind.UNIFORM), int(Kind.NORMAL)
_INTEGER = int(Kind.INTEGER)


@njit
def unit(seed: np.uint64, turn: int, stream: int, index: int) -> float:
    """Return the number in [0, 1) at an address."""
    return (draw(seed, turn, stream, index) >> _SHIFT) * _UNIT


@njit
def draw_channel(
    kind: int, first: float, second: float, seed: np.uint64, ordinal: int, channel: int
) -> float:
    """Return one observable of one interaction.

    Args:
        kind: Kind.
        first: see `Kind`.
        second: see `Kind`.
        seed: of the row.
        ordinal: of the interaction.
        channel: index into state.CHANNELS.
    """
    if kind == _CONSTANT:
        return first
    u = unit(seed, ordinal, OBSERVABLE, 2 * channel)
    if kind == _UNIFORM:
        return first + (second - first) * u
    if kind == _INTEGER:
        return first + np.floor(u * (second - first + 1.0))
    if kind == _NORMAL:
        # Box and Muller; 1 - u is never 0
        angle = 2.0 * np.pi * unit(seed, ordinal, OBSERVABLE, 2 * channel + 1)
        value = first + second * np.sqrt(-2.0 * np.log(1.0 - u)) * np.cos(angle)
        return min(1.0, max(-1.0, value))
    # Poisson by inversion; 50 is out of reach for the means in use
    count, term = 0.0, np.exp(-first)
    total = term
    while u > total and count < 50.0:
        count += 1.0
        term *= first / count
        total += term
    return count


@njit
def draw_observables(
    profile: Any, weights: Any, sharpness: float, seed: np.uint64, ordinal: int, out: np.ndarray
) -> None:
    """Draw what one interaction shows.

    A profile that aims scales task progress and engagement until the soft label is the wanted one.

    Args:
        profile: PROFILE_DTYPE.
        weights: (4,) of the proxy; only aiming profiles look at them.
        sharpness: k; likewise.
        seed: of the row.
        ordinal: of the interaction.
        out: (5,) float64, written.
    """
    for channel in range(5):
        out[channel] = draw_channel(
            profile["kind"][channel],
            profile["first"][channel],
            profile["second"][channel],
            seed,
            ordinal,
            channel,
        )
    if profile["aims"]:
        wanted = np.log(profile["wanted"] / (1.0 - profile["wanted"])) / sharpness
        rest = wanted - score_one(0.0, int(out[1]), int(out[2]), int(out[3]), 0.0, weights)
        drawn = weights[0] * out[0] + weights[3] * out[4]
        if drawn != 0.0:
            out[0] = min(1.0, max(-1.0, out[0] * rest / drawn))
            out[4] = min(1.0, max(-1.0, out[4] * rest / drawn))
