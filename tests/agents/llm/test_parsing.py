"""Replies are read as the corpus says; nothing that a model says breaks a reader or a log."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from agents.llm import Completion, Decision
from agents.llm.asking import make_decision
from agents.llm.grid.actions import ACTION_FORMAT, ACTION_NAMES, INTERACTION_FORMAT, SYNONYMS
from agents.llm.parsing import ReplyFormat, fold, parse_reply, read_completion
from agents.llm.sanitise import MAX_LENGTH, sanitise, shorten
from normgym_envs.constants import Action
from normgym_envs.errors import ConfigError

CORPUS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("replies.json").read_text())


def decide(completion: Completion) -> Decision:
    return make_decision(completion, INTERACTION_FORMAT, turn=3, prompts="p", prompt_hash="h")


@pytest.mark.parametrize("case", CORPUS, ids=[case["name"] for case in CORPUS])
def test_corpus(case: dict[str, Any]) -> None:
    form = ACTION_FORMAT if case.get("test") else INTERACTION_FORMAT
    reply = read_completion(Completion(case["reply"], stop=case.get("stop", "stop")), form)
    failure = case.get("failure", "")
    assert reply.failure == failure
    expected = Action.WAIT if failure else ACTION_NAMES.index(case["action"])
    assert reply.choice == expected
    assert reply.belief == case.get("belief")
    assert reply.confidence == case.get("confidence")
    assert case.get("detail", "") in reply.detail
    assert bool(failure) == (case["action"] is None)


def test_corpus_is_large_and_unique() -> None:
    assert len(CORPUS) >= 100
    assert len({case["reply"] + case.get("stop", "") for case in CORPUS}) >= 100


@pytest.mark.parametrize("case", CORPUS, ids=[case["name"] for case in CORPUS])
def test_decisions_survive_a_log(case: dict[str, Any]) -> None:
    decision = decide(Completion(case["reply"], reasoning=case["reply"]))
    line = decision.model_dump_json()
    assert "\n" not in line
    line.encode("utf-8")
    assert Decision.model_validate_json(line) == decision
    json.dumps(decision.model_dump(), ensure_ascii=False).encode("utf-8")


@pytest.mark.parametrize(
    "text",
    [
        "a" * 10_000_000,
        "{" * 10_000_000,
        '{"k":' * 2_000_000,
        '{"a": "' * 1_000_000,
        "{'a': [" * 1_000_000,
        "[" * 5_000_000,
        "<think>" * 1_000_000,
        '{"action": "move up"}' + " " * 10_000_000,
    ],
    ids=["letters", "braces", "objects", "strings", "quotes", "brackets", "tags", "blanks"],
)
def test_huge_replies_are_read_in_time(text: str) -> None:
    start = time.perf_counter()
    decision = decide(Completion(text))
    assert time.perf_counter() - start < 10  # seconds; the worst takes about 1
    assert decision.failure == "parse"
    assert len(decision.completion) < MAX_LENGTH + 200


def test_the_end_of_a_long_reply_is_read() -> None:
    answer = '{"action": "move up", "belief": "b", "confidence": 1}'
    assert decide(Completion("{x} " * 100_000 + answer)).action == Action.UP
    assert decide(Completion("I wonder. " * 1_000_000 + answer)).action == Action.UP


def test_a_long_belief_is_cut() -> None:
    reply = json.dumps({"action": "wait", "belief": "b" * 50_000, "confidence": 1})
    belief = decide(Completion(reply)).belief
    assert belief is not None
    assert 3_000 < len(belief) < 5_000


def test_sanitise_keeps_what_is_harmless() -> None:
    text = "Größe 不要 \U0001f600\tand\nmore"
    assert sanitise(text) == text
    assert sanitise("a\r\nb\rc") == "a\nb\nc"
    assert sanitise("\x00\x1b\ud800\udfff\u202e\u2028") == "\ufffd" * 6
    assert shorten("a\n b", 10) == "a b"
    assert shorten("abc def", 3) == "abc..."


def test_synonyms_are_folded_and_unambiguous() -> None:
    names = [fold(name) for name in ACTION_NAMES]
    for wording, index in SYNONYMS.items():
        assert fold(wording) == wording
        assert wording not in names or names.index(wording) == index
    for name in ("up", "down", "left", "right"):
        opposite = {"up": "down", "down": "up", "left": "right", "right": "left"}[name]
        assert SYNONYMS[name] != SYNONYMS[opposite]


def test_formats_are_checked() -> None:
    with pytest.raises(ConfigError, match="fallback is 2"):
        ReplyFormat(("a", "b"), 2, {})
    with pytest.raises(ConfigError, match="synonym 'Up' -> 0: expected 'up'"):
        ReplyFormat(("a", "b"), 0, {"Up": 0})


def test_other_fields_and_choices() -> None:
    form = ReplyFormat(("buy", "sell", "hold"), 2, {"acquire": 0}, choice_field="trade")
    assert parse_reply('{"trade": "Acquire", "action": "sell"}', form).choice == 0
    assert parse_reply('{"action": "sell"}', form).failure == "parse"
    assert parse_reply('{"action": "sell"}', form).choice == 2
