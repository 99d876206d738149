"""Models through inspect: its answers and errors in our words."""

import asyncio
import base64
from collections.abc import Sequence
from typing import Any

import pytest

from agents.llm import Backend, Completion, Message, make_backend
from normgym_envs.errors import ConfigError, UnknownNameError

PROMPT = [Message("system", "rules"), Message("user", "state")]
PICTURED = [Message("system", "rules"), Message("user", "state", (b"\x89PNG",))]


def generate(backend: Backend, messages: Sequence[Message] = PROMPT) -> Completion:
    return asyncio.run(backend.generate(messages))


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
