"""Reports what the interactions of a suite show."""

from collections.abc import Callable
from typing import Any

from benchmarks.suite import Suite
from normgym_envs.engine import BatchEngine
from normgym_envs.protocol.equivalence import find_equivalent_norms
from normgym_envs.protocol.evidence import Evidence, examine_interaction
from normgym_envs.types import BoolArray

ROWS = 64
"""Rows of the engine; results do not depend on it."""


def report_evidence(
    suite: Suite, on_episode: Callable[[str], None] | None = None
) -> tuple[Evidence, ...]:
    """Look into every interaction of a suite.

    The hypotheses are the norms of the suite, sanctions are taken to be free of error.

    Args:
        suite: its interactions are played.
        on_episode: told the name of each as it is done.

    Returns:
        One entry per interaction, in the suite's order.
    """
    engine = BatchEngine(suite.layouts(), suite.norms, ROWS)
    classes: dict[tuple[str, int], BoolArray] = {}
    found = []
    for spec in suite.specs:
        if spec.phase != "interaction":
            continue
        key = (spec.layout, spec.num_slots)
        if key not in classes:
            layout = next(place for place in engine.layouts if place.name == spec.layout)
            classes[key] = find_equivalent_norms(engine, layout, spec.num_slots)
        found.append(examine_interaction(engine, spec, classes[key]))
        if on_episode is not None:
            on_episode(spec.name)
    return tuple(found)


def to_json(evidence: tuple[Evidence, ...]) -> list[dict[str, Any]]:
    """Return the report as JSON values."""
    return [entry._asdict() for entry in evidence]
