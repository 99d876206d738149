"""What quality an archetype produces under given proxy weights, apart from any run."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from normgym_envs.errors import ConfigError, UnknownNameError, check_seed
from normgym_envs.kernels import njit
from normgym_envs.market.archetypes import ARCHETYPES, RULES, make_profiles
from normgym_envs.market.draws import draw_observables
from normgym_envs.market.proxy import DEFAULT_WEIGHTS, check_weights, score_one
from normgym_envs.market.settle import quality_factor
from normgym_envs.market.soft_label import DEFAULT_SHARPNESS, label_one


def sample_labels(
    archetype: str,
    *,
    preset: str = "as_run",
    weights: ArrayLike = DEFAULT_WEIGHTS,
    sharpness: float = DEFAULT_SHARPNESS,
    reputation: float = 0.0,
    threshold: float | None = None,
    number: int = 10_000,
    seed: int = 0,
) -> NDArray[np.float64]:
    """Return soft labels of accepted interactions that one archetype initiates.

    Args:
        archetype: a name of ARCHETYPES.
        preset: "as_run" or "as_written".
        weights: (4,) of the proxy.
        sharpness: k.
        reputation: of the initiator; scales quality in the preset "as_run".
        threshold: of a circuit breaker, which as-written dancers aim at.
        number: of draws, >= 1.
        seed: of the draws.

    Returns:
        (number,) float64 in [0, 1].

    Raises:
        UnknownNameError: no such archetype or preset.
        ConfigError: weights that are no weights, or no draws.
    """
    if archetype not in ARCHETYPES:
        raise UnknownNameError("archetype", archetype, ARCHETYPES)
    if number < 1:
        raise ConfigError(f"number is {number}; expected 1 or more")
    profiles = make_profiles(preset, threshold)
    factor = float(quality_factor(reputation)) if RULES[preset].feedback else 1.0
    out = np.empty(number)
    _sample(
        profiles,
        ARCHETYPES.index(archetype),
        check_weights(weights),
        float(sharpness),
        factor,
        np.uint64(check_seed(seed)),
        out,
    )
    return out


@njit
def _sample(
    profiles: np.ndarray,
    profile: int,
    weights: np.ndarray,
    sharpness: float,
    factor: float,
    seed: np.uint64,
    out: np.ndarray,
) -> None:
    """Fill `out` with labels."""
    drawn = np.empty(5)
    for i in range(len(out)):
        draw_observables(profiles[profile], weights, sharpness, seed, i, drawn)
        score = score_one(
            drawn[0] * factor,
            int(drawn[1]),
            int(drawn[2]),
            int(drawn[3]),
            drawn[4] * factor,
            weights,
        )
        out[i] = label_one(score, sharpness)
