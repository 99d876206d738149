"""Nothing a model is sent tells which norm is in force, which episode it is, or its seed."""

import dataclasses
import json
import re
from collections.abc import Iterator

import pytest
from llm_worlds import World, is_asked, join, live

from agents.llm import LLMNewcomer, NewcomerSettings
from agents.llm.backends.scripted import ScriptedBackend
from benchmarks.suite import Suite, load_suite
from normgym_envs.constants import FAMILIES
from normgym_envs.engine import BatchEngine
from normgym_envs.norms.library import list_norms, load_norms
from normgym_envs.types import EpisodeSpec, Norm

TURNS = 40
MORE = (
    "left-door-forbidden",
    "no-bottom-left-seats",
    "move-2-wait-1",
    "no-turns-1-mod-3",
    "bend-left-2",
    "edge-queue-right",
    "group-doors-bca",
    "seats-right-to-left",
)
"""Two more norms of each family."""
LARGEST = 200
"""No number of a prompt is larger: turns, cells and points are small, seeds are not."""


def play(
    engine: BatchEngine, spec: EpisodeSpec, settings: NewcomerSettings, seed: int = 0
) -> Iterator[str]:
    """Yield the prompts of an episode's first turns."""
    words = ("up", "right", "down", "left", "right", "up", "wait")
    replies = [
        json.dumps(
            {
                "reasoning": f"So {word} it is.",
                "action": word,
                "belief": "No idea.",
                "confidence": 0.1,
            }
        )
        for word in words[seed:] + words[:seed]
    ]
    backend = ScriptedBackend(replies, repeat=True)
    newcomer = LLMNewcomer(backend, settings)
    world = World(engine, spec)
    newcomer.reset(world.context())
    list(live(newcomer, world, TURNS))
    yield from (join(messages) for messages in backend.prompts[::3])


def find_canaries(prompt: str, spec: EpisodeSpec, norm: Norm) -> list[str]:
    """Return what of an episode's secrets a prompt gives away."""
    text = " ".join(prompt.lower().split())
    found = []
    for secret in (norm.id, norm.id.replace("-", " "), norm.id.replace("-", "_"), norm.kind):
        if re.search(rf"(?<![a-z]){re.escape(secret)}(?![a-z])", text):
            found.append(secret)
    words = re.findall(r"[a-z]+", norm.sentence.lower())
    said = " ".join(re.findall(r"[a-z]+", text))
    for start in range(max(1, len(words) - 7)):
        run = " ".join(words[start : start + 8])
        if run in said:
            found.append(run)
    found += [family for family in FAMILIES if re.search(rf"\b{family}\b", text)]
    found += [name for name in (spec.name, spec.name.partition("/")[2]) if name in text]
    found += [number for number in re.findall(r"\d+", text) if int(number) > LARGEST]
    found += [other for other in list_norms() if other in text]
    return found


def check(engine: BatchEngine, spec: EpisodeSpec, norm: Norm) -> int:
    """Look for secrets in the prompts of an episode; return how many prompts there were."""
    count = 0
    for settings in (
        NewcomerSettings(),
        NewcomerSettings(modality="text", interaction=False),
        NewcomerSettings(prompts="paper", modality="image"),
    ):
        for prompt in play(engine, spec, settings):
            assert find_canaries(prompt, spec, norm) == []
            count += 1
    return count


def test_no_secret_of_the_smoke_suite_is_told() -> None:
    suite = load_suite("smoke")
    engine = BatchEngine(suite.layouts(), suite.norms, 1)
    norms = {norm.id: norm for norm in suite.norms}
    prompts = sum(check(engine, spec, norms[spec.norms[0]]) for spec in suite.specs)
    assert prompts > 300


@pytest.mark.parametrize("norm_id", MORE)
def test_no_secret_of_other_norms_is_told(main: Suite, norm_id: str) -> None:
    specs = [spec for spec in main.specs if spec.norms == (norm_id,)]
    chosen = [
        next(spec for spec in specs if spec.phase == phase) for phase in ("interaction", "unseen")
    ]
    engine = BatchEngine(main.layouts(), main.norms, 1)
    (norm,) = (norm for norm in main.norms if norm.id == norm_id)
    assert sum(check(engine, spec, norm) for spec in chosen) > 40


@pytest.fixture(scope="module")
def main() -> Suite:
    return load_suite("main")


def test_the_canaries_sing() -> None:
    suite = load_suite("smoke")
    engine = BatchEngine(suite.layouts(), suite.norms, 1)
    norms = {norm.id: norm for norm in suite.norms}
    for spec in suite.specs:
        norm = norms[spec.norms[0]]
        told = NewcomerSettings(modality="text", known_norm=True)
        prompt = next(play(engine, spec, told))
        assert find_canaries(prompt, spec, norm)
        hidden = next(play(engine, spec, NewcomerSettings(modality="text")))
        for secret in (norm.id, norm.kind, norm.family, spec.name, str(spec.seed), "seed 10100"):
            assert find_canaries(f"{hidden}\n{secret}", spec, norm), secret


def test_prompts_depend_on_what_is_seen_and_not_on_the_norm() -> None:
    suite = load_suite("smoke")
    engine = BatchEngine(suite.layouts(), load_norms(), 1)
    compared = 0
    for spec in suite.specs:
        firsts = set()
        for norm in ("even-turns-only", "zone-r-capacity-1", "bend-left-1", spec.norms[0]):
            other = dataclasses.replace(spec, norms=(norm,), name="x", seed=spec.seed + len(norm))
            world = World(engine, other)
            newcomer = LLMNewcomer(ScriptedBackend([]), NewcomerSettings())
            newcomer.reset(world.context())
            if is_asked(world.view()):
                firsts.add(join(newcomer.prompt(world.view())))
        assert len(firsts) <= 1
        compared += len(firsts)
    assert compared >= 8
