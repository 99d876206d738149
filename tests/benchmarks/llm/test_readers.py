"""Readers that know nothing but the prompts, through the whole path: prompts, memory, protocol."""

import asyncio
import time
from collections.abc import Sequence

import pytest

from agents.llm import Completion, Message, NewcomerSettings, make_backend
from benchmarks.llm.ledger import Ledger
from benchmarks.llm.session import Session
from benchmarks.llm.setup import LLMSetup
from benchmarks.llm.turns import shorten
from benchmarks.runner import Run, select_groups
from benchmarks.suite import load_suite


def read(kind: str, suite_name: str, settings: NewcomerSettings, limit: int | None = None) -> Run:
    """Play a suite with a reader that runs where no engine can be imported."""
    suite = load_suite(suite_name)
    setup = LLMSetup(f"callable:reader_process:{kind}", settings)
    groups = setup.choose(select_groups(suite, [], [], "all"), limit)
    with Session(setup, suite, groups) as session:
        return asyncio.run(session.play(make_backend(setup.backend_name)))


def test_who_reads_the_norm_keeps_it_and_arrives() -> None:
    settings = NewcomerSettings(modality="text", known_norm=True, interaction=False)
    tests = [record for record in read("obey", "smoke", settings).records]
    assert len(tests) == 8
    assert [record.joint for record in tests] == [1.0] * 8


def test_who_takes_no_notice_of_norms_arrives_and_breaks_them() -> None:
    settings = NewcomerSettings(modality="text", interaction=False)
    tests = [record for record in read("ignore", "smoke", settings).records]
    assert [record.joint for record in tests] == [0.0] * 8
    assert sum(record.task for record in tests) == 8.0


@pytest.mark.slow
def test_a_whole_visit_of_two_hundred_turns_is_read_too() -> None:
    result = read("ignore", "smoke", NewcomerSettings(modality="text"), limit=1)
    (visit,) = result.episodes("interaction")
    assert visit.turns == 200
    assert visit.newcomers > 1  # several persons, one memory
    assert visit.belief is not None
    assert all(record.belief == visit.belief for record in result.episodes("seen"))
    assert not result.errors


class Instant:
    """Waits, at once."""

    name, images, context_tokens, max_tokens = "instant", True, None, 100

    async def generate(self, messages: Sequence[Message]) -> Completion:
        """Answer."""
        await asyncio.sleep(0)
        return Completion('{"reasoning": "I look.", "action": "wait", "belief": "?"}')


@pytest.mark.parametrize("modality", ["text", "image+text"])
def test_our_own_work_is_a_few_milliseconds_a_decision(modality) -> None:
    suite = shorten(load_suite("main"), None, 5)
    setup = LLMSetup("scripted:", NewcomerSettings(modality=modality, interaction=False))
    groups = setup.choose(select_groups(suite, [], [], "all"), 20)
    best = 1e9
    for _ in range(3):
        ledger = Ledger()
        with Session(setup, suite, groups, ledger=ledger, max_episodes=64) as session:
            start = time.process_time()
            asyncio.run(session.play(Instant()))
        spent = 1000 * (time.process_time() - start) / ledger.asked
        best = min(best, spent)
        if best < 5:
            break
    # processor time of everything, engines included; the command prints wall-clock time
    assert best < 5
    assert ledger.asked > 500
    assert ledger.own_ms is not None
