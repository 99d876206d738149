"""A small suite, one-run helpers, and the stub server."""

import asyncio
from pathlib import Path

import pytest
from small_suite import build_small_suite

from agents.llm import Backend, NewcomerSettings
from benchmarks.llm.ledger import Ledger
from benchmarks.llm.session import Session
from benchmarks.llm.setup import LLMSetup
from benchmarks.runner import Run, select_groups
from benchmarks.suite import Suite

HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def _see_policies(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `callable:llm_policies:...` be found, here and in child processes."""
    monkeypatch.syspath_prepend(str(HERE))
    monkeypatch.setenv("PYTHONPATH", str(HERE))


@pytest.fixture(scope="session")
def short() -> Suite:
    """Return a suite of two norms with episodes of 12 turns."""
    return build_small_suite(norms=("all-exit-left", "bend-right-1"), steps=12)


@pytest.fixture
def play(short: Suite):
    """Return a function that plays the short suite with a model."""

    def call(
        backend: Backend,
        folder: Path | None = None,
        *,
        suite: Suite = short,
        settings: NewcomerSettings | None = None,
        ledger: Ledger | None = None,
        max_tokens: int = 100,
        **options: object,
    ) -> Run:
        shown = settings or NewcomerSettings(modality="text")
        setup = LLMSetup("scripted:", shown, max_tokens=max_tokens)
        groups = setup.choose(select_groups(suite, [], [], "all"))
        with Session(setup, suite, groups, folder=folder, ledger=ledger, **options) as session:
            return asyncio.run(session.play(backend))

    return call
