"""A language model as an ordinary agent of the benchmark."""

import asyncio
import dataclasses
from pathlib import Path

import numpy as np
import pytest
import reader_process
from llm_worlds import is_asked
from small_suite import build_small_suite

from agents import Agent, AgentSource, find_agent
from agents.llm import LLMAgent, NewcomerSettings
from agents.llm.backends.callable import CallableBackend
from agents.llm.backends.scripted import ScriptedBackend
from agents.llm.grid.view import find_layout
from benchmarks.runner import run
from normgym_envs.errors import ConfigError, UnknownNameError
from normgym_envs.layouts import get_layout, list_layouts

WAIT = "callable:agents.llm.backends.scripted:say_wait"


def test_it_keeps_the_protocol() -> None:
    agent = LLMAgent(WAIT)
    assert isinstance(agent, Agent)
    assert not agent.privileged


def test_it_plays_a_suite_like_any_agent() -> None:
    suite = build_small_suite()
    backend = CallableBackend(reader_process.ignore)
    source = AgentSource("reader", lambda: LLMAgent(backend))
    first = run(source, suite)
    assert first.errors == ()
    assert len(first.records) == len(suite.specs)
    assert run(source, suite, max_rows=3).records == first.records
    (interaction, *_) = first.episodes("interaction")
    assert interaction.belief is not None
    assert interaction.belief.text == "I take no notice of norms."
    assert sum(record.task or 0 for record in first.episodes("seen")) > 0


def test_it_works_inside_a_running_loop() -> None:
    suite = build_small_suite(norms=("even-turns-only",), tests=1, steps=10)
    source = AgentSource("waiting", lambda: LLMAgent(WAIT))

    async def play() -> int:
        return len(run(source, suite).records)

    assert asyncio.run(play()) == 2


def test_what_it_decided_can_be_read() -> None:
    backend = ScriptedBackend(['{"action": "wait"}'], repeat=True)
    agents = []

    def make() -> LLMAgent:
        agents.append(LLMAgent(backend))
        return agents[-1]

    suite = build_small_suite(norms=("even-turns-only",), tests=1, steps=10)
    run(AgentSource("waiting", make), suite)
    decided = [decision for agent in agents for decision in agent.decisions]
    assert {decision.failure for decision in decided} == {""}
    assert len(decided) == len(backend.prompts) > 0


def test_it_can_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    suite = build_small_suite(norms=("even-turns-only",), tests=1, steps=10)
    assert run(f"llm:{WAIT}", suite).errors == ()
    monkeypatch.syspath_prepend(str(tmp_path))
    file = tmp_path / "my_model.py"
    file.write_text("def reply(prompt):\n    return '{}'\n")
    digest = find_agent("llm:callable:my_model:reply").digest
    assert find_agent("llm:callable:my_model:reply").digest == digest
    file.write_text("def reply(prompt):\n    return '[]'\n")
    assert find_agent("llm:callable:my_model:reply").digest != digest
    with pytest.raises(UnknownNameError, match="unknown backend 'calable'"):
        find_agent("llm:calable:x:y")


def test_an_outage_breaks_an_episode_off_instead_of_waiting() -> None:
    def fail(prompt: str) -> str:
        raise ConnectionError("the line is dead")

    suite = build_small_suite(norms=("even-turns-only",), tests=1, steps=10)
    backend = CallableBackend(fail)
    found = run(AgentSource("dead", lambda: LLMAgent(backend)), suite)
    assert len(found.errors) == len(found.records) == 2
    assert "TransportError: ConnectionError: the line is dead" in found.errors[0].error


def test_it_can_be_named_by_a_short_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is not on this machine"):
        find_agent(f"llm:local:{tmp_path / 'nothing'}")
    script = tmp_path / "replies.jsonl"
    script.write_text('"{}"\n')
    digest = find_agent(f"llm:scripted:{script}").digest
    script.write_text('"[]"\n')
    assert find_agent(f"llm:scripted:{script}").digest != digest


def test_settings_without_words_are_refused() -> None:
    with pytest.raises(ConfigError, match="an agent is given no pictures"):
        LLMAgent(WAIT, NewcomerSettings())
    with pytest.raises(UnknownNameError, match="did you mean 'callable'"):
        LLMAgent("calable:x:y")


@pytest.mark.parametrize("name", list_layouts())
def test_maps_are_known_by_their_looks(name: str) -> None:
    layout = get_layout(name)
    seen = find_layout({"cells": layout.cells.copy(), "zones": layout.zones.copy()})
    assert seen is layout
    turned = {"cells": layout.cells.copy(), "zones": np.zeros_like(layout.zones)}
    assert find_layout(turned).name == "seen"


def test_helpers_tell_asked_turns_from_others() -> None:
    from llm_worlds import World

    from normgym_envs.engine import BatchEngine

    suite = build_small_suite()
    engine = BatchEngine(suite.layouts(), suite.norms, 1)
    view = World(engine, suite.specs[0]).view()
    mask = np.zeros(5, np.int8)
    held = dataclasses.replace(view, observation={**view.observation, "action_mask": mask})
    assert not is_asked(held)
