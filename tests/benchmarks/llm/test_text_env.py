"""The text environment: one seat, replies in, prompts and points out."""

import dataclasses
import json

import pytest
from reader_process import ignore, obey

from benchmarks.llm.text_env import TextEnv
from benchmarks.suite import Suite, load_suite, make_suite
from normgym_envs.errors import ConfigError, SeedError, StateError, UnknownNameError

WAIT = json.dumps({"reasoning": "", "action": "wait"})


def play(env: TextEnv, seed: int, reader) -> tuple[float, dict, int]:
    """Play an episode with a reader of whole prompts; return points, last info and replies."""
    env.reset(seed=seed)
    total, replies, done, info = 0.0, 0, False, {}
    while not done:
        text = reader("\n\n".join(message.text for message in env.messages))
        _, reward, terminated, truncated, info = env.step(text)
        total, replies, done = total + reward, replies + 1, terminated or truncated
    return total, info, replies


def test_who_obeys_is_paid_and_who_does_not_is_sanctioned() -> None:
    env = TextEnv("smoke", known_norm=True)
    assert env.episodes == 8
    for seed in range(2):
        points, info, replies = play(env, seed, obey)
        assert info["joint"] == info["task"] == 1.0
        assert 0 < points < 20
        less, broken, _ = play(env, seed, ignore)
        assert broken["joint"] == 0.0
        assert less <= points - 19  # twenty points a violation, and a shorter way
        assert 5 < replies < 100


def test_seeds_choose_episodes_and_nothing_else(short: Suite) -> None:
    env, other = TextEnv(short), TextEnv(short)
    assert env.episodes == 4
    prompts = [env.reset(seed)[0] for seed in range(4)]
    assert len(set(prompts)) == 4
    assert [other.reset(seed)[0] for seed in (7, 4, 1)] == [prompts[3], prompts[0], prompts[1]]
    assert env.reset()[0] == prompts[0]
    truncated = False
    while not truncated:
        _, _, terminated, truncated, _ = env.step(WAIT)
        assert not terminated
    with pytest.raises(StateError, match="call reset first"):
        env.step(WAIT)


def test_an_unreadable_reply_is_played_as_waiting_and_named(short: Suite) -> None:
    env, other = TextEnv(short), TextEnv(short)
    env.reset(1)
    other.reset(1)
    for text, failure in (("I would go left or right", "parse"), ("", "parse")):
        _, reward, _, _, info = env.step(text)
        assert info["failure"] == failure
        assert reward == other.step(WAIT)[1]
    assert env.messages[-1].text != ""


def test_interactions_are_offered_with_their_own_form(short: Suite) -> None:
    env = TextEnv(short, phases=("interaction",))
    prompt, info = env.reset(0)
    assert '"belief"' in prompt
    assert len(info["episode"]) == 16
    assert env.token(0) == info["episode"] != env.token(1)
    assert not any(norm in prompt for spec in short.specs for norm in spec.norms)


def test_a_norm_that_changes_cannot_be_told(short: Suite) -> None:
    tested = next(i for i, spec in enumerate(short.specs) if spec.phase == "seen")
    specs = list(short.specs)
    specs[tested] = dataclasses.replace(specs[tested], norms_after=("bend-right-1",), change_turn=4)
    suite = make_suite("turning", 1, specs)
    with pytest.raises(ConfigError, match="changes its norm in mid-episode"):
        TextEnv(suite, known_norm=True)
    assert TextEnv(suite).reset(0)
    assert TextEnv(suite, phases=("interaction",), known_norm=True).reset(0)


def test_what_there_is_not_is_refused(short: Suite) -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'seen'"):
        TextEnv(short, phases=("sen",))
    with pytest.raises(ConfigError, match="has no episode of unseen"):
        TextEnv(short, phases=("unseen",))
    with pytest.raises(StateError, match="call reset first"):
        TextEnv(short).step(WAIT)
    with pytest.raises(SeedError):
        TextEnv(short).reset(-1)
    assert TextEnv("finetune").episodes <= len(load_suite("finetune").specs)
