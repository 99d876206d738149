"""`normgym bench llm`: what it prints, and one clear line for everything that cannot be played."""

import json
import re
from pathlib import Path

import pytest
from llm_stub import StubServer

MODEL = ("--model", "callable:llm_policies:wander_at_once", "--modality", "text")
SHORT = ("--suite", "smoke", "--limit", 1, "--interaction-turns", 8, "--test-turns", 8)
LLM = ("bench", "llm")


def test_a_dry_run_shows_prompt_and_estimate_and_asks_nothing(
    normgym, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import llm_policies

    asked = []
    monkeypatch.setattr(llm_policies, "wander", asked.append)
    status, out, _ = normgym(
        *LLM, *MODEL, *SHORT, "--price", "3,15", "--dry-run", "--out", tmp_path
    )
    assert status == 0
    assert not asked
    assert "--- system ---" in out
    assert "Social norms" in out
    assert re.search(r"episodes +3\n", out)
    assert re.search(r"requests +at most 24\n", out)
    tokens = int(re.search(r"input tokens +about ([\d,]+)", out)[1].replace(",", ""))
    assert 24 * 1_000 < tokens < 24 * 8_000
    least = (tokens * 3 + 24 * 200 * 15) / 1e6
    assert f"about ${least:.2f}" in out
    assert not list(tmp_path.iterdir())
    _, out, _ = normgym(*LLM, *MODEL, *SHORT, "--dry-run")
    assert re.search(r"cost +unknown", out)
    assert "$0" not in out


def test_a_dry_run_needs_no_key_but_a_run_does(normgym, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    hosted = ("--model", "openai/gpt-5-mini", "--modality", "text")
    status, out, err = normgym(*LLM, *hosted, *SHORT, "--dry-run")
    assert status == 0
    assert "OPENAI_API_KEY" in err
    assert "--- system ---" in out
    assert re.search(r"cost +about \$", out)
    status, out, err = normgym(*LLM, *hosted, *SHORT)
    assert status == 2
    assert "OPENAI_API_KEY" in err
    assert not out
    status, _, err = normgym(*LLM, "--model", "opnai/gpt-5-mini", *SHORT, "--dry-run")
    assert status == 2
    assert "openai" in err


def test_a_run_prints_tables_failures_and_costs_and_goes_on(normgym, tmp_path: Path) -> None:
    numbers = tmp_path / "numbers.json"
    arguments = (*LLM, *MODEL, *SHORT, "--out", tmp_path / "run", "--json", numbers)
    status, out, _ = normgym(*arguments)
    assert status == 0
    for text in ("joint success", "no readable answer", "own time", "report: "):
        assert text in out
    first = json.loads(numbers.read_text())
    (row,) = first
    assert row["costs"]["decisions"] == row["costs"]["requests"] > 0
    assert row["costs"]["cost_dollars"] is None
    records = next((tmp_path / "run" / "records").glob("*.jsonl"))
    before = records.read_bytes()
    status, out, _ = normgym(*arguments)
    assert status == 0
    assert records.read_bytes() == before
    assert json.loads(numbers.read_text())[0]["costs"]["decisions"] == row["costs"]["decisions"]
    assert re.search(r"own time +-", out)  # nothing was asked again


def test_several_models_share_tables_and_a_folder(normgym, tmp_path: Path) -> None:
    status, _, _ = normgym(
        *(*LLM, *SHORT, "--modality", "text", "--out", tmp_path),
        *("--model", "callable:llm_policies:wander", "--model", "scripted:"),
    )
    assert status == 0
    assert len(list((tmp_path / "records").glob("*.jsonl"))) == 2
    page = (tmp_path / "report.md").read_text()
    assert "scripted: (text only)" in page.replace("\\", "")
    assert "llm_policies:wander (text only)" in page.replace("\\", "")


def test_pictures_reach_a_function_that_takes_messages(normgym) -> None:
    status, _, err = normgym(*LLM, *SHORT, "--model", "callable:llm_policies:see")
    assert status == 0, err


def test_an_outage_leaves_status_one_and_no_secret(
    normgym, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANARY_API_KEY", "canary-77aa88bb")
    status, out, err = normgym(
        *(*LLM, *SHORT, "--modality", "text", "--out", tmp_path),
        *("--model", "callable:llm_policies:tell_key"),
    )
    assert status == 1
    assert "3 episodes failed and are not counted; the same command goes on" in err
    assert "canary-77aa88bb" not in out + err
    for path in tmp_path.rglob("*"):
        assert path.is_dir() or b"canary-77aa88bb" not in path.read_bytes(), path


BAD = {
    "no model": ((), "no model is named"),
    "provider": (("--model", "opnai/gpt-5"), "did you mean 'openai'"),
    "backend": (("--model", "gpt-5"), "unknown backend 'gpt-5'"),
    "function": (("--model", "callable:llm_policies:wandr"), "did you mean 'wander'"),
    "folder": (("--model", "local:/no/such/model"), "is not on this machine"),
    "preset": (("--preset", "papre"), "did you mean 'paper'"),
    "suite": ((*MODEL, "--suite", "smke"), "did you mean 'smoke'"),
    "norm": ((*MODEL, *SHORT, "--norm", "forbidden-zone"), "did you mean 'forbidden-zone-q'"),
    "family": ((*MODEL, *SHORT, "--family", "acces"), "did you mean 'access'"),
    "condition": ((*MODEL, *SHORT, "--condition", "sen"), "did you mean 'seen'"),
    "modality": ((*MODEL[:2], "--modality", "pictures"), "unknown modality 'pictures'"),
    "prompts": ((*MODEL, "--prompts", "ful"), "did you mean 'full'"),
    "paper text": ((*MODEL, "--prompts", "paper"), "paper"),
    "limit": ((*MODEL, "--limit", "0"), "--limit is 0"),
    "turns": ((*MODEL, "--interaction-turns", "0"), "--interaction-turns is 0"),
    "temperature": ((*MODEL, "--temperature", "warm"), "--temperature is 'warm'"),
    "hot": ((*MODEL, "--temperature", "2.5"), "--temperature is 2.5"),
    "tokens": ((*MODEL, "--max-tokens", "0"), "--max-tokens is 0"),
    "seed": ((*MODEL, "--seed", "-1"), "seed is -1"),
    "connections": ((*MODEL, "--max-connections", "0"), "--max-connections is 0"),
    "price": ((*MODEL, "--price", "cheap"), "--price is 'cheap'"),
    "budget": ((*MODEL, "--max-cost", "5"), "--max-cost needs the price"),
    "both": ((*MODEL, "--known-norm", "--no-interaction"), "leave out --no-interaction"),
    "pair": ((*MODEL, "--parameter", "top_p"), "expected NAME=VALUE"),
    "double": ((*MODEL, "--parameter", "temperature=1"), "there is --temperature for it"),
    "secret": (
        ("--model", "vllm/stub", "--model-arg", "api_key=abcdef"),
        "parameter 'api_key' looks like a key",
    ),
    "header": (
        ("--model", "vllm/stub", "--parameter", 'extra_headers={"Authorization": "x"}'),
        "parameter 'Authorization' looks like a key",
    ),
    "password": (
        ("--model", "vllm/stub", "--base-url", "http://me:secret@host/v1"),
        "--base-url holds a user or password",
    ),
    "stray": ((*MODEL, "--base-url", "http://x"), "--model-arg and --base-url are for hosted"),
    "json": ((*MODEL, "--json", "/no/such/folder/x.json"), "does not exist"),
    "images": (
        ("--model", "callable:llm_policies:wander", "--suite", "smoke"),
        "takes no pictures",
    ),
    "option": (("--model", "vllm/stub", "--parameter", "top_q=1"), "did you mean 'top_p'"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_cannot_be_played_is_one_clear_line(
    normgym, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import llm_policies

    asked = []
    monkeypatch.setattr(llm_policies, "wander", asked.append)
    arguments, message = BAD[name]
    status, out, err = normgym(*LLM, *arguments)
    assert status == 2
    assert message in err
    assert err.startswith("normgym: ")
    assert len(err.strip().splitlines()) == 1
    assert not out
    assert not asked


def test_a_missing_key_is_one_clear_line(normgym, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("inspect_ai")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    status, _, err = normgym(*LLM, "--model", "openai/gpt-5-mini", "--suite", "smoke")
    assert status == 2
    assert "OPENAI_API_KEY" in err
    assert len(err.strip().splitlines()) == 1


def test_a_missing_package_names_the_extra(normgym, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "inspect_ai.model", None)
    status, _, err = normgym(*LLM, "--model", "openai/gpt-5-mini", "--suite", "smoke")
    assert status == 2
    assert "normgym[llm]" in err


def test_a_context_that_is_too_small_is_said_before_any_call(
    normgym, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("inspect_ai")
    with StubServer(str) as server:
        monkeypatch.setenv("STUB_BASE_URL", server.url)
        monkeypatch.setenv("STUB_API_KEY", "unused")
        status, _, err = normgym(
            *(*LLM, *SHORT, "--model", "openai-api/stub/stub", "--modality", "text"),
            *("--context-tokens", 5000, "--max-tokens", 4048),
        )
        assert server.total == 0
    assert status == 2
    assert "give the model a larger context" in err


def test_a_folder_of_something_else_is_refused(normgym, tmp_path: Path) -> None:
    arguments = (*LLM, *MODEL, "--limit", 1, "--interaction-turns", 3, "--out", tmp_path)
    assert normgym(*arguments, "--suite", "smoke", "--test-turns", 3)[0] == 0
    status, _, err = normgym(*arguments, "--suite", "smoke", "--test-turns", 4)
    assert status == 2
    assert "holds a run of suite 'smoke-turns-3-3'" in err
    same = (*arguments, "--suite", "smoke", "--test-turns", 3)
    for change in (("--max-tokens", 99), ("--seed", 0, "--temperature", 0.5)):
        status, _, err = normgym(*same, *change)
        assert (status, err) == (0, "") if "--temperature" in change else status == 2
    path = next((tmp_path / "records").glob("*.jsonl"))
    content = path.read_bytes()
    path.write_bytes(re.sub(rb"full-\d+:[0-9a-f]+", b"full-1:000000000000", content))
    status, _, err = normgym(*same)
    assert status == 2
    assert "belongs to another run: options is" in err


def test_other_settings_of_any_model_are_refused_before_one_is_asked(
    normgym, tmp_path: Path
) -> None:
    arguments = (*LLM, *SHORT, "--modality", "text", "--out", tmp_path)
    assert normgym(*arguments, "--model", "scripted:")[0] == 0
    before = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    status, _, err = normgym(
        *(*arguments, "--model", "callable:llm_policies:wander", "--model", "scripted:"),
        *("--max-tokens", 99),
    )
    assert status == 2
    assert "belongs to another run: options is" in err
    assert sorted(path for path in tmp_path.rglob("*") if path.is_file()) == before


def test_prompts_of_ones_own_are_offered(
    normgym, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agents.llm.grid import prompts as texts

    for path in texts._FOLDER.glob("*.toml"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "humming.toml").write_text(
        'version = 3\nbase = "full"\n[blocks.norm]\nhidden = "Everybody hums here."\n'
    )
    monkeypatch.setattr(texts, "_FOLDER", tmp_path)
    status, out, err = normgym(*LLM, *MODEL, *SHORT, "--prompts", "humming", "--dry-run")
    assert status == 0, err
    assert "Everybody hums here." in out
    assert "humming prompts" in out
