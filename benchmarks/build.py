"""Builds the suites that ship. Running a suite never needs this module.

A suite's seeds, phases and layouts are stated here; how an episode is drawn and verified is the
business of `normgym_envs.protocol.scenarios`.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.suite import Suite, load_suite, make_suite
from normgym_envs.constants import FAMILIES, Group
from normgym_envs.errors import ConfigError, ScenarioError, UnknownNameError
from normgym_envs.layouts import MAIN_LAYOUTS, VARIANTS, get_layout
from normgym_envs.norms.library import bound_groups, load_norms
from normgym_envs.norms.parameters import KINDS
from normgym_envs.protocol.generator import generate_norms, list_possible_norms
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
    """A suite and what it took to build it."""

    suite: Suite
    tried: dict[str, list[Built]]  # norm id -> its episodes in order


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
    tried: dict[str, list[Built]] = {}
    for norm, built in BUILDERS[name]():
        tried.setdefault(norm.id, []).append(built)
        if report is not None:
            report(norm.id, built)
    specs = [built.spec for episodes in tried.values() for built in episodes]
    return BuiltSuite(make_suite(name, 1, specs), tried)


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


def _build_main() -> Iterator[tuple[Norm, Built]]:
    """All norms: one interaction and three tests on the café, three tests in another place."""
    for row, (norm, place) in enumerate(zip(load_norms(), assign_places(), strict=True)):
        for built in build_norm(norm, row, place):
            yield norm, built


def _build_rl() -> Iterator[tuple[Norm, Built]]:
    """All norms: twelve tests on the café and on each of its variants, for learners' validation.

    Source: NG App. "Algorithm and settings" (12 episodes a norm on the café and on each of two
    modified cafés). The first valid candidate is taken.
    """
    places = [("seen", "cafe"), *(("unseen", name) for name in VARIANTS)]
    for row, norm in enumerate(load_norms()):
        seed = RL_SEED + SEED_STEP * row
        numbers: Counter[str] = Counter()
        for phase, name in places:
            builder = TestBuilder(get_layout(name), norm, [])
            for _ in range(RL_TESTS):
                numbers[phase] += 1
                seed += 1
                group = numbers[phase] % len(Group)
                yield norm, builder.build(phase, numbers[phase], group, seed, compare=False)


RL_SEED = 500_000
"""Builder seed of the suite `rl`; apart from the other suites'."""
RL_TESTS = 12


def assign_places() -> tuple[str, ...]:
    """Return the other place of each norm of the library, in turn within each family.

    Source: NG App. "Unseen-layout evaluation" (one place a norm, nine places in all); which norm
    has which place is not specified there.
    """
    others = MAIN_LAYOUTS[1:]
    seen: Counter[str] = Counter()
    places = []
    for norm in load_norms():
        places.append(others[seen[norm.family] % len(others)])
        seen[norm.family] += 1
    return tuple(places)


BUILDERS: dict[str, Callable[[], Iterator[tuple[Norm, Built]]]] = {
    "main": _build_main,
    "rl": _build_rl,
}
"""Suites that are built, by name."""

FRESH = "fresh:"
"""Prefix of suites of generated norms, as in fresh:SEED:N."""


def open_suite(name: str | Path) -> Suite:
    """Return a stored suite, or build a fresh one.

    Args:
        name: as `load_suite` takes it, or "fresh:SEED:N" for N norms generated from a seed.

    Raises:
        UnknownNameError: no such suite.
        ConfigError: malformed name of a fresh suite.
        RecordError: a stored suite is damaged.
    """
    if not str(name).startswith(FRESH):
        return load_suite(name)
    seed, _, count = str(name).removeprefix(FRESH).partition(":")
    if not (seed.isdigit() and count.isdigit() and int(count) > 0):
        raise ConfigError(f'suite {str(name)!r}; expected "fresh:SEED:N", e.g. "fresh:7:20"')
    return build_fresh(int(seed), int(count))


@lru_cache(maxsize=4)
def build_fresh(seed: int, count: int) -> Suite:
    """Build a suite of generated norms: nobody can have seen it before.

    Each norm gets an interaction and a test on the café and a test elsewhere, the newcomer in a
    group that the norm binds. Norms for which no interaction or test can be built are replaced.

    Args:
        seed: public seed of norms and episodes, [0, 2**63].
        count: number of norms.

    Raises:
        ConfigError: fewer norms than that can be generated.
    """
    kinds = [kind for kind in KINDS if list_possible_norms(kind)]
    total = sum(len(list_possible_norms(kind)) for kind in kinds)
    if count > total:
        raise ConfigError(f"{count} fresh norms; at most {total} can be generated")
    rng = np.random.default_rng(seed)
    candidates = list(generate_norms(seed, min(total, 3 * count + 20)))
    order = rng.permutation(len(candidates))
    chosen: list[Norm] = []
    specs = []
    for place in order:
        norm = candidates[place]
        own_seed = int(rng.integers(2**62))
        try:
            built = list(_build_fresh_norm(norm, own_seed))
        except ScenarioError:
            continue
        chosen.append(norm)
        specs += [episode.spec for episode in built]
        if len(chosen) == count:
            break
    if len(chosen) < count:
        raise ConfigError(f"only {len(chosen)} of {count} fresh norms could be given episodes")
    return make_suite(f"fresh-{seed}-{count}", 1, specs, chosen)


def _build_fresh_norm(norm: Norm, seed: int) -> Iterator[Built]:
    """Build the episodes of one generated norm."""
    rng = np.random.default_rng(seed)
    library = (*load_norms(), norm)
    cafe = get_layout("cafe")
    elsewhere = get_layout(str(rng.choice(MAIN_LAYOUTS[1:])))
    groups = bound_groups(norm)
    yield build_interaction(cafe, norm, library, 1, seed)
    for phase, layout in (("seen", cafe), ("unseen", elsewhere)):
        group = int(rng.choice(groups))
        seed += 1
        yield TestBuilder(layout, norm, library).build(phase, 1, group, seed)


HUMAN_NORMS = (6, 5, 8, 6)
"""Norms per family that people play. Source: NG App. "Human Participants"."""
LITE_NORMS = 3
"""Norms per family of the suite `lite`; the first that differ in kind where there are such."""


def derive_suite(name: str, main: Suite) -> Suite:
    """Return one of the suites whose episodes are some of `main`'s, as they stand there.

    * `cafe`: all norms, interactions and the tests on the café.
    * `lite`: three norms a family, an interaction and one test in each condition.
    * `smoke`: one norm a family, the same.
    * `human`: 25 norms, 6, 5, 8 and 6 by family, with all their episodes.
    * `finetune`: the 17 held-out norms, with all their episodes.

    Args:
        name: one of `DERIVED`.
        main: the suite to choose from.

    Raises:
        UnknownNameError: no such suite.
    """
    if name not in DERIVED:
        raise UnknownNameError("suite", name, DERIVED)
    by_family = {family: [n for n in main.norms if n.family == family] for family in FAMILIES}
    if name == "cafe":
        chosen = {norm.id for norm in main.norms}
    elif name == "finetune":
        chosen = {norm.id for norm in main.norms if norm.split == "held-out"}
    else:
        counts = {"lite": (LITE_NORMS,) * 4, "smoke": (1,) * 4, "human": HUMAN_NORMS}[name]
        chosen = {
            norm.id
            for norms, count in zip(by_family.values(), counts, strict=True)
            for norm in _spread(norms, count)
        }
    one_each = name in ("lite", "smoke")
    specs = [
        spec
        for spec in main.specs
        if spec.norms[0] in chosen
        and (name != "cafe" or spec.phase != "unseen")
        and (not one_each or spec.phase == "interaction" or spec.name.endswith("-1"))
    ]
    return make_suite(name, main.version, specs)


def _spread(norms: list[Norm], count: int) -> list[Norm]:
    """Return norms of as many kinds as possible, earlier rows first."""
    kinds: dict[str, list[Norm]] = {}
    for norm in norms:
        kinds.setdefault(norm.kind, []).append(norm)
    chosen: list[Norm] = []
    while len(chosen) < count:
        for pool in kinds.values():
            if pool and len(chosen) < count:
                chosen.append(pool.pop(len(pool) // 2))
    return chosen


DERIVED = ("cafe", "lite", "smoke", "human", "finetune")
"""Suites that are parts of `main`."""
