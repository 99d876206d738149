"""A small suite, and the command as a function."""

import sys

import pytest
from small_suite import build_small_suite

from benchmarks.suite import Suite
from normgym_envs import cli


@pytest.fixture(scope="session")
def suite() -> Suite:
    """Return a suite that plays in a moment."""
    return build_small_suite()


@pytest.fixture
def normgym(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Return a function that runs the command here: exit status, output, error output."""

    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["normgym", *map(str, arguments)])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        captured = capsys.readouterr()
        return int(stop.value.code or 0), captured.out, captured.err

    return call
