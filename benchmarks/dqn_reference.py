"""NG's published figures on its DQN baselines, in percent unless said otherwise.

Facts to stand beside ours; nothing is computed from them.
"""

from typing import Final, NamedTuple

from normgym_envs.constants import FAMILIES


class Success(NamedTuple):
    """Joint and task success, percent."""

    joint: float
    task: float


STEPS: Final = 1_000_000
"""Transitions of each of NG's runs. Source: NG App. "Algorithm and settings"."""

BY_FAMILY: Final[dict[tuple[str, str], dict[str, Success]]] = {
    (encoder, phase): {
        family: Success(*pair) for family, pair in zip((*FAMILIES, "all"), pairs, strict=True)
    }
    for (encoder, phase), pairs in {
        ("mlp", "seen"): ((33.3, 38.9), (0.0, 0.0), (0.0, 0.0), (0.0, 6.1), (8.0, 10.7)),
        ("mlp", "unseen"): ((8.3, 9.7), (0.0, 0.0), (0.0, 0.0), (0.0, 3.0), (2.0, 3.0)),
        ("cnn", "seen"): ((44.4, 55.6), (0.0, 0.0), (0.0, 0.0), (9.1, 12.1), (12.7, 16.0)),
        ("cnn", "unseen"): ((8.3, 26.4), (0.0, 0.0), (0.0, 1.0), (0.0, 21.2), (2.0, 11.3)),
    }.items()
}
"""Sparse rewards with penalties. Source: NG Tables A6 and A7."""

OVERALL: Final[dict[tuple[str, str, str], Success]] = {
    ("mlp", "none", "seen"): Success(6.7, 100.0),
    ("mlp", "sparse", "seen"): Success(8.0, 10.7),
    ("mlp", "dense", "seen"): Success(8.7, 39.0),
    ("mlp", "none", "unseen"): Success(2.0, 23.7),
    ("mlp", "sparse", "unseen"): Success(2.0, 3.0),
    ("mlp", "dense", "unseen"): Success(1.3, 19.0),
    ("cnn", "none", "seen"): Success(8.7, 98.3),
    ("cnn", "sparse", "seen"): Success(12.7, 16.0),
    ("cnn", "dense", "seen"): Success(7.3, 54.7),
    ("cnn", "none", "unseen"): Success(4.0, 34.3),
    ("cnn", "sparse", "unseen"): Success(2.0, 11.3),
    ("cnn", "dense", "unseen"): Success(2.0, 17.0),
}
"""By encoder, reward condition and layout. Source: NG Tables A8 and A9."""


class Caution(NamedTuple):
    """How a policy behaves on the seen layout."""

    wait_share: float  # percent of the steps of an episode, averaged over episodes
    all_wait: float  # percent of episodes
    collided: float  # percent of episodes with a collision


CAUTION: Final = {
    "mlp": Caution(55.4, 19.3, 64.7),
    "cnn": Caution(55.2, 20.0, 64.0),
}
"""Sparse rewards with penalties, seen layout. Source: NG App. "Waiting and low Task success" and
"Interpreting training return"."""


class LastReturn(NamedTuple):
    """Training return in the last 20k transitions, over norms; reward points."""

    mean: float
    median: float


LAST_RETURN: Final = {"mlp": LastReturn(-25.4, -22.6), "cnn": LastReturn(-20.8, -25.5)}
"""Sparse rewards with penalties. Source: NG App. "Interpreting training return"."""
