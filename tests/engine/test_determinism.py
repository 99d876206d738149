"""Same seed, same bytes: in any batch, process and mode of running, and from any snapshot."""

import copy
import hashlib
import os
import pickle
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from normgym_envs.engine import BatchEngine
from normgym_envs.engine.state import STATE_DTYPE
from normgym_envs.kernels.jit import hash_sources
from normgym_envs.layouts import get_layout
from normgym_envs.norms.library import list_norms, load_norms
from normgym_envs.protocol import draw_episode
from normgym_envs.types import EpisodeSpec

ROOT = Path(__file__).resolve().parents[2]


def make_engine(num_rows: int) -> BatchEngine:
    """Return an engine with an episode of another norm in every row."""
    engine = BatchEngine([get_layout("cafe")], load_norms(), num_rows)
    for row in range(num_rows):
        engine.load(row, draw_row(row))
    return engine


def draw_row(row: int) -> EpisodeSpec:
    """Return the episode of a row."""
    norm = list_norms()[row % 50]
    return draw_episode("cafe", norm, seed=row, num_learners=2, num_norm_blind=1, limit=300)


def choose_actions(turn: int, num_rows: int) -> np.ndarray:
    """Return outside actions that depend on turn and row alone."""
    rows = np.arange(num_rows)[:, None]
    return (7 * turn + 3 * rows + 5 * np.arange(10) + turn * rows) % 5


def play(num_rows: int, turns: int) -> BatchEngine:
    """Return an engine after some turns."""
    engine = make_engine(num_rows)
    for turn in range(turns):
        engine.step(choose_actions(turn, num_rows))
    return engine


def digest(turns: int = 40, num_rows: int = 20) -> str:
    """Return a hash of all states after some turns; also called in other processes."""
    return hashlib.sha256(play(num_rows, turns).states.tobytes()).hexdigest()


def digest_elsewhere(turns: int = 40, num_rows: int = 20, **environment: str) -> str:
    """Return `digest` from a process of its own."""
    code = f"from engine.test_determinism import digest; print(digest({turns}, {num_rows}))"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'tests'}", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_batch_of_one_equals_a_row_of_256() -> None:
    large = play(256, 60)
    for row in (0, 17, 43, 49, 255):
        single = BatchEngine([get_layout("cafe")], load_norms(), 1)
        single.load(0, draw_row(row))
        for turn in range(60):
            single.step(choose_actions(turn, 256)[row : row + 1])
        assert single.states[0].tobytes() == large.states[row].tobytes()


def test_rows_do_not_depend_on_their_neighbours() -> None:
    first, second = make_engine(4), make_engine(4)
    second.load(1, draw_row(30))  # another episode in row 1 only
    for turn in range(40):
        first.step(choose_actions(turn, 4))
        second.step(choose_actions(turn, 4))
    for row in (0, 2, 3):
        assert first.states[row].tobytes() == second.states[row].tobytes()
    assert first.states[1].tobytes() != second.states[1].tobytes()


def test_other_norms_in_the_engine_change_nothing() -> None:
    norm = load_norms()[13]
    few = BatchEngine([get_layout("cafe")], [norm], 1)
    many = BatchEngine([get_layout("cafe")], load_norms(), 1)
    spec = draw_episode("cafe", norm, seed=3, num_learners=1)
    for engine in (few, many):
        engine.load(0, spec)
        for turn in range(50):
            engine.step(choose_actions(turn, 1))
        engine.states["norms"] = -1  # indices differ
    assert few.states.tobytes() == many.states.tobytes()


def test_same_bytes_in_another_process() -> None:
    here = digest()
    assert digest() == here
    assert digest_elsewhere(PYTHONHASHSEED="1") == here
    assert digest_elsewhere(PYTHONHASHSEED="2", NUMBA_NUM_THREADS="1") == here


@pytest.mark.slow
def test_same_bytes_without_the_compiler() -> None:
    here = digest(3, 2)
    # Plain NumPy scalars warn about the overflow that 64-bit mixing is made of.
    assert digest_elsewhere(3, 2, NUMBA_DISABLE_JIT="1") == here


@pytest.mark.slow
def test_no_access_is_out_of_bounds(tmp_path: Path) -> None:
    here = digest(60, 50)
    checked = {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    assert digest_elsewhere(60, 50, **checked) == here


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))])
def test_copied_states_go_on_equally(duplicate: Callable[[np.ndarray], np.ndarray]) -> None:
    original = play(5, 25)
    other = make_engine(5)
    other.states[:] = duplicate(original.states)
    for turn in range(25, 60):
        original.step(choose_actions(turn, 5))
        other.step(choose_actions(turn, 5))
        assert original.states.tobytes() == other.states.tobytes()


def test_a_snapshot_can_be_taken_back() -> None:
    engine = play(5, 25)
    snapshot = engine.states.copy()
    ends = []
    for _ in range(2):
        engine.states[:] = snapshot
        for turn in range(25, 50):
            engine.step(choose_actions(turn, 5))
        ends.append(engine.states.tobytes())
    assert ends[0] == ends[1]


def test_planning_changes_nothing() -> None:
    engine = play(5, 25)
    before = engine.states.tobytes()
    first = engine.plan()
    second = engine.plan()
    assert engine.states.tobytes() == before
    assert all((a == b).all() for a, b in zip(first, second, strict=True))


def test_the_cache_follows_every_source(tmp_path: Path) -> None:
    package = ROOT / "normgym_envs"
    root = tmp_path / "normgym_envs"
    shutil.copytree(package, root, ignore=shutil.ignore_patterns("__pycache__"))
    before = hash_sources(root)
    assert before == hash_sources(package)
    names = ("kernels/rng.py", "norms/kinds.py", "engine/search.py", "engine/boards.py")
    hashes = {before}
    for name in names:
        path = root / name
        path.write_text(path.read_text(encoding="utf-8") + "# edited\n", encoding="utf-8")
        hashes.add(hash_sources(root))
    (root / "engine" / "new.py").write_text('"""New."""\n', encoding="utf-8")
    hashes.add(hash_sources(root))
    assert len(hashes) == len(names) + 2
    (root / "cli.py").write_text("# not compiled\n", encoding="utf-8")
    assert hash_sources(root) in hashes


def test_every_byte_of_a_state_belongs_to_a_field() -> None:
    """NumPy leaves gaps between fields undefined when it copies."""
    covered = sum(STATE_DTYPE.fields[name][0].itemsize for name in STATE_DTYPE.names)
    assert covered == STATE_DTYPE.itemsize
    assert STATE_DTYPE.isalignedstruct
