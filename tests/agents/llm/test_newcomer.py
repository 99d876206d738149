"""The newcomer asks, remembers, believes and replays; no failure of a model becomes a move."""

import asyncio
import dataclasses
import json
import time
from collections.abc import Sequence

import numpy as np
import pytest
from llm_worlds import PICTURE, TEXT, World, is_asked, join, live

from agents.base import AgentContext, Belief
from agents.llm import (
    Completion,
    ContextError,
    Decision,
    LLMNewcomer,
    Message,
    NewcomerSettings,
    Usage,
    View,
)
from agents.llm.asking import hash_prompt
from agents.llm.backends.scripted import ScriptedBackend
from benchmarks.suite import Suite, load_suite
from normgym_envs.constants import Action
from normgym_envs.engine import BatchEngine
from normgym_envs.errors import ConfigError, StateError


@pytest.fixture(scope="module")
def suite() -> Suite:
    return load_suite("smoke")


@pytest.fixture(scope="module")
def engine(suite: Suite) -> BatchEngine:
    return BatchEngine(suite.layouts(), suite.norms, 1)


def say(action: object, belief: object = "b", confidence: object = 0.5) -> str:
    return json.dumps(
        {"reasoning": "r", "action": action, "belief": belief, "confidence": confidence}
    )


def wander(seed: int, length: int = 300) -> list[str | Completion]:
    """Return replies of a model that walks about and sometimes fails."""
    rng = np.random.default_rng(seed)
    replies: list[str | Completion] = []
    for turn in range(length):
        kind = rng.integers(8)
        if kind == 0:
            replies.append(Completion("", stop=("refusal", "transport", "length")[turn % 3]))
        elif kind == 1:
            replies.append("no object")
        else:
            word = ("up", "down", "left", "right", "wait")[int(rng.integers(5))]
            replies.append(say(word, f"belief {turn}", float(turn % 10) / 10))
    return replies


def start(
    backend: ScriptedBackend, engine: BatchEngine, suite: Suite, index: int, **options: object
) -> tuple[LLMNewcomer, World]:
    newcomer = LLMNewcomer(backend, dataclasses.replace(TEXT, **options))  # type: ignore[arg-type]
    world = World(engine, suite.specs[index])
    newcomer.reset(world.context())
    return newcomer, world


@pytest.mark.parametrize("stop", ["refusal", "length", "context_overflow", "transport", "empty"])
def test_failures_wait_and_are_named(engine: BatchEngine, suite: Suite, stop: str) -> None:
    reply = Completion("", stop=stop, error="why")  # type: ignore[arg-type]
    newcomer, world = start(ScriptedBackend([reply, say("wait")]), engine, suite, 1)
    failed, fine = live(newcomer, world, 2)
    assert failed.action == Action.WAIT
    assert failed.failure == ("parse" if stop == "empty" else stop)
    assert (failed.detail == "empty") == (stop == "empty")
    assert failed.error == "why"
    assert failed.stop == stop
    assert fine.failure == ""
    prompt = join(newcomer.backend.prompts[1])  # type: ignore[attr-defined]
    assert f"I gave no usable answer ({failed.failure}) and so waited." in prompt


def test_a_blocked_move_is_an_answer(engine: BatchEngine, suite: Suite) -> None:
    backend = ScriptedBackend([say("down"), say("up")])
    newcomer, world = start(backend, engine, suite, 1)
    assert not world.view().observation["action_mask"][Action.DOWN]
    blocked, free = live(newcomer, world, 2)
    assert (blocked.action, blocked.failure, blocked.detail) == (Action.DOWN, "", "blocked")
    assert (free.action, free.detail) == (Action.UP, "")
    assert "I chose move down, but the way was blocked and I stayed" in join(backend.prompts[1])


def test_beliefs_follow_the_last_readable_one(engine: BatchEngine, suite: Suite) -> None:
    replies = [
        say("wait", "first", 0.2),
        "nonsense",
        say("wait", "", 0.9),
        say("fly", "second", "high"),
        say("wait", "third", "90%"),
    ]
    newcomer, world = start(ScriptedBackend(replies), engine, suite, 0)
    assert newcomer.belief() is None
    seen = []
    for _ in live(newcomer, world, 5):
        seen.append(newcomer.belief())
    assert seen == [
        Belief("first", 0.2),
        Belief("first", 0.2),
        Belief("first", 0.2),
        Belief("second", 0.2),
        Belief("third", 0.9),
    ]


def test_tests_keep_their_belief(engine: BatchEngine, suite: Suite) -> None:
    newcomer = LLMNewcomer(ScriptedBackend([say("wait", "other", 1)], repeat=True), TEXT)
    world = World(engine, suite.specs[1])
    newcomer.reset(world.context(Belief("carried", 0.3)))
    decisions = list(live(newcomer, world, 5))
    assert newcomer.belief() == Belief("carried", 0.3)
    assert all(d.belief is None and d.confidence is None for d in decisions)


def test_replayed_decisions_leave_the_same_prompts(engine: BatchEngine, suite: Suite) -> None:
    for index in (0, 2):
        backend = ScriptedBackend(wander(index))
        newcomer, world = start(backend, engine, suite, index)
        played = list(live(newcomer, world, 70))
        stored = [Decision.model_validate_json(d.model_dump_json()) for d in played]
        assert stored == played
        for cut in (0, 1, len(stored) // 2, len(stored) - 1):
            again = ScriptedBackend(wander(index)[cut:])
            second, world = start(again, engine, suite, index)
            left = list(stored[:cut])
            while left:
                view = world.view()
                if is_asked(view):
                    decision = left.pop(0)
                    assert hash_prompt(second.prompt(view)) == decision.prompt_hash
                    second.replay(view, decision)
                    world.step(decision.action)
                else:
                    second.observe(view)
                    world.step()
            rest = list(live(second, world, 70 - int(world.view().observation["turn"][0])))
            assert [d.prompt_hash for d in rest] == [d.prompt_hash for d in stored[cut:]]
            assert again.prompts == backend.prompts[cut:]
            assert second.belief() == newcomer.belief()


def test_persons_share_the_memory_and_automatic_turns_are_marked(
    engine: BatchEngine, suite: Suite
) -> None:
    moves = _walk_through(engine, suite)
    backend = ScriptedBackend([say(move) for move in moves])
    newcomer, world = start(backend, engine, suite, 0)
    for _ in live(newcomer, world, 200):
        if len(backend.prompts) == len(moves):
            break
    latest = join(backend.prompts[-1])
    assert "automatic turn, as I was busy with goal 1; I waited" in "".join(
        join(prompt) for prompt in backend.prompts
    )
    assert "automatic turn, as nobody was in my place" in latest
    assert "I went out, both goals complete." in latest
    assert "So far you have been here for" in latest


def _walk_through(engine: BatchEngine, suite: Suite) -> list[str]:
    """Return moves that lead the first person out and the next one in, by the engine's planner."""
    world = World(engine, suite.specs[0])
    moves: list[str] = []
    gone = False
    while True:
        view = world.view()
        action = int(Action.WAIT)
        if is_asked(view):
            action = int(engine.plan()[0][0, 0])
            moves.append(("up", "down", "left", "right", "wait")[action])
            if gone:
                return [*moves, "wait"]
        world.step(action)
        gone = gone or bool(world.view().observation["left"][0])


def test_turns_come_in_order(engine: BatchEngine, suite: Suite) -> None:
    newcomer = LLMNewcomer(ScriptedBackend([say("wait")], repeat=True), TEXT)
    world = World(engine, suite.specs[1])
    with pytest.raises(StateError, match="call reset first"):
        asyncio.run(newcomer.decide(world.view()))
    newcomer.reset(world.context())
    view = world.view()
    decision = asyncio.run(newcomer.decide(view))
    with pytest.raises(StateError, match="turn 0 was shown after turn 0; expected 1"):
        asyncio.run(newcomer.decide(view))
    with pytest.raises(StateError, match="of turn 7; expected turn 0"):
        newcomer.replay(view, decision.model_copy(update={"turn": 7}))
    world.step()
    world.step()
    with pytest.raises(StateError, match="turn 2 was shown after turn 0"):
        newcomer.observe(world.view())
    newcomer.reset(world.context())
    newcomer.observe(world.view())  # a new episode forgets


def test_a_request_that_was_broken_off_can_be_made_again(engine: BatchEngine, suite: Suite) -> None:
    class Flaky(ScriptedBackend):
        async def generate(self, messages: Sequence[Message]) -> Completion:
            completion = await super().generate(messages)
            if len(self.prompts) == 2:
                raise asyncio.CancelledError
            return completion

    backend = Flaky([say("wait")], repeat=True)
    newcomer, world = start(backend, engine, suite, 0)
    list(live(newcomer, world, 1))
    view = world.view()
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(newcomer.decide(view))
    asyncio.run(newcomer.decide(view))
    assert backend.prompts[1] == backend.prompts[2]


def test_the_norm_has_to_be_there_to_be_told(suite: Suite) -> None:
    newcomer = LLMNewcomer(ScriptedBackend([]), NewcomerSettings(known_norm=True))
    with pytest.raises(ConfigError, match="no sentence for it"):
        newcomer.reset(AgentContext("t", "seen", np.random.default_rng(0), 100))


def test_pictures_have_to_be_there_to_be_shown(engine: BatchEngine, suite: Suite) -> None:
    newcomer = LLMNewcomer(ScriptedBackend([say("wait")]), NewcomerSettings(modality="image"))
    world = World(engine, suite.specs[1])
    newcomer.reset(world.context())
    with pytest.raises(ConfigError, match="needs a picture"):
        asyncio.run(newcomer.decide(dataclasses.replace(world.view(), picture=None)))
    assert asyncio.run(newcomer.decide(world.view())).failure == ""


def test_a_small_context_shortens_memories_until_nothing_fits(
    engine: BatchEngine, suite: Suite
) -> None:
    long = say("wait", "b" * 300).replace('"r"', '"' + "thoughts " * 100 + '"')
    full = ScriptedBackend([long], repeat=True, context_tokens=50_000, max_tokens=500)
    newcomer, world = start(full, engine, suite, 0)
    assert max(d.dropped for d in live(newcomer, world, 40)) == 0
    small = ScriptedBackend([long], repeat=True, context_tokens=4_096, max_tokens=400)
    newcomer, world = start(small, engine, suite, 0)
    decisions = list(live(newcomer, world, 200))
    assert len(decisions) > 50
    assert {d.failure for d in decisions} == {""}
    assert 0 < max(d.dropped for d in decisions) < 15
    assert any("no room here for" in join(prompt) for prompt in small.prompts)
    tiny = ScriptedBackend([long], repeat=True, context_tokens=2_000, max_tokens=500)
    newcomer, world = start(tiny, engine, suite, 0)
    with pytest.raises(ContextError, match=r"a context of 2000 leaves 1500.*larger context"):
        list(live(newcomer, world, 5))


def test_decisions_tell_what_they_cost(engine: BatchEngine, suite: Suite) -> None:
    usage = Usage(100, None, 7, None)
    reply = Completion(say("wait"), "hm\ud800", "stop", usage, "m", 3)
    newcomer, world = start(ScriptedBackend([reply]), engine, suite, 1)
    (decision,) = live(newcomer, world, 1)
    assert decision.usage == (usage,)
    assert decision.usage[0].cached_tokens is None
    assert (decision.attempts, decision.model, decision.thoughts) == (3, "m", "hm\ufffd")
    assert decision.prompts == newcomer.writer.version
    assert Decision.model_validate_json(decision.model_dump_json()) == decision


@pytest.mark.parametrize("modality", ["text", "image+text"])
def test_our_own_part_takes_less_than_five_milliseconds(
    engine: BatchEngine, suite: Suite, modality: str
) -> None:
    replies = [say("wait", "b" * 200).replace('"r"', '"' + "thoughts " * 60 + '"')]
    backend = ScriptedBackend(replies, repeat=True)
    settings = NewcomerSettings(modality=modality)  # type: ignore[arg-type]
    newcomer = LLMNewcomer(backend, settings)
    world = World(engine, suite.specs[0])
    newcomer.reset(world.context())
    taken = []

    async def play() -> None:
        for _ in range(120):
            view: View = dataclasses.replace(world.view(), picture=PICTURE * 2_000)
            if is_asked(view):
                start = time.perf_counter()
                await newcomer.decide(view)
                taken.append(time.perf_counter() - start)
            else:
                newcomer.observe(view)
            world.step()

    asyncio.run(play())
    assert len(taken) > 60
    assert float(np.median(taken)) < 0.005
