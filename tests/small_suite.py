"""A suite that plays in a moment: drawn episodes, not built scenarios."""

import dataclasses
from collections.abc import Sequence

from benchmarks.suite import Suite, make_suite
from normgym_envs.protocol.episodes import draw_episode

NORMS = ("all-exit-left", "even-turns-only", "bend-right-1", "group-seating-1")
"""One norm of each family."""


def build_small_suite(
    norms: Sequence[str] = NORMS, tests: int = 2, steps: int = 40, phase: str = "seen"
) -> Suite:
    """Return one interaction and some tests for each norm on the café.

    Args:
        norms: norm ids.
        tests: tests for each norm.
        steps: limit of every episode.
        phase: of the tests.
    """
    specs = []
    for row, norm in enumerate(norms):
        for number in range(tests + 1):
            kind = phase if number else "interaction"
            spec = draw_episode(
                "cafe", norm, seed=100 * row + number, num_norm_blind=1, limit=steps
            )
            name = f"{norm}/{kind}-{max(number, 1)}"
            specs.append(dataclasses.replace(spec, name=name, phase=kind))
    return make_suite("small", 1, specs)
