"""Through a real HTTP hop: inspect's models, its task, its logs; services that fail."""

import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from llm_policies import wander
from llm_stub import FAULTS, TRANSPORT, StubServer
from tenacity import wait_fixed

pytest.importorskip("inspect_ai")

from inspect_ai import eval as evaluate
from inspect_ai.log import read_eval_log
from inspect_ai.model._providers.openai_compatible import OpenAICompatibleAPI

from benchmarks.llm.decisions import read_decisions
from benchmarks.llm.task import normgym as make_normgym
from benchmarks.suite import load_suite

KEY = "canary-4f1c9a77b2e0"
SHORT = ("--suite", "smoke", "--interaction-turns", 10, "--test-turns", 10)


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., StubServer]]:
    """Return a function that starts a server and tells inspect where it is."""
    servers = []

    def start(*arguments: object, **options: object) -> StubServer:
        server = StubServer(*arguments, **options)  # type: ignore[arg-type]
        servers.append(server)
        monkeypatch.setenv("STUB_BASE_URL", server.url)
        monkeypatch.setenv("STUB_API_KEY", KEY)
        monkeypatch.setenv("VLLM_BASE_URL", server.url)
        return server

    # inspect waits for seconds before it asks again; how long is its business
    monkeypatch.setattr(OpenAICompatibleAPI, "retry_wait", lambda self: wait_fixed(0.05))
    yield start
    for server in servers:
        server.__exit__()


def read_run(folder: Path) -> tuple[list[dict], Counter, int]:
    """Return the records, the failures and the number of decisions of a folder with one model."""
    (path,) = (folder / "records").glob("*.jsonl")
    records = [json.loads(line) for line in path.read_bytes().splitlines()[1:]]
    (decisions,) = (folder / "decisions").iterdir()
    found = [d for _, stored in read_decisions(decisions) for d in stored]
    return records, Counter(d.failure for d in found), len(found)


def fail_often(number: int) -> str:
    """Let 20 % of the requests go wrong, each way equally often."""
    draw = random.Random(number).random()
    return FAULTS[int(draw / 0.2 * len(FAULTS))] if draw < 0.2 else ""


def test_a_server_is_reached_as_users_reach_theirs(
    serve, normgym, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = serve(wander)
    arguments = ("bench", "llm", *SHORT, "--limit", 1, "--out", tmp_path)
    status, out, err = normgym(*arguments, "--model", "vllm/stub", "--price", "1,2,0.1")
    assert status == 0, err
    records, failures, decisions = read_run(tmp_path)
    assert len(records) == 3
    assert server.served == {"": decisions}
    assert server.images == decisions  # a picture in every prompt
    assert failures == {"": decisions}
    assert server.keys == {"Bearer inspectai"}  # vLLM's own placeholder: no key is needed
    assert re.search(rf"decisions +{decisions} from {decisions} requests", out)
    assert re.search(r"cost +\$0\.\d+", out)
    page = (tmp_path / "report.md").read_text()
    assert "Calls, tokens, cost" in page
    assert "Joint success" in page
    monkeypatch.delenv("VLLM_BASE_URL")
    other = ("--model", "openai-api/stub/stub", "--base-url", server.url)
    status, out, _ = normgym("bench", "llm", *SHORT, "--limit", 1, "--modality", "text", *other)
    assert status == 0
    assert server.keys == {"Bearer inspectai", f"Bearer {KEY}"}


def test_nothing_told_to_logs_names_the_norm_or_the_key(serve, normgym, tmp_path: Path) -> None:
    server = serve(wander)
    status, _, _ = normgym(
        *("bench", "llm", *SHORT, "--limit", 2, "--modality", "text"),
        *("--model", "openai-api/stub/stub", "--out", tmp_path),
    )
    assert status == 0
    assert server.keys == {f"Bearer {KEY}"}
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files
    for path in files:
        assert KEY.encode() not in path.read_bytes(), path
    (log,) = (tmp_path / "logs").glob("*.eval")
    suite = load_suite("smoke")
    norms = {norm for spec in suite.specs for norm in spec.norms}
    secrets = {*norms, *(str(spec.seed) for spec in suite.specs)}
    content = read_eval_log(str(log))
    assert content.eval.task_version == 1
    seen = [content.model_dump_json(), *(path.name for path in (tmp_path / "decisions").rglob("*"))]
    assert KEY not in seen[0]
    for secret in secrets:
        assert not any(secret in text for text in seen), secret
    for sample in content.samples or []:
        assert re.fullmatch("[0-9a-f]{16}", str(sample.id))
        assert set(sample.metadata) == {"group"}
        assert sample.metadata["group"] == sample.id


def test_failures_are_counted_as_they_were_injected(serve, normgym, tmp_path: Path) -> None:
    server = serve(wander, fail_often, slow=15.0)
    status, out, err = normgym(
        *("bench", "llm", "--suite", "smoke", "--interaction-turns", 12, "--test-turns", 12),
        *("--model", "openai-api/stub/stub", "--modality", "text", "--out", tmp_path),
        *("--model-arg", "max_retries=0", "--parameter", "attempt_timeout=4"),
    )
    assert status == 0, err
    records, failures, decisions = read_run(tmp_path)
    served = server.served
    assert sum(served[kind] for kind in TRANSPORT) > 5
    assert failures["refusal"] == served["refusal"] > 0
    assert failures["length"] == served["length"] > 0
    assert failures["parse"] == served["babble"] + served["empty"] > 0
    assert failures[""] == served[""]
    assert failures["transport"] == 0
    assert decisions == server.total - sum(served[kind] for kind in TRANSPORT)
    assert len({record["episode"] for record in records}) == len(records) == 12
    assert all(record["kind"] == "episode" for record in records)
    # every request is accounted for: the client library was told not to repeat any by itself
    assert re.search(rf"decisions +{decisions} from {server.total} requests", out)


def test_a_dead_service_is_an_error_and_the_run_goes_on_later(
    serve, normgym, tmp_path: Path
) -> None:
    alive = {"yes": False}
    server = serve(wander, lambda number: "" if alive["yes"] or number < 12 else "500")
    arguments = (
        *("bench", "llm", *SHORT, "--limit", 1, "--model", "openai-api/stub/stub"),
        *("--modality", "text", "--out", tmp_path, "--model-arg", "max_retries=0"),
        *("--parameter", "max_retries=1"),
    )
    status, _, err = normgym(*arguments)
    assert status == 1
    assert "episodes failed and are not counted; the same command goes on" in err
    first, _, decided = read_run(tmp_path)
    errors = [record for record in first if record["kind"] == "error"]
    assert errors
    assert decided == server.served[""]
    alive["yes"] = True
    status, _, err = normgym(*arguments)
    assert status == 0, err
    records, _, decisions = read_run(tmp_path)
    assert [record["kind"] for record in records] == ["episode"] * 3
    assert decisions == server.served[""]  # no turn was asked twice


def test_the_task_runs_under_inspect_itself(serve, tmp_path: Path) -> None:
    server = serve(wander)
    task = make_normgym(
        suite="smoke", modality="text", interaction_turns=6, test_turns=6, out=str(tmp_path / "run")
    )
    (log,) = evaluate(
        task,
        model="openai-api/stub/stub",
        log_dir=str(tmp_path / "logs"),
        display="none",
        temperature=0.3,
        top_p=0.9,
        max_connections=3,
        model_args={"stream": False},
        limit=2,
    )
    assert log.status == "success"
    assert log.results is not None
    names = {score.name for score in log.results.scores}
    assert names == {f"{a}{b}" for a in ("joint", "task") for b in ("", "_seen", "_unseen")}
    for score in log.results.scores:
        assert {"mean", "stderr", "ci_lower", "ci_upper"} <= set(score.metrics)
        assert score.scored_samples == 2
    records, _, _ = read_run(tmp_path / "run")
    assert len(records) == 6
    assert {record["options"]["temperature"] for record in records} == {"0.3"}
    for record in records:
        assert record["options"]["top_p"] == "0.9"
        assert record["options"]["model_arg.stream"] == "False"
        assert record["options"]["base_url"] == server.url
        assert "max_connections" not in record["options"]
    tests = [record["joint"] for record in records if record["phase"] != "interaction"]
    (joint,) = (score for score in log.results.scores if score.name == "joint")
    assert joint.metrics["mean"].value == pytest.approx(sum(tests) / len(tests))


def test_a_server_that_is_not_there_is_one_clear_line(
    normgym, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VLLM_BASE_URL", raising=False)
    pytest.importorskip("inspect_ai")
    if find_spec("vllm") is not None:
        pytest.skip("inspect would start a server with the vllm that is installed")
    status, _, err = normgym(
        *("bench", "llm", *SHORT, "--limit", 1, "--modality", "text", "--model", "vllm/nobody")
    )
    assert status == 2
    assert "the model cannot be reached" in err
    assert len(err.strip().splitlines()) == 1
