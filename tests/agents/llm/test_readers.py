"""Prompts say all that is needed: a reader of nothing else reaches the goals and keeps the norm.

The readers answer from a process in which the engine cannot be imported.
"""

import json
import subprocess
import sys
from pathlib import Path

import prompt_reader
import pytest
import reader_process
from llm_worlds import TEXT, World, join, measure

from agents.llm import LLMNewcomer, NewcomerSettings
from agents.llm.backends.callable import CallableBackend
from agents.llm.backends.scripted import ScriptedBackend
from benchmarks.suite import Suite, load_suite
from normgym_envs.constants import TEST_PHASES
from normgym_envs.engine import BatchEngine
from normgym_envs.observations.symbolic import observe_symbolic

KNOWN = NewcomerSettings(modality="text", known_norm=True, interaction=False)
HIDDEN = NewcomerSettings(modality="text", interaction=False)
READER = Path(prompt_reader.__file__)


def play_tests(suite: Suite, function: object, settings: NewcomerSettings) -> tuple[float, float]:
    """Return the mean of joint and task over a suite's tests."""
    engine = BatchEngine(suite.layouts(), suite.norms, 1)
    backend = CallableBackend(function)  # type: ignore[arg-type]
    specs = [spec for spec in suite.specs if spec.phase in TEST_PHASES]
    done = [measure(backend, settings, engine, spec) for spec in specs]
    joint = sum(metrics.joint or 0 for metrics in done) / len(done)
    return joint, sum(metrics.task or 0 for metrics in done) / len(done)


def test_the_obedient_reader_succeeds_on_smoke() -> None:
    assert play_tests(load_suite("smoke"), reader_process.obey, KNOWN) == (1, 1)


def test_the_other_reader_finishes_and_breaks_the_norm_on_smoke() -> None:
    joint, task = play_tests(load_suite("smoke"), reader_process.ignore, HIDDEN)
    assert joint == 0
    assert task > 0.9


@pytest.mark.slow
def test_readers_on_lite() -> None:
    suite = load_suite("lite")
    joint, _ = play_tests(suite, reader_process.obey, KNOWN)
    assert joint >= 0.95
    joint, task = play_tests(suite, reader_process.ignore, HIDDEN)
    assert joint == 0
    assert task > 0.9


def test_the_reader_cannot_reach_the_engine() -> None:
    code = (
        "import sys, runpy; sys.argv = ['reader', 'obey']; sys.stdin = iter(())\n"
        f"runpy.run_path({str(READER)!r}, run_name='__main__')\n"
        "loaded = {name.partition('.')[0] for name in sys.modules}\n"
        "assert not {'numba', 'normgym_envs', 'agents'} & loaded\n"
        "import normgym_envs"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=READER.parent,
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(READER.parent)},
    )
    assert done.returncode == 1
    assert "normgym_envs is out of reach for a reader of prompts" in done.stderr


@pytest.fixture(scope="module")
def prompts() -> list[tuple[str, World]]:
    """Return the first prompts of the smoke suite, each with its world."""
    suite = load_suite("smoke")
    found = []
    for spec in suite.specs:
        world = World(BatchEngine(suite.layouts(), suite.norms, 1), spec)
        while not world.view().observation["present"][0]:
            world.step()
        newcomer = LLMNewcomer(ScriptedBackend([]), KNOWN)
        newcomer.reset(world.context())
        found.append((join(newcomer.prompt(world.view())), world))
    return found


def test_the_reader_sees_what_there_is(prompts: list[tuple[str, World]]) -> None:
    for prompt, world in prompts:
        state, layout = world.engine.states[0], world.layout
        norm = prompt_reader.find_norm(prompt)
        assert norm["id"] == world.spec.norms[0]
        read = prompt_reader.read_world(prompt, [norm])
        seen = observe_symbolic(world.engine, 0, 0)
        assert (read.turn, read.limit) == (state["turn"], state["limit"])
        assert read.layout.doors == tuple(layout.doors.tolist())
        assert read.layout.service == layout.service
        assert read.layout.chairs == tuple(layout.chairs.tolist())
        assert ["Q" == mark for mark in read.layout.zones] == (layout.zones == 1).ravel().tolist()
        assert ["R" == mark for mark in read.layout.zones] == (layout.zones == 2).ravel().tolist()
        assert [read.layout.enterable(cell) for cell in range(165)] == (
            world.engine.tables[0]["enterable"][state["layout"]] != 0
        ).tolist()
        assert len(read.slots) == seen["present"].sum()
        assert read.slots[0].pos == state["pos"][0]
        assert read.slots[0].goal1_kind == state["goal1_kind"][0]
        assert read.slots[0].goal1_cell == state["goal1_cell"][0]
        assert read.slots[0].goal2_door == state["goal2_door"][0]
        assert sorted(person.pos for person in read.slots) == sorted(
            state["pos"][slot] for slot in range(state["num_slots"]) if state["present"][slot]
        )


@pytest.mark.parametrize(
    "lost",
    ["Goal 1 (now)", "Goal 2", "newcomer: ", "Turn 0 of", "# Social norms", "  5  "],
)
def test_the_reader_misses_what_is_missing(prompts: list[tuple[str, World]], lost: str) -> None:
    prompt = next(prompt for prompt, _ in prompts if "Turn 0 of" in prompt)
    prompt_reader.obey(prompt)
    without = "\n".join(line for line in prompt.splitlines() if lost not in line)
    with pytest.raises(prompt_reader.PromptError):
        prompt_reader.obey(without)


def test_the_reader_answers_in_the_form_that_is_asked_for(
    prompts: list[tuple[str, World]],
) -> None:
    for prompt, world in prompts:
        keys = {"reasoning", "action"}
        if world.spec.phase == "interaction":
            keys |= {"belief", "confidence"}
        assert set(json.loads(prompt_reader.obey(prompt))) == keys


def test_memory_tells_the_reader_what_it_did(prompts: list[tuple[str, World]]) -> None:
    suite = load_suite("smoke")
    world = World(BatchEngine(suite.layouts(), suite.norms, 1), suite.specs[1])
    replies = ["up", "up", "wait", "up", "left", "left"]
    backend = ScriptedBackend([json.dumps({"reasoning": w, "action": w}) for w in replies])
    newcomer = LLMNewcomer(backend, TEXT)
    newcomer.reset(world.context())
    streaks = []
    from llm_worlds import live

    for _ in live(newcomer, world, len(replies)):
        past = prompt_reader.read_past(join(backend.prompts[-1]))
        streaks.append((past.streak, past.thought))
        assert past.streak == world.engine.states["streak"][0, 0]
    assert streaks[:4] == [(0, ""), (1, "up"), (2, "up"), (0, "wait")]
