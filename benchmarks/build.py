"""Builds the suites that ship. Running a suite never needs this module.

A suite's seeds, phases and layouts are stated here; how an episode is drawn and verified is the
business of `normgym_envs.protocol.scenarios`.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from benchmarks.suite import Suite, make_suite
from normgym_envs.constants import Group
from normgym_envs.errors import UnknownNameError
from normgym_envs.layouts import get_layout
from normgym_envs.norms.library import load_norms
from normgym_envs.protocol.scenarios import Built, TestBuilder, build_interaction
from normgym_envs.types import Norm

FIRST_SEED = 10_000
"""Builder seed of the first norm; the next norm's is `SEED_STEP` higher."""
SEED_STEP = 100
TESTS = 3
"""Tests per norm and condition, one a group. Source: NG "Post-interaction Evaluation"."""

Report = Callable[[str, Built], None]
"""Is told of every built episode: norm id, and what it took."""


class BuiltSuite(NamedTuple):
    """A suite and the candidates that were refused on the way."""

    suite: Suite
    rejected: dict[str, dict[str, list[str]]]  # norm id -> episode name -> reasons


def build_suite(name: str, report: Report | None = None) -> BuiltSuite:
    """Build a suite by name; equal code gives equal bytes.

    Args:
        name: one of `BUILDERS`.
        report: called after each episode.

    Raises:
        UnknownNameError: no such suite.
        ScenarioError: an episode could not be built.
    """
    if name not in BUILDERS:
        raise UnknownNameError("suite", name, BUILDERS)
    specs = []
    rejected: dict[str, dict[str, list[str]]] = {}
    for norm, built in BUILDERS[name]():
        specs.append(built.spec)
        rejected.setdefault(norm.id, {})[built.spec.name] = list(built.rejected)
        if report is not None:
            report(norm.id, built)
    return BuiltSuite(make_suite(name, 1, specs), rejected)


def build_norm(norm: Norm, row: int, unseen: str | None = None) -> Iterator[Built]:
    """Build one norm's interaction and tests.

    Seeds are s for the interaction, s + 1 to s + 3 on the same layout, s + 4 to s + 6 on another;
    each condition has the newcomer in each group once, in a seeded order.
    Source: NG App. "Evaluation Protocol".

    Args:
        norm: the norm.
        row: its place in the suite.
        unseen: layout of the tests in another place, None for none.
    """
    seed = FIRST_SEED + SEED_STEP * row
    groups = np.random.default_rng(seed).permuted([list(Group)] * 2, axis=1)
    library = load_norms()
    cafe = get_layout("cafe")
    yield build_interaction(cafe, norm, library, 1, seed)
    places = [("seen", cafe)] + ([] if unseen is None else [("unseen", get_layout(unseen))])
    for condition, (phase, layout) in enumerate(places):
        builder = TestBuilder(layout, norm, library)
        for number in range(1, TESTS + 1):
            group = int(groups[condition, number - 1])
            yield builder.build(phase, number, group, seed + TESTS * condition + number)


def _build_cafe() -> Iterator[tuple[Norm, Built]]:
    """All norms of the library on the café: one interaction and three tests each."""
    for row, norm in enumerate(load_norms()):
        for built in build_norm(norm, row):
            yield norm, built


BUILDERS: dict[str, Callable[[], Iterator[tuple[Norm, Built]]]] = {"cafe": _build_cafe}
"""Suites that can be built, by name."""
