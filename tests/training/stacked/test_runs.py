"""The folders of stacked runs: exact resume, damage that stays where it is, processes."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from agents.dqn.runs import list_checkpoints, load_checkpoint, load_run, read_log
from training.config import DQNConfig, run_name
from training.dqn import train_dqn
from training.stacked.runs import train_stacked
from training.stacked.sweep import deal_shares, train_in_shares
from training.sweep import plan_sweep

Make = Callable[..., DQNConfig]
NORMS = ("even-turns-only", "bottom-door-forbidden", "group-seating-1")


class Killed(BaseException):
    """Stands for a signal: no handler of ordinary errors sees it."""


def place(configs: Sequence[DQNConfig], folder: Path) -> list[tuple[DQNConfig, Path]]:
    """Return runs with a folder each."""
    return [(config, folder / run_name(config)) for config in configs]


def train_until(runs: list[tuple[DQNConfig, Path]], steps: int) -> None:
    """Train and be killed once the slowest run has done so many transitions."""

    def watch(done: int) -> None:
        if done >= steps:
            raise Killed

    with pytest.raises(Killed):
        train_stacked(runs, save_seconds=0, report=watch)


def read(folder: Path) -> tuple[list[dict[str, Any]], dict[int, Any]]:
    """Return a run's log without times, and the weights of its checkpoints."""
    log = [entry for entry in read_log(folder) if entry["kind"] != "time"]
    kept = {
        steps: load_checkpoint(path).state_dict for steps, path in list_checkpoints(folder).items()
    }
    return log, kept


def assert_equal_runs(first: Path, second: Path) -> None:
    """Refuse runs that differ in any number."""
    log, kept = read(first)
    other_log, other_kept = read(second)
    assert log == other_log
    assert kept.keys() == other_kept.keys()
    for steps, weights in kept.items():
        for name, value in weights.items():
            assert torch.equal(value, other_kept[steps][name]), (steps, name)


def test_killed_runs_go_on_to_the_same_end(make_config: Make, tmp_path: Path) -> None:
    configs = [make_config(norm) for norm in NORMS]
    whole, parts = place(configs, tmp_path / "whole"), place(configs, tmp_path / "parts")
    assert train_stacked(whole) == {}
    train_until(parts, 1_900)
    assert [load_run(folder).steps for _, folder in parts] == [1_504] * 3
    assert load_run(parts[0][1]).status == "running"
    train_until(parts[:2], 2_600)  # one of them stays behind, and catches up
    assert len({load_run(folder).steps for _, folder in parts}) == 2
    assert train_stacked(parts) == {}
    for (config, folder), (_, again) in zip(whole, parts, strict=True):
        assert_equal_runs(folder, again)
        info = load_run(again)
        assert (info.status, info.steps, info.learner) == ("finished", 4_000, "stacked")
        assert list(list_checkpoints(again)) == list(config.validation_at)
        assert not (again / "resume.pt").exists()
        times = [entry for entry in read_log(again) if entry["kind"] == "time"]
        assert times[0].keys() == {"kind", "steps", "seconds", "cpu_seconds"}
        spent = [entry["cpu_seconds"] for entry in times]
        assert spent == sorted(spent)
        assert spent[0] > 0


def test_files_are_those_of_the_other_learner(make_config: Make, tmp_path: Path) -> None:
    config = make_config(steps=1_000)
    train_stacked([(config, tmp_path / "stacked")])
    train_dqn(config, tmp_path / "sb3")
    (log, kept), (other_log, other_kept) = read(tmp_path / "stacked"), read(tmp_path / "sb3")
    assert [entry.keys() for entry in log] == [entry.keys() for entry in other_log]
    for mine, theirs in zip(log, other_log, strict=True):
        numbers = {name: v for name, v in mine.items() if isinstance(v, int | float)}
        for name, value in numbers.items():
            assert value == pytest.approx(theirs[name], rel=1e-3, abs=1e-5), (mine["kind"], name)
        assert {**mine, **numbers} == {**theirs, **numbers}
    assert kept.keys() == other_kept.keys()
    for steps, weights in kept.items():
        for name, value in weights.items():
            np.testing.assert_allclose(value, other_kept[steps][name], atol=1e-6)
    names = {path.name for path in (tmp_path / "stacked").iterdir()}
    assert names == {path.name for path in (tmp_path / "sb3").iterdir()}


def test_damage_stays_with_its_run(make_config: Make, tmp_path: Path) -> None:
    runs = place([make_config(norm, steps=2_000) for norm in NORMS], tmp_path)
    train_until(runs, 1_200)
    folders = [folder for _, folder in runs]
    state = torch.load(folders[0] / "resume.pt", weights_only=True)
    state["actions"] = state["actions"][:, :3]
    torch.save(state, folders[0] / "resume.pt")
    (folders[1] / "resume.pt").write_bytes(b"nothing")
    errors = train_stacked(runs)
    assert set(errors) == set(folders[:2])
    assert "does not fit this run" in errors[folders[0]]
    assert "is damaged" in errors[folders[1]]
    assert load_run(folders[0]).status == "failed"
    assert load_run(folders[2]).status == "finished"
    for folder in folders[:2]:
        (folder / "resume.pt").unlink()
    assert train_stacked(runs) == {}
    assert {load_run(folder).status for folder in folders} == {"finished"}


def test_a_run_in_progress_is_not_trained_twice(make_config: Make, tmp_path: Path) -> None:
    config = make_config(steps=1_000)
    inner: dict[Path, str] = {}

    def watch(done: int) -> None:
        inner.update(train_stacked([(config, tmp_path)]))

    assert train_stacked([(config, tmp_path)], report=watch) == {}
    assert "another process" in inner[tmp_path]


def test_shares_are_even(make_config: Make, tmp_path: Path) -> None:
    configs = [make_config(norm) for norm in (*NORMS, "bend-right-1", "bend-right-2")]
    sweep = plan_sweep(configs, tmp_path, learner="stacked")
    shares = [[run.config.norm for run in share] for share in deal_shares(sweep, 2)]
    assert sorted(norm for share in shares for norm in share) == sorted(
        config.norm for config in configs
    )
    assert [sum(name.startswith("bend") for name in share) for share in shares] == [1, 1]
    assert len(deal_shares(sweep, 9)) == 5


@pytest.mark.slow
def test_a_sweep_trains_in_processes_and_reports_what_fails(
    make_config: Make, tmp_path: Path
) -> None:
    configs = [make_config(norm, steps=1_000) for norm in NORMS]
    foreign = tmp_path / run_name(configs[2])
    train_stacked([(make_config(NORMS[2], steps=1_000, seed=1), foreign)])
    config_file = foreign / "run.json"
    assert json.loads(config_file.read_bytes())["config"]["seed"] == 1
    sweep = plan_sweep(configs, tmp_path, learner="stacked")
    assert [run.status for run in sweep.runs] == ["waiting", "waiting", "failed"]
    train_in_shares(sweep, workers=2)
    assert [run.status for run in sweep.runs] == ["finished", "finished", "failed"]
    assert "seed is 1 there, 0 now" in sweep.failed[0].error
    direct = place(configs[:2], tmp_path / "direct")
    train_stacked(direct)
    for run, (_, folder) in zip(sweep.runs, direct, strict=False):
        assert_equal_runs(run.folder, folder)
