"""The market benchmark: acceptance against the released runs, options, files and bad input."""

import json
import sys
import time
from pathlib import Path

import pytest

from benchmarks import market
from benchmarks.market_plots import draw_figures
from benchmarks.market_reference import ABLATIONS, BANDS
from benchmarks.statistics import EMPTY
from normgym_envs import cli
from normgym_envs.errors import ConfigError, UnknownNameError
from normgym_envs.market import load_scenario, make_scenario, play
from normgym_envs.market.replay import replay_log
from normgym_envs.market.scenario import SCENARIOS


@pytest.fixture
def bench(monkeypatch, capsys):
    """Return a function that runs `normgym bench market` in this process."""

    def call(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["normgym", "bench", "market", *arguments])
        with pytest.raises(SystemExit) as stop:
            cli.main()
        captured = capsys.readouterr()
        return int(stop.value.code or 0), captured.out, captured.err

    return call


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_row_of_the_released_distribution_is_met(name: str) -> None:
    pair = market.run_pair(load_scenario(name), range(1, 401), "as_run")
    rows = market.hold({name: pair})
    assert len(rows) == len(BANDS[name]) == 6
    for row in rows:
        assert row.passes, row


def test_ablations_lie_near_the_papers_five_seeds() -> None:
    # own means over 40 seeds; SW's are five seeds, so its error is the larger one
    for name, ablation in ABLATIONS.items():
        outcomes = market.run_ablation(name, range(1, 41), "as_run")
        for setting, outcome in zip(ablation.settings, outcomes, strict=True):
            welfare = outcome.values["welfare"]
            error = (welfare.var() / 40 + welfare.var() / 5) ** 0.5
            assert abs(welfare.mean() - setting.welfare) < 4 * error + 1, (name, setting)


def test_the_market_is_fast_enough() -> None:
    scenario = load_scenario("baseline")
    play(scenario, [1])
    best = 0.0
    for start in range(0, 5 * 256, 256):
        begun = time.process_time()
        runs = play(scenario, range(start, start + 256))
        best = max(best, float(runs.num_records.sum()) / (time.process_time() - begun))
    assert best > 200_000  # resolved proposals a second of processor time, one thread


def test_json_holds_scenarios_and_control(bench, tmp_path: Path) -> None:
    path = tmp_path / "market.json"
    status, out, _ = bench(
        "--scenario",
        "baseline",
        "--scenario",
        "strict_governance",
        "--seeds",
        "1-3",
        "--json",
        str(path),
    )
    assert status == 0
    assert "SW Table 4" in out
    content = json.loads(path.read_text())
    assert content["seeds"] == [1, 2, 3]
    keys = {"toxicity", "welfare", "net_social_welfare", "interactions", "accepted", "n"}
    for side in ("scenarios", "control"):
        assert content[side].keys() == {"baseline", "strict_governance"}
        assert all(row.keys() == keys and row["n"] == 3 for row in content[side].values())
    # the baseline has no levers: it is its own control
    assert content["scenarios"]["baseline"] == content["control"]["baseline"]
    assert content["scenarios"]["strict_governance"] != content["control"]["strict_governance"]


def test_everything_is_printed_and_written(bench, tmp_path: Path) -> None:
    status, out, _ = bench("--seeds", "42,123", "--out", str(tmp_path))
    assert status == 0
    for table in ("2", "3", "4", "5", "6a", "6b", "6c", "6d", "7", "8", "9"):
        assert f"SW Table {table}:" in out
    for words in ("Topology sweep", "Pass rate by criterion", "p Holm", "modes", "not run:"):
        assert words in out
    report = (tmp_path / "report.md").read_text()
    figures = sorted(path.name for path in tmp_path.glob("*.png"))
    assert [name.split("_")[1] for name in figures] == ["2", "3", "4", "5", "6", "7", "8"]
    assert all(f"({name})" in report for name in figures)
    logs = sorted((tmp_path / "logs").glob("*.jsonl"))
    assert len(logs) == 7
    assert replay_log(logs[0]).seed == 42


def test_as_written_prints_its_sources_and_differences(bench) -> None:
    status, out, _ = bench("--scenario", "baseline", "--seeds", "1", "--preset", "as_written")
    assert status == 0
    assert "not specified" in out
    assert "App. B" in out
    assert "Presets" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--scenario", "baselin"), "did you mean 'baseline'"),
        (("--ablation", "taks"), "did you mean 'tax'"),
        (("--seeds", "1-"), "--seeds: '1-' is no seed"),
        (("--seeds", "5-1"), "no range"),
        (("--seeds", ""), "no seed"),
        (("--preset", "as_wrote"), "as_written"),
        (("--json", "/nowhere/x.json"), "--json: folder /nowhere does not exist"),
        (("--out", "/proc/none"), "--out"),
        (("--check", "--preset", "as_written"), "--check"),
        (("--scenario", "baseline", "--scenario", "baseline"), "2 times"),
    ],
)
def test_bad_options_are_one_line(bench, arguments, words: str) -> None:
    status, out, err = bench(*arguments)
    assert status == 2
    assert words in err
    assert err.count("\n") == 1
    assert not out


def test_seeds_are_read() -> None:
    assert market.parse_seeds("42, 123,1-3") == (42, 123, 1, 2, 3)
    assert market.parse_seeds("2,1-3") == (2, 1, 3)
    with pytest.raises(ConfigError):
        market.parse_seeds("-1")
    with pytest.raises(UnknownNameError):
        market.find_ablation("nothing")


def test_a_market_that_accepts_nothing_has_nulls_and_still_tables_and_figures() -> None:
    dead = make_scenario(
        {
            "name": "dead",
            "population": [{"archetype": "cautious", "count": 3}],
            "criteria": [{"name": "flagged_pairs", "at_least": 1}],
        }
    )
    pair = market.run_pair(dead, [1, 2], "as_run")
    assert market.summarise(pair.levers)["toxicity"] is None
    assert market.estimate(pair.levers.values["toxicity"], (1, 2)) == EMPTY
    words, rate, read, why = market.rate_criteria(pair.levers)[0]
    assert (words, rate, read) == ("flagged_pairs >= 1", EMPTY, True)
    assert why == "not evaluated in 2 of 2 runs"
    assert market.compare_pairs({"dead": pair})[0].p is None
    assert set(draw_figures({"dead": pair}, {})) == {
        f"figure_{name}.png"
        for name in (
            "2_toxicity_welfare",
            "3_pareto",
            "4_toxicity_epochs",
            "7_welfare_epochs",
            "8_volume",
        )
    }


def test_holm_corrects_over_all_rows() -> None:
    pairs = {
        name: market.run_pair(load_scenario(name), range(1, 9), "as_run")
        for name in ("baseline", "strict_governance", "adaptive_governance")
    }
    rows = [row for row in market.compare_pairs(pairs) if row.p is not None]
    assert len(rows) == 6  # the baseline has nothing to test
    smallest = min(rows, key=lambda row: row.p or 0)
    assert smallest.p_holm == pytest.approx(6 * (smallest.p or 0))
    assert all((row.p_holm or 0) >= (row.p or 0) for row in rows)
