"""A sweep beside the paper's figures: tables, figures, report, and what is left aside."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from dqn_runs import REASON, begin_run, make_config, save_policy
from PIL import Image

torch = pytest.importorskip("torch", reason=REASON)

from benchmarks.dqn import evaluate, measure_caution, measure_last_return  # noqa: E402
from benchmarks.dqn_plots import collect  # noqa: E402
from benchmarks.dqn_reference import BY_FAMILY, OVERALL  # noqa: E402
from benchmarks.dqn_tables import make_dqn_tables  # noqa: E402
from benchmarks.suite import load_suite  # noqa: E402
from normgym_envs import cli  # noqa: E402
from normgym_envs.constants import FAMILIES  # noqa: E402
from normgym_envs.errors import RecordError  # noqa: E402
from training.config import run_name  # noqa: E402

NORMS = ("bend-right-1", "bottom-door-forbidden")
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a sweep with three conditions, one damaged and one unfinished run."""
    folder = tmp_path_factory.mktemp("sweep")
    for encoder, reward in (("mlp", "sparse"), ("mlp", "none"), ("cnn", "sparse")):
        for seed, norm in enumerate(NORMS):
            config = make_config(norm, encoder=encoder, reward=reward)
            save_policy(folder / run_name(config), config, seed)
    config = make_config("zigzag-left-1")
    save_policy(folder / run_name(config), config).write_bytes(b"x")
    begin_run(folder / "even-turns-only_mlp_sparse_0", make_config("even-turns-only"))
    config = make_config("group-seating-1")
    save_policy(folder / run_name(config), config)
    (folder / run_name(config) / "log.jsonl").write_text("x\n")
    return folder


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Return a function that runs `normgym bench dqn`."""

    def call(*arguments: object) -> tuple[int, str, str]:
        typed = ["normgym", "bench", "dqn", *map(str, arguments)]
        monkeypatch.setattr(sys, "argv", typed)
        with pytest.raises(SystemExit) as stop:
            cli.main()
        captured = capsys.readouterr()
        return int(stop.value.code or 0), captured.out, captured.err

    return call


def test_the_papers_totals_follow_from_its_families() -> None:
    """Guards the transcription: families weighted by their episodes give the totals."""
    weights = dict(zip(FAMILIES, (36, 33, 48, 33), strict=True))
    for (encoder, phase), families in BY_FAMILY.items():
        for index in (0, 1):
            total = sum(weights[name] * families[name][index] for name in FAMILIES) / 150
            assert total == pytest.approx(families["all"][index], abs=0.06)
        assert families["all"] == OVERALL[encoder, "sparse", phase]
    assert len(OVERALL) == 12
    # a joint success is a task success
    assert all(success.joint <= success.task for success in OVERALL.values())


def test_every_condition_is_played_with_its_own_policies(sweep: Path) -> None:
    evaluation = evaluate(sweep, load_suite("main"))
    assert [(c.encoder, c.reward) for c in evaluation.conditions] == [
        ("mlp", "sparse"),
        ("mlp", "none"),
        ("cnn", "sparse"),
    ]
    text = "\n".join(evaluation.unused)
    assert len(evaluation.unused) == 3
    assert "zigzag-left-1_mlp_sparse_0" in text
    assert "even-turns-only_mlp_sparse_0 is running at 0 of 1600 steps" in text
    assert "group-seating-1_mlp_sparse_0" in text
    assert "line 1 is damaged" in text
    for condition in evaluation.conditions:
        assert set(condition.norms) == set(NORMS)
        assert len(condition.result.episodes("seen")) == 6
        assert {r.agent for r in condition.result.records} == {
            f"dqn:{sweep}@{condition.encoder}_{condition.reward}_0"
        }
    first = evaluation.conditions[0]
    records = first.result.episodes("seen")
    shares = [r.wait_share for r in records if r.wait_share is not None]
    caution = measure_caution(first, "seen")
    assert caution.wait_share.value == pytest.approx(100 * sum(shares) / len(shares))
    assert caution.all_wait.value == pytest.approx(100 * shares.count(1) / len(shares))
    collided = [r.collisions > 0 for r in records]
    assert caution.collided.value == pytest.approx(100 * sum(collided) / 6)
    assert measure_last_return(first) == (-30.5, -30.5)
    assert collect(first, "probe", "huber", {"set": "train"}) == {
        800: [1.0, 2.0],
        1_600: [1.0, 2.0],
    }


def test_a_reward_that_nobody_knows_is_left_aside(tmp_path: Path) -> None:
    config = make_config()
    folder = tmp_path / run_name(config)
    save_policy(folder, config)
    content = json.loads((folder / "run.json").read_text())
    content["config"]["reward"] = "spars"
    (folder / "run.json").write_text(json.dumps(content))
    with pytest.raises(RecordError, match="bend-right-1_mlp_sparse_0: unknown reward 'spars'"):
        evaluate(tmp_path, load_suite("main"))
    other = make_config("even-turns-only")
    save_policy(tmp_path / run_name(other), other)
    found = evaluate(tmp_path, load_suite("main"))
    assert [c.norms for c in found.conditions] == [("even-turns-only",)]
    assert found.unused == ("bend-right-1_mlp_sparse_0: unknown reward 'spars'",)


def test_tables_stand_beside_the_papers(sweep: Path) -> None:
    tables = {table.title: table for table in make_dqn_tables(evaluate(sweep, load_suite("main")))}
    names = [title.split(":")[0] for title in tables]
    assert names[:4] == ["Table A6", "Table A7", "Table A8", "Table A9"]
    a6 = tables["Table A6: DQN-MLP, sparse rewards with penalties"]
    assert "2 norms, 1,600 transitions each (NG: 50, 1,000,000)" in a6.note
    rows = {row[:2]: row for row in a6.rows}
    assert set(rows) == {
        (layout, family)
        for layout in ("seen layout", "unseen layouts")
        for family in ("access", "coordination", "all")
    }
    row = rows["seen layout", "access"]
    assert (row[2], row[4], row[6]) == ("3", "33.3", "38.9")
    a8 = tables["Table A8: penalty ablation"]
    shown = {row[:3]: (row[5], row[7]) for row in a8.rows}
    assert shown["MLP", "no penalty", "seen layout"] == ("6.7", "100.0")
    assert ("CNN", "no penalty", "seen layout") not in shown
    assert shown["CNN", "penalty", "unseen layouts"] == ("2.0", "11.3")
    caution = tables["Waiting and collisions in tests"].rows
    assert [cell for cell in caution[0] if "." in cell and "[" not in cell] == [
        *("55.4", "19.3", "64.7")
    ]


def test_the_command_writes_report_figures_and_numbers(
    sweep: Path, tmp_path: Path, bench: Command
) -> None:
    out, numbers = tmp_path / "out", tmp_path / "numbers.json"
    status, shown, err = bench(sweep, "--out", out, "--json", numbers)
    assert status == 0
    assert "Table A8: penalty ablation" in shown
    assert err.count("not used: ") == 3
    report = (out / "report.md").read_text()
    for text in (
        f"`normgym bench dqn {sweep} --out {out} --json {numbers}`",
        "suite: main",
        "### Table A6",
        "### Table A9",
        "trained with: python",
        "torch 2",
        "zigzag-left-1_mlp_sparse_0",
    ):
        assert text in report
    for name in ("figure_a8.png", "figure_a9.png", "figure_a10.png", "validation.png"):
        assert f"({name})" in report
        with Image.open(out / name) as picture:
            assert picture.width > 400
            assert len(picture.convert("L").getcolors(256) or [0] * 257) > 20  # not blank
    data = json.loads(numbers.read_text())
    assert [(one["encoder"], one["reward"]) for one in data] == [
        *(("mlp", "sparse"), ("mlp", "none"), ("cnn", "sparse"))
    ]
    assert data[0]["seen"]["n"] == 6
    # records are resumed from
    before = {path: path.stat().st_mtime_ns for path in (out / "records").iterdir()}
    assert len([path for path in before if path.suffix == ".jsonl"]) == 3
    assert bench(sweep, "--out", out)[0] == 0
    after = {path: path.stat().st_mtime_ns for path in (out / "records").glob("*.jsonl")}
    assert after.items() <= before.items()


def test_bad_input(tmp_path: Path, bench: Command) -> None:
    status, _, err = bench(tmp_path / "none", "--out", tmp_path / "out")
    assert (status, err.count("\n")) == (2, 1)
    assert "expected that of a sweep" in err
    status, _, err = bench(tmp_path, "--out", tmp_path / "out")
    assert status == 2
    assert "has no finished run that could be evaluated" in err
    with pytest.raises(RecordError, match="no finished run"):
        evaluate(tmp_path, load_suite("main"))
