"""Many runs: what fails is said and stops nothing, what was interrupted goes on."""

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest
from dqn_runs import REASON, make_config, save_policy

torch = pytest.importorskip("torch", reason=REASON)
pytest.importorskip("stable_baselines3", reason=REASON)

from agents.dqn.runs import RunWriter, load_run  # noqa: E402
from normgym_envs import cli  # noqa: E402
from normgym_envs.errors import ConfigError, MissingExtraError  # noqa: E402
from normgym_envs.norms.library import list_norms  # noqa: E402
from training import sweep as sweep_module  # noqa: E402
from training.config import run_name  # noqa: E402
from training.dqn import train_dqn  # noqa: E402
from training.progress import describe_run, draw_bar, draw_table, make_table  # noqa: E402
from training.ray_tasks import check_address, train_remotely  # noqa: E402
from training.stacked.runs import train_stacked  # noqa: E402
from training.sweep import Sweep, plan_sweep, train_locally, train_on_ray  # noqa: E402
from training.worker import train_folder  # noqa: E402

SMALL = {"steps": 400, "validation_episodes": 1}


@pytest.mark.slow
def test_one_failure_stops_nothing_and_the_same_sweep_goes_on(tmp_path: Path) -> None:
    norms = ("bend-right-1", "even-turns-only", "group-seating-1", "zigzag-left-1")
    configs = [make_config(norm, **SMALL) for norm in norms]
    finished, damaged, foreign, fresh = (tmp_path / run_name(config) for config in configs)
    save_policy(finished, configs[0])
    damaged.mkdir()
    (damaged / "resume.pt").write_bytes(b"x")
    save_policy(foreign, make_config("group-seating-1", steps=900))
    sweep = plan_sweep(configs, tmp_path)
    assert [run.status for run in sweep.runs] == ["finished", "waiting", "failed", "waiting"]
    seen: list[str] = []
    train_locally(sweep, workers=2, report=lambda s: seen.append(make_table(s, 1.0, 0).title or ""))
    assert [run.status for run in sweep.runs] == ["finished", "failed", "failed", "finished"]
    assert "resume.pt is damaged" in sweep.failed[0].error
    assert "steps is 900 there, 400 now" in sweep.failed[1].error
    assert load_run(damaged).status == "failed"
    assert "resume.pt is damaged" in load_run(damaged).error
    assert any("running" in title for title in seen)
    assert describe_run(sweep.runs[3]).endswith("finished at 400 of 400 steps")
    # again: what was finished is left alone, what failed is tried again
    (damaged / "resume.pt").unlink()
    before = (fresh / "run.json").stat().st_mtime_ns
    again = plan_sweep(configs, tmp_path)
    train_locally(again, workers=1)
    assert [run.status for run in again.runs] == ["finished", "finished", "failed", "finished"]
    assert (fresh / "run.json").stat().st_mtime_ns == before


def test_a_second_sweep_leaves_the_first_alone(tmp_path: Path) -> None:
    config = make_config(**SMALL)
    first = plan_sweep([config], tmp_path).runs[0]
    writer = RunWriter(first.folder, config.to_json(), "sb3")
    writer.note(123)
    with writer.locked():
        before = (first.folder / "run.json").read_bytes()
        assert "trained by another process" in train_folder(first.folder, "cpu")
        assert (first.folder / "run.json").read_bytes() == before
        (second,) = plan_sweep([config], tmp_path).runs
        assert second.status == "failed"
        assert "trained by another process" in second.error
        stacked = tmp_path / "stacked"
        assert (first.folder / "run.json").read_bytes() == before
    other = RunWriter(stacked, config.to_json(), "stacked")
    other.note(0)
    with other.locked():
        assert "another process" in train_stacked([(config, stacked)])[stacked]
        assert load_run(stacked).status == "running"


def test_a_run_of_a_sweep_is_the_run_alone(tmp_path: Path) -> None:
    config = make_config(**SMALL)
    train_dqn(config, tmp_path / "alone")
    sweep = plan_sweep([config], tmp_path / "sweep")
    train_locally(sweep, workers=1)
    ours = sweep.runs[0].folder / "checkpoints" / "400.pt"
    assert ours.read_bytes() == (tmp_path / "alone" / "checkpoints" / "400.pt").read_bytes()


@pytest.mark.slow
def test_a_killed_worker_is_a_failed_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[int] = []
    start = sweep_module.start_process

    def note(*arguments: object) -> object:
        process = start(*arguments)  # type: ignore[arg-type]
        started.append(process.pid)
        return process

    monkeypatch.setattr(sweep_module, "start_process", note)
    configs = [make_config("bend-right-1", steps=100_000), make_config("even-turns-only", **SMALL)]
    sweep = plan_sweep(configs, tmp_path)

    def kill() -> None:
        while sweep.runs[0].steps == 0:
            time.sleep(0.05)
        os.kill(started[0], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    train_locally(sweep, workers=1)
    killer.join()
    assert [run.status for run in sweep.runs] == ["failed", "finished"]
    assert "killed by SIGKILL; the same command goes on with it" in sweep.failed[0].error
    assert load_run(sweep.runs[0].folder).steps >= 400


def test_progress_on_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with draw_bar("bend-right-1_mlp_sparse_0", 400) as tell:
        tell(100)
        tell(400)
    assert "400/400" in capsys.readouterr().err
    sweep = plan_sweep([make_config(norm) for norm in list_norms()[:20]], tmp_path)
    for run, status in zip(sweep.runs, ["finished", "failed", *["running"] * 14], strict=False):
        run.status, run.steps = status, 400
    sweep.runs[1].error = "out of luck"
    with draw_table() as show:
        show(sweep)
    shown = capsys.readouterr().err
    for text in ("1 finished", "14 running", "4 waiting", "1 failed", "out of luck", "and 3 more"):
        assert text in shown


def test_bad_sweeps(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nothing to train"):
        plan_sweep([], tmp_path)
    with pytest.raises(ConfigError, match="'bend-right-1_mlp_sparse_0' is asked for twice"):
        plan_sweep([make_config(), make_config(steps=1_000)], tmp_path)
    with pytest.raises(ConfigError, match="workers is 0; expected at least 1"):
        train_locally(Sweep(tmp_path), workers=0)
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be written to"):
        plan_sweep([make_config()], tmp_path / "file")


def test_an_address_without_a_cluster() -> None:
    with pytest.raises(ConfigError, match=r"no Ray cluster answers at '127\.0\.0\.1:1'.*ray start"):
        check_address("127.0.0.1:1")
    with pytest.raises(ConfigError, match=r"answers at 'ray://nowhere\.invalid:10001'"):
        check_address("ray://nowhere.invalid:10001")
    check_address("auto")


def test_ray_is_asked_for_by_its_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"normgym\[ray,rl\]"):
        train_on_ray(plan_sweep([make_config()], tmp_path), "auto")
    assert not list(tmp_path.glob(".sweep*"))


def test_a_node_that_does_not_see_the_folder_sends_the_run_back(tmp_path: Path) -> None:
    config = make_config(**SMALL)
    sweep = plan_sweep([config], tmp_path)
    folder = sweep.runs[0].folder
    run_file = (folder / "run.json").read_bytes()
    error, files = train_remotely(run_file, "/nowhere/at/all", "/nowhere/marker", "cpu")
    assert error == ""
    assert {"run.json", "log.jsonl", "checkpoints/400.pt"} <= set(files)
    assert json.loads(files["run.json"])["status"] == "finished"
    assert load_run(folder).status == "running"  # nothing was written here
    bad = json.loads(run_file)
    bad["config"]["norm"] = "bend-rigt-1"
    error, _ = train_remotely(json.dumps(bad).encode(), "/nowhere", "/nowhere/marker", "cpu")
    assert "unknown norm 'bend-rigt-1'" in error


def call(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[int, str, str]:
    """Run the command in this process; return exit status, output and error output."""
    monkeypatch.setattr(sys, "argv", ["normgym", "train", "dqn", *arguments])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


def test_the_command_trains_one_and_then_a_sweep(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    common = ["--steps", "1100", "--reward", "none"]
    one = [*common, "--norm", "bend-right-1", "--out", str(tmp_path / "one")]
    status, out, err = call(one, monkeypatch, capsys)
    assert (status, err) == (0, "")
    assert f"finished; play it with --agent dqn:{tmp_path / 'one'}" in out
    assert load_run(tmp_path / "one").config["reward"] == "none"
    config = make_config("even-turns-only", reward="none", steps=900)
    save_policy(tmp_path / "sweep" / run_name(config), config)
    many = [*common, "--norm", "bend-right-1", "--norm", "even-turns-only"]
    status, out, err = call(
        [*many, "--out", str(tmp_path / "sweep"), "--workers", "1"], monkeypatch, capsys
    )
    assert status == 1
    assert "1 of 2 runs finished" in out
    assert "failed: even-turns-only_mlp_none_0" in err
    assert "the same command tries them again" in err
    ours = (tmp_path / "sweep" / "bend-right-1_mlp_none_0" / "checkpoints" / "1100.pt").read_bytes()
    assert ours == (tmp_path / "one" / "checkpoints" / "1100.pt").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--norm", "bend-rigt-1"], "unknown norm 'bend-rigt-1'; did you mean 'bend-right-1'"),
        (["--norm", "al"], "unknown norm 'al'; did you mean 'all'"),
        (["--norm", "all", "--encoder", "mpl"], "unknown encoder 'mpl'; did you mean 'mlp'"),
        (["--norm", "all", "--reward", "dens"], "unknown reward 'dens'; did you mean 'dense'"),
        (["--norm", "all", "--steps", "1000"], "steps is 1000; expected at least 1016"),
        (["--norm", "all", "--num-envs", "0"], "num_envs is 0; expected a whole number from 1"),
        (["--norm", "bend-right-1", "--device", "gpu"], "device 'gpu' cannot be used"),
        (["--norm", "bend-right-1", "--ray", "127.0.0.1:1"], ""),
    ],
)
def test_bad_input_is_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    status, _, err = call([*arguments, "--out", str(tmp_path / "run")], monkeypatch, capsys)
    assert status == 2
    assert err.startswith(f"normgym: {message}")
    assert err.count("\n") == 1


def test_missing_packages_are_named_by_their_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("training.cli.find_spec", lambda name: None)
    status, _, err = call(["--norm", "bend-right-1", "--out", str(tmp_path)], monkeypatch, capsys)
    assert status == 2
    assert "training needs torch; install the extra: pip install 'normgym[rl]'" in err
