"""What prompts say, in which version and modality; and that none of it is copied."""

import dataclasses
import hashlib
import json
import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from llm_worlds import PICTURE, TEXT, World, join, live

from agents.base import Belief
from agents.llm import LLMNewcomer, Message, NewcomerSettings
from agents.llm.asking import hash_prompt
from agents.llm.backends.scripted import ScriptedBackend
from agents.llm.grid import prompts as texts
from agents.llm.grid import writing
from agents.llm.grid.prompts import list_prompts, load_prompts
from agents.llm.grid.words import NOBODY_ELSE
from agents.llm.grid.writing import MODALITIES, Writer
from benchmarks.suite import Suite, load_suite
from normgym_envs.engine import BatchEngine
from normgym_envs.errors import ConfigError, UnknownNameError
from normgym_envs.observations.text import describe

FOLDER = Path(__file__).parent
GRAMS = json.loads((FOLDER / "prompt_grams.json").read_text())
"""Hashed runs of words of NG's templates; the templates themselves are not here."""
GOLDEN = json.loads((FOLDER / "golden.json").read_text())
ALL = [
    (prompts, modality)
    for prompts in ("full", "paper")
    for modality in MODALITIES
    if (prompts, modality) != ("paper", "text")
]
REPLY = json.dumps(
    {"reasoning": "On I go.", "action": "right", "belief": "They keep left.", "confidence": 0.25}
)


@pytest.fixture(scope="module")
def suite() -> Suite:
    return load_suite("smoke")


@pytest.fixture(scope="module")
def engine(suite: Suite) -> BatchEngine:
    return BatchEngine(suite.layouts(), suite.norms, 1)


def collect(
    engine: BatchEngine,
    suite: Suite,
    index: int,
    settings: NewcomerSettings,
    turns: int = 60,
    belief: Belief | None = None,
) -> list[tuple[Message, ...]]:
    """Return the prompts of an episode's first turns."""
    backend = ScriptedBackend([REPLY], repeat=True)
    newcomer = LLMNewcomer(backend, settings)
    world = World(engine, suite.specs[index])
    newcomer.reset(world.context(belief))
    list(live(newcomer, world, turns))
    return backend.prompts


def list_grams(text: str) -> set[str]:
    """Return the hashes of a text's runs of words."""
    words = re.findall(r"[a-z0-9]+", text.lower())
    count, digits = GRAMS["words"], GRAMS["digits"]
    runs = (" ".join(words[i : i + count]) for i in range(len(words) - count + 1))
    return {hashlib.sha256(run.encode()).hexdigest()[:digits] for run in runs}


def test_grams_are_found_where_they_are() -> None:
    assert len(GRAMS["hashes"]) > 500
    planted = "here is a sentence of our own which nobody else has written before today"
    run = "sentence of our own which nobody else has"
    hashed = hashlib.sha256(run.encode()).hexdigest()[: GRAMS["digits"]]
    assert hashed in list_grams(planted)
    assert hashed in list_grams("Sentence of our OWN, which - nobody else has!")
    assert hashed not in list_grams("a sentence of our own that nobody else has")


@pytest.mark.parametrize("name", list_prompts())
def test_no_run_of_words_is_shared_with_the_paper(name: str) -> None:
    prompts = load_prompts(name)
    texts = [*prompts.templates.values()]
    texts += [text for cases in prompts.blocks.values() for text in cases.values()]
    for text in texts:
        assert not list_grams(text) & set(GRAMS["hashes"]), text


@pytest.mark.parametrize(("prompts", "modality"), ALL)
def test_no_filled_prompt_shares_one_either(
    engine: BatchEngine, suite: Suite, prompts: str, modality: str
) -> None:
    settings = NewcomerSettings(prompts=prompts, modality=modality)  # type: ignore[arg-type]
    for index in (0, 1, 7):
        for messages in collect(engine, suite, index, settings, 40)[::13]:
            assert not list_grams(join(messages)) & set(GRAMS["hashes"])


def test_a_change_of_the_texts_needs_a_new_version() -> None:
    found = {load_prompts(name).name: load_prompts(name).digest for name in list_prompts()}
    assert found == GOLDEN["texts"], "raise `version` in the file of the prompts, then golden.json"


@pytest.mark.parametrize(("prompts", "modality"), ALL)
def test_filled_prompts_are_golden(
    engine: BatchEngine, suite: Suite, prompts: str, modality: str
) -> None:
    settings = NewcomerSettings(prompts=prompts, modality=modality)  # type: ignore[arg-type]
    seen = [collect(engine, suite, index, settings, 40)[-1] for index in (0, 1)]
    hashes = [hash_prompt(messages) for messages in seen]
    assert hashes == GOLDEN["filled"][f"{prompts}/{modality}"]


def test_prompts_are_the_same_in_every_process(engine: BatchEngine, suite: Suite) -> None:
    here = [hash_prompt(messages) for messages in collect(engine, suite, 0, TEXT, 50)]
    code = (
        "import sys; sys.path[:0] = ['.', 'tests', 'tests/agents/llm']\n"
        "import test_prompts as t\n"
        "s = t.load_suite('smoke'); e = t.BatchEngine(s.layouts(), s.norms, 1)\n"
        "print(*[t.hash_prompt(m) for m in t.collect(e, s, 0, t.TEXT, 50)])"
    )
    for seed in ("4242",):  # this process has another
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=FOLDER.parents[2],
            env={"PYTHONHASHSEED": seed, "PATH": "", "SDL_VIDEODRIVER": "dummy"},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.split() == here


@pytest.mark.parametrize("index", range(12))
def test_text_holds_the_whole_public_state(engine: BatchEngine, suite: Suite, index: int) -> None:
    for settings in (TEXT, NewcomerSettings()):
        backend = ScriptedBackend([REPLY], repeat=True)
        newcomer = LLMNewcomer(backend, settings)
        world = World(engine, suite.specs[index])
        newcomer.reset(world.context())
        for _ in range(30):
            view = world.view()
            before = len(backend.prompts)
            list(live(newcomer, world, 1))
            if len(backend.prompts) > before:
                said = join(backend.prompts[-1])
                for line in describe(view.observation, view.layout).splitlines():
                    assert line in said, line


def test_paper_leaves_others_sanctions_to_the_picture(engine: BatchEngine, suite: Suite) -> None:
    seen = 0
    settings = NewcomerSettings(prompts="paper")
    backend = ScriptedBackend([REPLY], repeat=True)
    newcomer = LLMNewcomer(backend, settings)
    full_backend = ScriptedBackend([REPLY], repeat=True)
    full = LLMNewcomer(full_backend, NewcomerSettings())
    first, second = World(engine, suite.specs[0]), BatchEngine(suite.layouts(), suite.norms, 1)
    other = World(second, suite.specs[0])
    newcomer.reset(first.context())
    full.reset(other.context())
    for _ in range(150):
        sanctioned = np.flatnonzero(first.view().observation["sanctioned"])
        before = len(backend.prompts)
        list(live(newcomer, first, 1))
        list(live(full, other, 1))
        if len(backend.prompts) == before:
            continue
        plain, named = join(backend.prompts[-1]), join(full_backend.prompts[-1])
        assert "Sanctioned in" not in plain
        assert ("You yourself broke the norm" in plain) == (0 in sanctioned)
        assert ("You yourself broke the norm" in named) == (0 in sanctioned)
        for slot in sanctioned[sanctioned > 0]:
            seen += 1
            assert re.search(rf"Sanctioned in the last turn: .*background_{slot} \(", named)
    assert seen > 2
    assert "Sanctioned in that turn: background_" in "".join(
        join(messages) for messages in full_backend.prompts
    )
    assert "I was sanctioned for it." in join(backend.prompts[-1])


@pytest.mark.parametrize("prompts", ["full", "paper"])
def test_image_alone_has_no_words_for_what_is_seen(
    engine: BatchEngine, suite: Suite, prompts: str
) -> None:
    settings = NewcomerSettings(prompts=prompts, modality="image")  # type: ignore[arg-type]
    for index in range(12):
        for messages in collect(engine, suite, index, settings, 60)[::11]:
            said = join(messages).replace("(row, column)", "").replace("(0, 0)", "")
            assert not re.search(r"\(\d+, \d+\)", said)
            assert not re.search(r"background_\d|\bat \(|^ *\d+  [#.]", said, re.MULTILINE)
            assert "# wall" not in said
            assert messages[1].images == (PICTURE,)
            assert "magenta" in said.lower()


def test_pictures_go_with_the_last_message_only(engine: BatchEngine, suite: Suite) -> None:
    for prompts, modality in ALL:
        settings = NewcomerSettings(prompts=prompts, modality=modality)  # type: ignore[arg-type]
        (messages,) = collect(engine, suite, 1, settings, 1)
        assert [len(message.images) for message in messages] == [0, int(modality != "text")]
        assert [message.role for message in messages] == ["system", "user"]


def test_everything_the_paper_says_is_said(engine: BatchEngine, suite: Suite) -> None:
    for prompts, modality in ALL:
        settings = NewcomerSettings(prompts=prompts, modality=modality)  # type: ignore[arg-type]
        system, user = collect(engine, suite, 0, settings, 12)[-1]
        for part in ("place", "who you are", "works", "norms", "actions", "points", "your task"):
            assert re.search(rf"^# .*{part}", system.text, re.MULTILINE | re.IGNORECASE), part
        for fact in ("orange, green or blue", "pushes", "10 points", "minus 0.1", "minus 5"):
            assert fact in system.text
        assert "minus 20" in system.text
        assert re.search(r"^1\. .*\n2\. leave", system.text, re.MULTILINE)
        assert "Nobody tells you" in system.text
        for stage in ("1. Observe", "2. Reason", "3. Act"):
            assert stage in system.text
        if modality != "text":
            for mark in ("gold star", "clock", "green tick", "exclamation mark"):
                assert mark in system.text
            assert "red X" in system.text + user.text
        assert "200 turns" in user.text
        assert "What I thought: On I go." in user.text
        assert "They keep left. (confidence 0.25)" in user.text
        assert "working on goal 1" in user.text
        example = re.search(r"^\{.*\}$", user.text, re.MULTILINE)
        assert example is not None
        assert set(json.loads(example[0])) == {"reasoning", "action", "belief", "confidence"}


def test_conditions(engine: BatchEngine, suite: Suite) -> None:
    belief = Belief("Keep off {Q}.\n\nReally.", 0.9)
    sentence = suite.norms[0].sentence

    def ask(**options: object) -> str:
        settings = NewcomerSettings(modality="text", **options)  # type: ignore[arg-type]
        return join(collect(engine, suite, 1, settings, 3, belief)[-1])

    met = ask()
    assert "Keep off {Q}. Really. (confidence 0.9)" in met
    assert '"confidence"' not in met
    assert '"belief"' not in met
    assert sentence not in met
    stranger = ask(interaction=False)
    assert "never met this community" in stranger
    assert "Keep off" not in stranger
    known = ask(known_norm=True, interaction=False)
    assert sentence in known
    assert "Nobody tells you" not in known
    assert "Keep off" not in known
    noted = ask(note="Everybody here hums.")
    assert "Everybody here hums." in noted
    versions = {
        Writer(*pair).version  # type: ignore[arg-type]
        for pair in (("full", "text"), ("full", "text", "A note."), ("full", "image"))
    }
    assert len(versions) == 3


def test_a_test_keeps_its_belief_whatever_replies_say(engine: BatchEngine, suite: Suite) -> None:
    belief = Belief("Stay off Q.", 0.5)
    prompts = collect(engine, suite, 1, TEXT, 10, belief)
    assert all("Stay off Q. (confidence 0.5)" in join(messages) for messages in prompts)
    assert not any("They keep left" in join(messages) for messages in prompts)


def test_the_rules_come_first_so_that_they_can_be_cached(engine: BatchEngine, suite: Suite) -> None:
    prompts = collect(engine, suite, 1, TEXT, 20)
    assert len({messages[0].text for messages in prompts}) == 1
    assert all(a[1].text != b[1].text for a, b in pairwise(prompts))


@pytest.fixture
def versions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of prompts with the shipped ones in it."""
    for path in texts._FOLDER.glob("*.toml"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(texts, "_FOLDER", tmp_path)
    load_prompts.cache_clear()
    return tmp_path


def test_a_version_of_ones_own_keeps_what_its_base_says(
    engine: BatchEngine, suite: Suite, versions: Path
) -> None:
    (versions / "mine.toml").write_text('version = 7\nbase = "full"\n')
    assert "mine" in list_prompts()
    for modality in MODALITIES:
        mine = NewcomerSettings(prompts="mine", modality=modality)
        full = NewcomerSettings(modality=modality)
        assert collect(engine, suite, 0, mine, 20) == collect(engine, suite, 0, full, 20)


def test_texts_that_nothing_fills_are_refused(
    engine: BatchEngine, suite: Suite, versions: Path
) -> None:
    (versions / "quiet.toml").write_text('version = 1\nbase = "full"\ncommunity = false\n')
    with pytest.raises(
        ConfigError, match=r"\[blocks.sanctions\] image\+text: nothing fills {named"
    ):
        Writer("quiet", "image+text")
    with pytest.raises(ConfigError, match="prompts 'quiet' leave the sanctions of others"):
        Writer("quiet", "text")
    (versions / "typo.toml").write_text(
        'version = 1\nbase = "full"\n[blocks.span]\nnone = "It is {trun}."\n'
    )
    with pytest.raises(ConfigError, match=r"\[blocks.span\] none: nothing fills {trun}"):
        collect(engine, suite, 0, NewcomerSettings(prompts="typo", modality="text"), 1)
    (versions / "bare.toml").write_text('version = 1\nbase = "full"\ncommunity = "yes"\n')
    with pytest.raises(ConfigError, match="community is 'yes'; expected true or false"):
        load_prompts("bare")


def test_nobody_else_is_said_by_the_sentence_itself(
    engine: BatchEngine, suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = World(engine, suite.specs[0]).view()
    alone = np.zeros_like(view.observation["present"])
    alone[0] = 1
    empty = dataclasses.replace(view, observation={**view.observation, "present": alone})
    said = Writer("paper", "image+text")._write_state(empty)
    assert "; the others: there is nobody else." in said
    assert NOBODY_ELSE not in said
    # a name may begin as the sentence does
    monkeypatch.setattr(writing, "list_others", lambda *_, **__: "neighbour_1 (3, 4)")
    assert "; the others: neighbour_1 (3, 4)." in Writer("paper", "image+text")._write_state(view)


def test_unknown_settings() -> None:
    backend = ScriptedBackend([])
    with pytest.raises(UnknownNameError, match="unknown prompts 'papr'; did you mean 'paper'"):
        LLMNewcomer(backend, NewcomerSettings(prompts="papr"))  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="unknown modality 'images'; did you mean 'image'"):
        LLMNewcomer(backend, NewcomerSettings(modality="images"))  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="'text' has none; expected prompts 'full'"):
        LLMNewcomer(backend, NewcomerSettings(prompts="paper", modality="text"))
    with pytest.raises(ConfigError, match=r"takes no pictures.*expected modality 'text'"):
        LLMNewcomer(ScriptedBackend([], images=False), NewcomerSettings())
