"""Episodes side by side, their records, and what is left of them after failures."""

import asyncio
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from llm_policies import wander
from small_suite import build_small_suite

from agents.llm import Completion, Message, NewcomerSettings, Usage
from benchmarks.llm.decisions import read_decisions
from benchmarks.llm.ledger import BudgetError, Ledger
from benchmarks.llm.pricing import Price
from benchmarks.llm.session import Session
from benchmarks.llm.setup import LLMSetup
from benchmarks.records import ErrorRecord
from benchmarks.replay import TraceFolder, check_folder
from benchmarks.runner import run, select_groups
from benchmarks.suite import Suite
from normgym_envs.errors import ConfigError, RecordError


class Wanderer:
    """Answers by a hash of the prompt, after some turns of the loop; counts what it is asked."""

    name, images, context_tokens, max_tokens = "wanderer", True, None, 100

    def __init__(self, pauses: int = 0, fail: Sequence[int] = ()) -> None:
        """Take a break in every answer, and fail on some requests, counted from 0."""
        self.pauses, self.fail = pauses, set(fail)
        self.prompts: list[str] = []
        self.present = self.most = 0

    async def generate(self, messages: Sequence[Message]) -> Completion:
        """Answer."""
        text = "\n\n".join(message.text for message in messages)
        number = len(self.prompts)
        self.prompts.append(text)
        self.present += 1
        self.most = max(self.most, self.present)
        for _ in range(self.pauses):
            await asyncio.sleep(0)
        self.present -= 1
        if number in self.fail:
            return Completion("", stop="transport", error="the line is dead")
        return Completion(wander(text), usage=Usage(100, 40, 10, None), model="wanderer-1")


def test_many_episodes_are_in_flight_at_once(play) -> None:
    suite = build_small_suite(tests=16, steps=6)
    model = Wanderer(pauses=3)
    play(model, suite=suite, settings=NewcomerSettings(modality="text", interaction=False))
    assert model.most == 64  # 4 norms of 16 tests, every one of them waiting for its answer
    few = Wanderer(pauses=3)
    play(few, suite=suite, max_episodes=5)
    assert few.most == 5


def test_a_model_that_waits_leaves_the_records_of_the_agent_that_waits(
    short: Suite, play, tmp_path: Path
) -> None:
    class Waiting(Wanderer):
        async def generate(self, messages: Sequence[Message]) -> Completion:
            return Completion(json.dumps({"reasoning": "", "action": "wait"}))

    mine = play(Waiting()).records
    theirs = run("wait", short).records
    own = {"agent", "options", "belief", "beliefs"}
    assert len(mine) == len(theirs) == 6
    for one, other in zip(mine, theirs, strict=True):
        assert one.model_dump(exclude=own) == other.model_dump(exclude=own)


def test_the_last_belief_of_the_interaction_is_carried_into_its_tests(short: Suite, play) -> None:
    model = Wanderer()
    result = play(model)
    interactions = {r.norms: r for r in result.episodes("interaction")}
    assert len(interactions) == 2
    for record in result.episodes("seen"):
        belief = interactions[record.norms].belief
        assert belief is not None
        assert belief == interactions[record.norms].beliefs[-1]
        assert record.belief == belief
        assert record.beliefs == ()
        carried = [prompt for prompt in model.prompts if belief.text in prompt]
        assert len(carried) >= record.turns


def test_known_norm_and_no_interaction_play_the_tests_only(short: Suite, play) -> None:
    sentences = [norm.sentence for norm in short.norms]
    for settings, told in (
        (NewcomerSettings(modality="text", known_norm=True, interaction=False), True),
        (NewcomerSettings(modality="text", interaction=False), False),
    ):
        model = Wanderer()
        records = play(model, settings=settings).records
        assert {record.phase for record in records} == {"seen"}
        assert len(records) == 4
        assert all(record.belief is None for record in records)
        named = Counter(
            sentence for sentence in sentences for prompt in model.prompts if sentence in prompt
        )
        assert (sum(named.values()) == len(model.prompts)) is told
        assert told or not named


def test_an_outage_is_no_decision_and_costs_no_decision(play, tmp_path: Path) -> None:
    whole = Wanderer()
    expected = play(whole, tmp_path / "whole")
    broken = Wanderer(fail=range(5, 80, 7))
    first = play(broken, tmp_path / "broken")
    assert first.errors
    told = ("the line is dead", "not played, as")
    assert all(any(text in error.error for text in told) for error in first.errors)
    stored = dict(read_decisions(next((tmp_path / "broken" / "decisions").iterdir())))
    assert all(d.failure != "transport" for decisions in stored.values() for d in decisions)
    calls = len(broken.prompts) - len(broken.fail & set(range(len(broken.prompts))))
    for _ in range(5):
        model = Wanderer()
        ledger = Ledger()
        result = play(model, tmp_path / "broken", ledger=ledger)
        calls += len(model.prompts)
        if not result.errors:
            break
    assert result.records == expected.records
    assert calls == len(whole.prompts) == ledger.decisions
    # the prompts after the break are those of the run that nothing broke
    assert set(model.prompts) <= set(whole.prompts)
    paths = [next((tmp_path / name / "records").glob("*.jsonl")) for name in ("whole", "broken")]
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_tests_are_not_played_when_their_interaction_broke_off(play, tmp_path: Path) -> None:
    model = Wanderer(fail=[3])
    result = play(model, tmp_path)
    broken = [r for r in result.records if isinstance(r, ErrorRecord)]
    assert len(broken) == 3
    assert sum("not played, as" in r.error for r in broken) == 2
    assert len(result.episodes("seen")) == 2


def test_a_torn_last_decision_is_asked_again(play, tmp_path: Path) -> None:
    whole = Wanderer()
    expected = play(whole, tmp_path)
    folder = next((tmp_path / "decisions").iterdir())
    for path in (tmp_path / "records").glob("*.jsonl"):
        path.unlink()
    paths = sorted(folder.glob("*.jsonl"))
    for path in paths:
        path.write_bytes(path.read_bytes()[:-7])
    again = Wanderer()
    assert play(again, tmp_path).records == expected.records
    assert len(again.prompts) == len(paths) == 6
    assert set(again.prompts) <= set(whole.prompts)
    ledger = Ledger()
    ledger.read(folder)
    assert ledger.decisions == len(whole.prompts)


def test_decisions_on_other_prompts_are_refused(play, tmp_path: Path) -> None:
    expected = play(Wanderer(), tmp_path)
    for path in (tmp_path / "records").glob("*.jsonl"):
        path.unlink()
    folder = next((tmp_path / "decisions").iterdir())
    unasked = Wanderer()
    assert play(unasked, tmp_path).records == expected.records
    assert unasked.prompts == []
    for path in (tmp_path / "records").glob("*.jsonl"):
        path.unlink()
    victim = sorted(folder.glob("*.jsonl"))[0]
    lines = victim.read_bytes().splitlines(keepends=True)
    decision = json.loads(lines[2])
    lines[2] = lines[2].replace(decision["prompt_hash"].encode(), b"0123456789abcdef")
    victim.write_bytes(b"".join(lines))
    with pytest.raises(RecordError, match=r"answers another prompt \('0123456789abcdef'\)"):
        play(Wanderer(), tmp_path)


def test_decisions_of_another_run_are_refused(play, tmp_path: Path) -> None:
    play(Wanderer(), tmp_path)
    with pytest.raises(RecordError, match="belongs to another run: options is"):
        play(Wanderer(), tmp_path, max_tokens=99)
    for path in (tmp_path / "records").glob("*.jsonl"):
        path.unlink()
    folder = next((tmp_path / "decisions").iterdir())
    victim = sorted(folder.glob("*.jsonl"))[0]
    other = sorted(folder.glob("*.jsonl"))[1]
    victim.write_bytes(other.read_bytes())
    with pytest.raises(RecordError, match="belongs to another run: token is"):
        play(Wanderer(), tmp_path)


def test_money_stops_a_run_and_more_money_goes_on(play, tmp_path: Path) -> None:
    price = Price(input=10_000.0, output=0.0, cached=0.0)  # 60 fresh tokens a call: 0.6 dollars
    with pytest.raises(BudgetError, match=r"--max-cost is 3"):
        play(Wanderer(), tmp_path, ledger=Ledger(price, max_cost=3.0), max_episodes=1)
    spent = Ledger(price)
    spent.read(next((tmp_path / "decisions").iterdir()))
    assert spent.decisions == 5
    assert spent.cost == pytest.approx(3.0)
    model = Wanderer()
    result = play(model, tmp_path, ledger=Ledger(price, max_cost=1e9))
    assert result.records == play(Wanderer()).records


def test_money_cannot_be_kept_to_where_tokens_are_not_reported(play) -> None:
    class Silent(Wanderer):
        async def generate(self, messages: Sequence[Message]) -> Completion:
            return Completion("{}")

    with pytest.raises(BudgetError, match="does not report tokens"):
        play(Silent(), ledger=Ledger(Price(1.0, 1.0), max_cost=5.0))


def test_traces_prove_the_records(short: Suite, tmp_path: Path) -> None:
    setup = LLMSetup("callable:llm_policies:wander_at_once", NewcomerSettings(modality="text"))
    groups = setup.choose(select_groups(short, [], [], "all"))
    watch = TraceFolder(tmp_path, setup.make_config(short))
    with Session(setup, short, groups, watch=watch) as session:
        result = asyncio.run(session.play(Wanderer()))
    assert check_folder(tmp_path, result.episodes("seen")) == []


def test_a_fault_of_the_set_up_stops_everything(play) -> None:
    class Faulty(Wanderer):
        async def generate(self, messages: Sequence[Message]) -> Completion:
            raise ConfigError("no such model")

    with pytest.raises(ConfigError, match="no such model"):
        play(Faulty(pauses=1))
