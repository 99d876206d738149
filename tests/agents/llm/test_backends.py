"""Backends: found by name, imported late, clear about what is missing; services in our words."""

import asyncio
import json
import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import pytest

from agents.llm import Backend, Completion, LLMNewcomer, Message, NewcomerSettings, make_backend
from agents.llm import backend as backends
from agents.llm.backend import BACKENDS, digest_backend, split_backend
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
    assert {path.stem for path in folder.glob("*.py")} - {"__init__", "weights"} == set(BACKENDS)


def test_unknown_names() -> None:
    with pytest.raises(UnknownNameError, match="unknown backend 'scriptd'; did you mean"):
        make_backend("scriptd:x")
    with pytest.raises(UnknownNameError, match="unknown backend 'gpt-5'; expected one of: insp"):
        make_backend("gpt-5")
    with pytest.raises(ConfigError, match="unexpected keyword argument 'colour'"):
        make_backend("scripted:", colour="red")


def test_faults_of_a_backend_are_not_taken_for_options(monkeypatch: pytest.MonkeyPatch) -> None:
    from agents.llm.backends import scripted

    def fail(rest: str, *, max_tokens: int = 1) -> Backend:
        raise TypeError("an argument that is our own fault")

    monkeypatch.setattr(scripted, "open_backend", fail)
    with pytest.raises(TypeError, match="our own fault"):
        make_backend("scripted:", max_tokens=3)
    with pytest.raises(ConfigError, match="unexpected keyword argument 'colour'"):
        make_backend("scripted:", colour="red")


def test_names_are_split_in_one_place() -> None:
    assert split_backend("local:a/b") == split_backend("transformers_local:a/b")
    assert split_backend("vllm/org/model:adapter") == ("inspect_models", "vllm/org/model:adapter")
    assert split_backend("inspect_models:openai/x") == ("inspect_models", "openai/x")


# digests


def test_a_digest_covers_every_byte_of_weights_and_adapter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights, adapter = tmp_path / "model", tmp_path / "adapter"
    for folder in (weights, adapter):
        (folder / "deep").mkdir(parents=True)
        (folder / "deep" / "model.safetensors").write_bytes(bytes(100))
    name, options = f"local:{weights}", {"adapter": str(adapter)}
    seen = {digest_backend(name), digest_backend(name, options)}
    for folder in (weights, adapter):
        (folder / "deep" / "model.safetensors").write_bytes(bytes(50) + b"x" + bytes(49))
        seen.add(digest_backend(name, options))
    single = tmp_path / "small.gguf"
    single.write_bytes(bytes(100))
    seen.add(digest_backend(f"local:{single}"))
    single.write_bytes(bytes(99) + b"x")
    seen.add(digest_backend(f"local:{single}"))
    assert len(seen) == 6
    assert "" not in seen
    assert digest_backend("openai/gpt-5") == digest_backend("local:/no/such/folder") == ""
    # of a large file: size, head, middle and tail
    monkeypatch.setattr(backends, "WHOLE", 50)
    monkeypatch.setattr(backends, "BLOCK", 10)
    places = {}
    for place in (0, 20, 50, 99):
        content = bytearray(100)
        content[place] = 1
        single.write_bytes(content)
        places[place] = digest_backend(f"local:{single}")
    single.write_bytes(bytes(100))
    same = digest_backend(f"local:{single}")
    assert [place for place, found in places.items() if found == same] == [20]
    single.write_bytes(bytes(101))
    assert digest_backend(f"local:{single}") != same


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


# extras


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


def test_a_script_is_a_backend() -> None:
    assert isinstance(ScriptedBackend([]), Backend)
    assert isinstance(CallableBackend(say_wait), Backend)
