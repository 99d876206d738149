"""Decision files, prices, sums, shortened suites, pictures and presets on their own."""

import json
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from agents import Belief
from agents.llm import Decision, NewcomerSettings, Usage, make_backend
from benchmarks.llm.decisions import DecisionLog, read_decisions
from benchmarks.llm.ledger import Ledger
from benchmarks.llm.presets import get_preset
from benchmarks.llm.pricing import Price, find_price, read_price, show_dollars, sum_cost
from benchmarks.llm.setup import LLMSetup
from benchmarks.llm.turns import shorten
from benchmarks.suite import Suite, load_suite
from normgym_envs.constants import TEST_PHASES
from normgym_envs.engine import BatchEngine
from normgym_envs.errors import ConfigError, RecordError, SeedError, UnknownNameError

ODD = 'a \x00 null, a lone \ufffd, \u202eright to left, \U0001f600, "quotes"\n'


def make_decision(turn: int, **fields: object) -> Decision:
    """Return a decision with odd texts in it."""
    usage = (Usage(1000, 400, 50, None),)
    return Decision(turn=turn, action=1, completion=ODD, reasoning=ODD, usage=usage, **fields)


def test_decisions_come_back_as_they_were(short: Suite, tmp_path: Path) -> None:
    config = LLMSetup("scripted:").make_config(short)
    belief = Belief("left door only", 0.25)
    made = [make_decision(turn, failure="parse" if turn == 4 else "") for turn in (0, 1, 4)]
    log = DecisionLog(tmp_path, config, "token", belief)
    assert log.stored == ()
    for decision in made:
        log.append(decision)
        # nothing waits in a buffer: a kill at this moment loses nothing
        lines = (tmp_path / "token.jsonl").read_bytes().splitlines()
        assert json.loads(lines[-1])["turn"] == decision.turn
    log.close()
    again = DecisionLog(tmp_path, config, "token", belief)
    assert list(again.stored) == made
    again.close()
    assert dict(read_decisions(tmp_path)) == {"token": tuple(made)}
    with pytest.raises(RecordError, match="belongs to another run: belief is"):
        DecisionLog(tmp_path, config, "token", Belief("left door only", 0.26))
    other = LLMSetup("scripted:", max_tokens=7).make_config(short)
    with pytest.raises(RecordError, match="belongs to another run: run is"):
        DecisionLog(tmp_path, other, "token", belief)


@pytest.mark.parametrize("cut", [1, 30, 200])
def test_only_a_torn_last_line_is_cut_off(short: Suite, tmp_path: Path, cut: int) -> None:
    config = LLMSetup("scripted:").make_config(short)
    log = DecisionLog(tmp_path, config, "token", None)
    for turn in range(3):
        log.append(make_decision(turn))
    log.close()
    path = tmp_path / "token.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    again = DecisionLog(tmp_path, config, "token", None)
    assert [decision.turn for decision in again.stored] == [0, 1]
    again.append(make_decision(2))
    again.close()
    assert path.read_bytes() == whole
    lines = whole.splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], lines[1][:-30] + b"\n", lines[2]]))
    with pytest.raises(RecordError, match="line 2 is damaged"):
        DecisionLog(tmp_path, config, "token", None)
    path.write_bytes(b"".join([lines[0], lines[2], lines[1]]))
    with pytest.raises(RecordError, match="not in order"):
        DecisionLog(tmp_path, config, "token", None)


def test_cached_tokens_are_paid_once_and_at_their_own_price() -> None:
    price = Price(input=3.0, output=15.0, cached=0.3)
    assert price.cost(Usage(1000, 400, 50, 20)) == pytest.approx(
        (600 * 3.0 + 400 * 0.3 + 50 * 15.0) / 1e6
    )
    assert Price(3.0, 15.0).cost(Usage(1000, 400, 50)) == pytest.approx(3750 / 1e6)
    assert price.cost(Usage(1000, None, 50)) == pytest.approx(3750 / 1e6)
    assert price.cost(Usage(None, None, 50)) is None
    assert price.cost(Usage(10, 0, None)) is None
    assert sum_cost(None, [make_decision(0)]) is None
    assert sum_cost(price, [make_decision(0), make_decision(1)]) == pytest.approx(2 * 2.67e-3)


def test_unknown_prices_are_unknown_and_not_nothing() -> None:
    assert find_price("vllm/some-model") is None
    assert show_dollars(None) == "unknown"
    opus = find_price("anthropic/claude-opus-5")
    assert opus is not None
    assert opus.as_of
    assert find_price("anthropic/claude-opus-5-20260401") == opus
    assert find_price("openai/gpt-5-mini") != find_price("openai/gpt-5")
    assert find_price("openai/gpt-5-extra") is None
    ledger = Ledger(None)
    ledger.add(make_decision(0))
    assert ledger.cost is None
    assert dict(ledger.rows())["cost"] == "unknown"
    assert read_price("3,15,0.3") == Price(3.0, 15.0, 0.3)
    for text in ("3", "a,b", "-1,2", "1,2,3,4", "nan,1", "inf,1"):
        with pytest.raises(ConfigError, match="--price is"):
            read_price(text)


def test_a_ledger_sums_requests_and_tells_what_no_server_said() -> None:
    ledger = Ledger(Price(3.0, 15.0, 0.3))
    ledger.add(make_decision(0, attempts=3, failure="parse", latency_s=1.5))
    ledger.add(make_decision(1, attempts=1, latency_s=0.5))
    silent = Decision(turn=2, action=4, failure="refusal", usage=(Usage(),))
    ledger.add(silent)
    told = ledger.to_json()
    assert (told["decisions"], told["requests"], told["model_seconds"]) == (3, 5, 2.0)
    assert told["failures"] == {
        "parse": 1, "refusal": 1, "length": 0, "context_overflow": 0, "transport": 0,
    }  # fmt: skip
    assert told["tokens"] == {
        "input_tokens": 2000,
        "cached_tokens": 800,
        "output_tokens": 100,
        "reasoning_tokens": None,
    }
    assert told["cost_dollars"] is None  # one request did not say what it took
    assert "1 requests that did not say" in dict(ledger.rows())["input tokens"]


def test_a_shortened_suite_is_another_suite() -> None:
    suite = load_suite("smoke")
    cut = shorten(suite, 20, 15)
    assert shorten(suite, None, None) is suite
    assert cut.name == "smoke-turns-20-15"
    assert cut.sha256 != suite.sha256
    assert {spec.limit for spec in cut.specs if spec.phase in TEST_PHASES} == {15}
    assert {spec.limit for spec in cut.specs if spec.phase == "interaction"} == {20}
    same = shorten(suite, 10_000, None)
    assert [spec.limit for spec in same.specs] == [spec.limit for spec in suite.specs]
    with pytest.raises(ConfigError, match="--test-turns is 0"):
        shorten(suite, None, 0)


def test_pictures_are_small_true_and_the_same_in_every_process() -> None:
    from benchmarks.llm import pictures

    suite = load_suite("smoke")
    engine = BatchEngine(suite.layouts(), suite.norms, 1)
    engine.load(0, suite.specs[0])
    for _ in range(30):
        engine.step(np.full((1, 10), 4, np.int8))
    layout = engine.layouts[int(engine.states[0]["layout"])]
    picture = pictures.draw_png(engine.states[0], layout)
    assert len(picture) < 40_000
    frame = pictures._find_renderer().draw(engine.states[0], layout, viewer=0, goal=True)
    shown = np.asarray(Image.open(BytesIO(picture)).convert("RGB"))
    assert shown.shape == frame.shape
    assert np.abs(shown.astype(int) - frame).mean() < 5
    code = (
        "import hashlib, numpy as np\n"
        "from benchmarks.llm.pictures import draw_png\n"
        "from benchmarks.suite import load_suite\n"
        "from normgym_envs.engine import BatchEngine\n"
        "s = load_suite('smoke'); e = BatchEngine(s.layouts(), s.norms, 1); e.load(0, s.specs[0])\n"
        "for _ in range(30): e.step(np.full((1, 10), 4, np.int8))\n"
        "p = draw_png(e.states[0], e.layouts[int(e.states[0]['layout'])])\n"
        "print(hashlib.sha256(p).hexdigest())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    import hashlib

    assert done.stdout.strip() == hashlib.sha256(picture).hexdigest()


def test_the_preset_names_the_seven_models_of_the_paper() -> None:
    preset = get_preset("paper")
    assert len(preset.models) == 7
    assert (preset.temperature, preset.max_tokens) == (0.7, 4048)
    for part in ("opus-5", "gpt-5.6-sol", "gemini-3.1-pro", "GLM-4.6V-Flash", "Qwen3-VL-8B",
                 "Llama-3.2-11B-Vision", "Ministral-3-8B"):  # fmt: skip
        assert sum(part in model for model in preset.models) == 1
    with pytest.raises(UnknownNameError, match="did you mean 'paper'"):
        get_preset("papers")


def test_a_setup_names_what_is_not_the_default(short: Suite) -> None:
    plain = LLMSetup("openai/gpt-5")
    assert plain.label == "openai/gpt-5"
    assert plain.is_hosted
    assert LLMSetup("vllm/org/model:adapter").is_hosted
    assert LLMSetup("inspect_models:openai/gpt-5").is_hosted
    for model in ("scripted:", "callable:a.b:c", "local:some/folder"):
        assert not LLMSetup(model).is_hosted
    shown = NewcomerSettings(modality="text", known_norm=True, interaction=False)
    other = LLMSetup("openai/gpt-5", shown, seed=2)
    assert other.label == "openai/gpt-5 (known norm, text only, seed 2)"
    options = other.make_config(short).options
    assert options["condition"] == "known norm"
    assert options["modality"] == "text"
    assert options["temperature"] == "0.7"
    assert options["prompts"].startswith("full-")
    waits = LLMSetup("openai/gpt-5", extra=(("attempt_timeout", 9), ("top_p", 0.5)))
    assert waits.make_config(short).options["top_p"] == "0.5"
    assert "attempt_timeout" not in waits.make_config(short).options
    with pytest.raises(ConfigError, match="--temperature is 3"):
        LLMSetup("openai/gpt-5", temperature=3)
    with pytest.raises(ConfigError, match="--max-tokens is 0"):
        LLMSetup("openai/gpt-5", max_tokens=0)
    with pytest.raises(SeedError):
        LLMSetup("openai/gpt-5", seed=-1)


def test_a_record_says_which_server_and_arguments_it_is_of(short: Suite) -> None:
    plain = LLMSetup("vllm/x")
    other = LLMSetup(
        "vllm/x",
        model_args=(("tokenizer_mode", "slow"), ("max_num_batched_tokens", 9), ("max_retries", 0)),
        base_url="http://here:8000/v1",
    )
    found = {
        name: value
        for name, value in other.make_config(short).options.items()
        if name not in plain.make_config(short).options
    }
    assert found == {
        "base_url": "http://here:8000/v1",
        "model_arg.tokenizer_mode": "slow",
        "model_arg.max_num_batched_tokens": "9",
    }
    for name in ("api_key", "token", "hf-token", "client_secret", "apikey", "Authorization"):
        with pytest.raises(ConfigError, match=f"parameter '{name}' looks like a key"):
            LLMSetup("vllm/x", model_args=(("client", {name: "x"}),))


def test_code_of_prompts_and_pictures_is_part_of_a_run(
    short: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    from benchmarks.llm import setup as module

    def digests() -> tuple[str, str]:
        setups = (LLMSetup("scripted:", NewcomerSettings(modality=m)) for m in ("text", "image"))
        return tuple(setup.make_config(short).agent_digest for setup in setups)  # type: ignore

    first = digests()
    monkeypatch.setattr(module, "digest_pictures", lambda: "other")
    second = digests()
    assert second[0] == first[0] != second[1] != first[1]
    monkeypatch.setattr(module, "digest_code", lambda: "other")
    third = digests()
    assert third[0] != second[0]
    assert third[1] != second[1]


def test_an_edited_function_is_another_model(short: Suite, tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "tuned_policy.py"
    monkeypatch.syspath_prepend(str(tmp_path))
    path.write_text("def say(prompt): return 'a'\n")
    setup = LLMSetup("callable:tuned_policy:say")
    first = setup.make_config(short)
    path.write_text("def say(prompt): return 'b'\n")
    assert setup.make_config(short).agent_digest != first.agent_digest != ""
    assert make_backend("callable:tuned_policy:say").name == "callable:tuned_policy:say"


def test_importing_the_benchmarks_imports_no_model_library() -> None:
    code = (
        "import sys, benchmarks, benchmarks.cli, benchmarks.llm.cli, benchmarks.llm.session\n"
        "print([m for m in ('inspect_ai', 'openai', 'torch', 'transformers', 'pygame')"
        " if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
