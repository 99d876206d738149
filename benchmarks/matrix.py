"""The wrong-norm matrix: an oracle that believes one norm plays the tests of another.

It shows whether the tests of a norm can be passed by somebody who follows another one.
"""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks.suite import Suite
from normgym_envs.constants import FAMILIES, TEST_PHASES, Driver, Ending
from normgym_envs.engine import BatchEngine
from normgym_envs.protocol.equivalence import find_implied_norms
from normgym_envs.protocol.newcomers import play_newcomers
from normgym_envs.types import Norm

CHUNK = 512
"""Rows of the engine; results do not depend on it."""


class Matrix(NamedTuple):
    """Joint success by believed and true norm."""

    norms: tuple[str, ...]  # ids, rows and columns
    families: tuple[str, ...]  # family of each
    joint: npt.NDArray[np.float64]  # (n, n) percent of a norm's tests, rows believed, columns true
    task: npt.NDArray[np.float64]  # (n, n) percent
    num_tests: npt.NDArray[np.int64]  # (n,) tests of each true norm
    implied: npt.NDArray[np.bool_]  # (n, n) whoever keeps the believed norm keeps the true one


def play_matrix(suite: Suite, on_episodes: Callable[[int], None] | None = None) -> Matrix:
    """Play every test of a suite under every norm of the suite as the newcomer's belief.

    Args:
        suite: its tests are played; each test must be about one norm.
        on_episodes: told how many episodes have just ended.

    Returns:
        The matrix; norms in the suite's order.
    """
    ids = tuple(norm.id for norm in suite.norms)
    tests = [spec for spec in suite.specs if spec.phase in TEST_PHASES]
    jobs = [(spec, believed) for spec in tests for believed in ids]
    joint = np.zeros((len(ids), len(ids)))
    task = np.zeros_like(joint)
    counts = np.zeros(len(ids), np.int64)
    for spec in tests:
        counts[ids.index(spec.norms[0])] += 1
    engine = BatchEngine(suite.layouts(), suite.norms, min(CHUNK, len(jobs)))
    for first in range(0, len(jobs), engine.num_rows):
        chunk = jobs[first : first + engine.num_rows]
        engine.states["ending"] = Ending.TRUNCATED
        for row, (spec, believed) in enumerate(chunk):
            drivers = (int(Driver.NORM_AWARE), *spec.drivers[1:])
            engine.load(row, spec, drivers=drivers, believed=(believed,))
        outcome = play_newcomers(engine)
        for row, (spec, believed) in enumerate(chunk):
            place = ids.index(believed), ids.index(spec.norms[0])
            joint[place] += outcome.passed[row]
            task[place] += outcome.goals[row] / 2
        if on_episodes is not None:
            on_episodes(len(chunk))
    families = tuple(norm.family for norm in suite.norms)
    implied = _find_implied(engine, suite, ids)
    return Matrix(ids, families, 100 * joint / counts, 100 * task / counts, counts, implied)


def _find_implied(engine: BatchEngine, suite: Suite, ids: tuple[str, ...]) -> npt.NDArray[np.bool_]:
    """Return which beliefs imply which norms on every layout on which the norm is tested."""
    implied = np.ones((len(ids), len(ids)), np.bool_)
    seen: dict[tuple[str, int], npt.NDArray[np.bool_]] = {}
    for spec in suite.specs:
        if spec.phase not in TEST_PHASES:
            continue
        key = (spec.layout, spec.num_slots)
        if key not in seen:
            layout = next(place for place in engine.layouts if place.name == spec.layout)
            seen[key] = find_implied_norms(engine, layout, spec.num_slots)
        true = ids.index(spec.norms[0])
        implied[:, true] &= seen[key][:, true]
    for believed, first in enumerate(suite.norms):
        for true, second in enumerate(suite.norms):
            implied[believed, true] |= implies_in_time(first, second)
    return implied


def implies_in_time(believed: Norm, true: Norm) -> bool:
    """Return whether whoever keeps one norm about turns from its arrival on keeps another.

    Random states do not show it: somebody who moves on even turns only never has a streak of two.
    """
    kinds = ("turn_residues", "move_wait")
    if believed.kind not in kinds or true.kind not in kinds or believed.scope != true.scope:
        return False
    cycle = math.lcm(*(int(norm.parameters.get("modulus", 1)) for norm in (believed, true)))
    longest = max(int(norm.parameters.get("moves", 0)) for norm in (believed, true))
    open_states = [(turn, 0) for turn in range(cycle)]
    seen = set(open_states)
    while open_states:
        turn, streak = open_states.pop()
        following = [((turn + 1) % cycle, 0)]
        if _permits(believed, turn, streak):
            if not _permits(true, turn, streak):
                return False
            following.append(((turn + 1) % cycle, min(streak + 1, longest)))
        for state in following:
            if state not in seen:
                seen.add(state)
                open_states.append(state)
    return True


def _permits(norm: Norm, turn: int, streak: int) -> bool:
    if norm.kind == "move_wait":
        return streak < int(norm.parameters["moves"])
    return turn % int(norm.parameters["modulus"]) in norm.parameters["residues"]


def summarise(matrix: Matrix) -> dict[str, Any]:
    """Return the matrix' key figures: percent, and the pairs that pass every test.

    Returns:
        `diagonal_min`; `within` and `across`, means over wrong pairs of one and of two families;
        `within_by_family`; `full`, wrong pairs at 100 as (believed, true, whether the belief
        implies the norm).
    """
    size = len(matrix.norms)
    wrong = ~np.eye(size, dtype=bool)
    family = np.array(matrix.families)
    same = family[:, None] == family[None, :]
    full = np.argwhere(wrong & (matrix.joint == 100))
    return {
        "diagonal_min": float(matrix.joint.diagonal().min()),
        "within": _mean(matrix.joint[wrong & same]),
        "across": _mean(matrix.joint[wrong & ~same]),
        "within_by_family": {
            name: _mean(matrix.joint[wrong & same & (family == name)[:, None]]) for name in FAMILIES
        },
        "full": [[matrix.norms[i], matrix.norms[j], bool(matrix.implied[i, j])] for i, j in full],
    }


def _mean(values: npt.NDArray[np.float64]) -> float:
    return float(values.mean()) if len(values) else 0.0


def to_json(matrix: Matrix) -> dict[str, Any]:
    """Return the matrix as JSON values."""
    return {
        "norms": list(matrix.norms),
        "families": list(matrix.families),
        "joint": matrix.joint.round(4).tolist(),
        "task": matrix.task.round(4).tolist(),
        "num_tests": matrix.num_tests.tolist(),
        **summarise(matrix),
    }


def draw_matrix(matrix: Matrix, path: Path) -> None:
    """Draw the matrix as a picture.

    Args:
        matrix: what to draw.
        path: a .png file.
    """
    from matplotlib.figure import Figure

    size = len(matrix.norms)
    figure = Figure(figsize=(2.6 + 0.19 * size, 2.2 + 0.19 * size), layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(matrix.joint, cmap="cividis", vmin=0, vmax=100)
    axes.set_xticks(range(size), matrix.norms, rotation=90, fontsize=6.5)
    axes.set_yticks(range(size), matrix.norms, fontsize=6.5)
    axes.set_xlabel("norm in force")
    axes.set_ylabel("norm believed")
    for border in _borders(matrix.families):
        axes.axhline(border - 0.5, color="white", linewidth=1.2)
        axes.axvline(border - 0.5, color="white", linewidth=1.2)
    bar = figure.colorbar(image, ax=axes, shrink=0.6, pad=0.01)
    bar.set_label("joint success (% of tests)")
    figure.savefig(path, dpi=130)


def _borders(families: Sequence[str]) -> list[int]:
    """Return where one family ends and the next begins."""
    return [i for i in range(1, len(families)) if families[i] != families[i - 1]]
