"""`normgym bench run`: what it prints and writes, and that mistakes cost nothing."""

import json
from pathlib import Path

import pytest

from benchmarks import throughput
from benchmarks.report import check_comparable, write_report
from benchmarks.runner import run
from benchmarks.suite import Suite, save_suite
from benchmarks.summary import SECONDARY, summarize, to_json
from benchmarks.tables import make_tables, to_markdown
from normgym_envs.errors import ConfigError

FAILING = """
import random

def act(observation):
    return 4

def fail(observation):
    raise RuntimeError("no answer")

class Sometimes:
    def reset(self, context):
        self.fails = context.phase == "seen" and int(context.token, 16) % 2

    def act(self, observation):
        if self.fails:
            raise RuntimeError("no answer")
        return 4
"""


@pytest.fixture
def suite_file(suite: Suite, tmp_path: Path) -> Path:
    return save_suite(suite, tmp_path)


@pytest.fixture
def agent_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "own_agents.py").write_text(FAILING)
    monkeypatch.syspath_prepend(str(tmp_path))
    return "own_agents"


def read_strictly(path: Path) -> object:
    return json.loads(path.read_text(), parse_constant=lambda name: pytest.fail(name))


def test_run_writes_everything(normgym, suite: Suite, suite_file: Path, tmp_path: Path) -> None:
    out, numbers = tmp_path / "out", tmp_path / "numbers.json"
    names = ("oracle", "norm_blind", "wait", "cautious", "random")
    options = [part for name in names for part in ("--agent", name)]
    status, text, errors = normgym(
        "bench", "run", *options, "--suite", suite_file, "--json", numbers, "--out", out
    )
    assert (status, errors) == (0, "")
    assert max(map(len, text.splitlines())) <= 100 or "report:" in text
    found = read_strictly(numbers)
    assert isinstance(found, list)
    assert [entry["agent"] for entry in found] == list(names)
    for entry in found:
        assert (entry["suite"], entry["suite_hash"]) == ("small", suite.sha256)
        assert (entry["seen"]["n"], entry["seen"]["n_err"]) == (8, 0)
        assert "unseen" not in entry
        for name in ("joint", "task", *SECONDARY):
            value, interval = entry["seen"][name], entry["seen"][f"{name}_interval"]
            if value is None:
                assert interval is None
            else:
                assert interval[0] <= value <= interval[1]
    assert sorted(path.name for path in (out / "records").glob("*.jsonl")) == sorted(
        f"{name}.jsonl" for name in names
    )
    report = (out / "report.md").read_text()
    for part in ("normgym bench run --agent oracle", suite.sha256, "joint.png", "0 failed"):
        assert part in report
    assert (out / "joint.png").read_bytes().startswith(b"\x89PNG")
    before = {path: path.read_bytes() for path in (out / "records").glob("*.jsonl")}
    assert normgym("bench", "run", *options, "--suite", suite_file, "--out", out)[0] == 0
    assert before == {path: path.read_bytes() for path in (out / "records").glob("*.jsonl")}


def test_own_functions_and_failures(
    normgym, suite_file: Path, tmp_path: Path, agent_module: str
) -> None:
    numbers = tmp_path / "numbers.json"
    base = ("bench", "run", "--suite", suite_file, "--json", numbers)
    assert normgym(*base, "--agent", f"{agent_module}:act")[0] == 0
    status, _, errors = normgym(*base, "--agent", f"{agent_module}:Sometimes")
    assert status == 1
    assert "episodes failed and are not counted" in errors
    assert "RuntimeError: no answer" in errors
    found = read_strictly(numbers)
    assert isinstance(found, list)
    assert found[0]["seen"]["n"] + found[0]["seen"]["n_err"] == 8
    assert found[0]["seen"]["n_err"] > 0
    assert normgym(*base, "--agent", f"{agent_module}:fail")[0] == 1
    found = read_strictly(numbers)
    assert isinstance(found, list)
    assert found[0]["seen"]["n"] == 0
    assert found[0]["seen"]["joint"] is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--agent", "oracl"], "unknown agent 'oracl'; did you mean 'oracle'?"),
        (["--agent", "nowhere.at_all:act"], "module 'nowhere.at_all' cannot be imported"),
        (["--agent", "math:pi"], "a float cannot be called"),
        (["--agent", "wait", "--suite", "caffe"], "unknown suite 'caffe'; did you mean 'cafe'?"),
        (["--agent", "wait", "--norm", "even-turn"], "did you mean 'even-turns-only'"),
        (["--agent", "wait", "--family", "alocation"], "did you mean 'allocation'"),
        (["--agent", "wait", "--condition", "saw"], "unknown condition 'saw'"),
        (["--agent", "wait", "--seed", "-1"], "seed is -1"),
        (["--agent", "wait", "--json", "/nowhere/at/all.json"], "--json: folder /nowhere/at"),
        (["--agent", "wait", "--out", "/dev/null/out"], "--out: folder /dev/null/out"),
    ],
)
def test_mistakes_are_one_line(normgym, options: list[str], said: str) -> None:
    status, text, errors = normgym("bench", "run", *options)
    assert (status, text) == (2, "")
    assert said in errors
    assert errors.count("\n") == 1


def test_a_wrong_action_is_one_line(normgym, suite_file: Path) -> None:
    status, _, errors = normgym("bench", "run", "--agent", "builtins:len", "--suite", suite_file)
    assert status == 2
    assert "agent 'builtins:len': action " in errors


def test_lists(normgym) -> None:
    status, text, _ = normgym("agents")
    assert status == 0
    assert "oracle" in text
    assert "llm:BACKEND" in text
    status, text, _ = normgym("suites")
    assert status == 0
    assert "cafe" in text


def test_tables_name_every_agent_and_family(suite: Suite) -> None:
    runs = [run("oracle", suite), run("wait", suite)]
    success, task, secondary = make_tables(runs)
    assert success.header[1:] == tuple(
        f"{family}\n({number})"
        for family, number in [
            ("access", 2),
            ("procedure", 2),
            ("coordination", 2),
            ("allocation", 2),
            ("all", 8),
        ]
    )
    assert [row[0] for row in success.rows] == ["oracle", "wait"]
    for table in (success, task, secondary):
        assert {len(row) for row in table.rows} == {len(table.header)}
        lines = to_markdown(table).splitlines()
        assert len({line.count("|") for line in lines if line.startswith("|")}) == 1


def test_one_family_has_no_column_for_all(suite: Suite) -> None:
    (success, *_) = make_tables([run("wait", suite, families=["access"])])
    assert success.header == ("agent", "access\n(2)")


def test_summary_by_hand(suite: Suite) -> None:
    result = run("wait", suite)
    cell = summarize(result, "seen")
    assert (cell.num, cell.num_errors) == (8, 0)
    assert cell.joint.value == 0.0
    done = [record.goals_completed for record in result.episodes("seen")]  # pushed onto goals
    assert cell.task.value == 100 * sum(done) / 16
    assert cell.joint.high == pytest.approx(100 * 3.8415 / (8 + 3.8415), abs=0.01)
    assert cell.secondary["path_length"].value == 40.0
    assert cell.secondary["path_length_completed"].value is None
    assert to_json(result)["seen"]["wait_share"] == 100.0


def test_what_was_not_measured_alike_is_not_compared(suite: Suite, tmp_path: Path) -> None:
    first = run("wait", suite, norms=["bend-right-1"])
    config = first.config.model_copy(update={"suite_hash": "0" * 64})
    other = type(first)(config, first.records)
    with pytest.raises(ConfigError, match="different suite_hash"):
        check_comparable([first, other])
    with pytest.raises(ConfigError, match="different suite_hash"):
        write_report(tmp_path, [first, other], "x")


@pytest.mark.slow
def test_throughput(normgym, tmp_path: Path) -> None:
    numbers = tmp_path / "speed.json"
    status, text, _ = normgym(
        "bench", "throughput", "--seconds", 2, "--no-starts", "--json", numbers
    )
    assert status == 0
    found = read_strictly(numbers)
    assert isinstance(found, dict)
    assert found["ratios"]["batch256_vs_naive"] >= 500
    assert found["ratios"]["step1_observed_vs_naive"] >= 250
    assert found["ratios"]["gym_vs_cartpole"] >= 0.3
    assert {"batch4096_observed", "vector256", "naive_shared"} < set(found["env_steps_per_second"])
    assert "plain Python" in text


def test_throughput_needs_a_checkout(
    normgym, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(throughput, "_TESTS", tmp_path)
    status, _, errors = normgym("bench", "throughput")
    assert status == 2
    assert "run this command in a checkout" in errors
    status, _, errors = normgym("bench", "throughput", "--seconds", 0)
    assert "seconds is 0.0; expected at least 1" in errors
