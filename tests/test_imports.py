"""Who imports whom, and what `import normgym_envs` leaves alone."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
OPTIONAL = (
    "agents",
    "benchmarks",
    "matplotlib",
    "pygame",
    "ray",
    "stable_baselines3",
    "torch",
    "transformers",
)


def test_import_contracts_hold() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as c; c()"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("module", ["normgym_envs", "normgym_envs.cli", "normgym_envs.engine"])
def test_core_imports_nothing_optional(module: str) -> None:
    code = f"import sys, {module}; print([m for m in {OPTIONAL!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("package", ["normgym_envs", "agents", "training", "benchmarks"])
def test_packages_are_those_of_this_project(package: str) -> None:
    # Another distribution installs a package called `agents` too.
    spec = find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    assert Path(spec.origin).resolve() == ROOT / package / "__init__.py"
    assert (ROOT / package / "py.typed").exists()
