"""A run from its first to its last transition, and what an interruption changes: nothing."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from dqn_runs import REASON, begin_run, make_config

torch = pytest.importorskip("torch", reason=REASON)
pytest.importorskip("stable_baselines3", reason=REASON)

from agents.dqn.runs import list_checkpoints, load_checkpoint, load_run, read_log  # noqa: E402
from normgym_envs.errors import ConfigError, RecordError  # noqa: E402
from training.config import VALIDATION_LAYOUTS, DQNConfig  # noqa: E402
from training.dqn import train_dqn  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]


def read_curve(folder: Path) -> bytes:
    """Return the log without the lines that say how long things took."""
    lines = (folder / "log.jsonl").read_bytes().splitlines(keepends=True)
    return b"".join(line for line in lines if json.loads(line)["kind"] != "time")


def assert_same_run(first: Path, second: Path) -> None:
    """Compare curve, checkpoints and validation byte for byte."""
    assert read_curve(first) == read_curve(second)
    names = [path.name for path in list_checkpoints(first).values()]
    assert [path.name for path in list_checkpoints(second).values()] == names
    for name in names:
        ours, theirs = ((place / "checkpoints" / name).read_bytes() for place in (first, second))
        assert ours == theirs


@pytest.mark.parametrize(("encoder", "reward"), [("mlp", "sparse"), ("cnn", "dense")])
def test_a_run_leaves_curve_probes_validation_and_checkpoints(
    tmp_path: Path, encoder: str, reward: str
) -> None:
    config = make_config(encoder=encoder, reward=reward, steps=800, learning_starts=400)
    told: list[int] = []
    train_dqn(config, tmp_path, report=told.append)
    assert told[-1] == 800
    info = load_run(tmp_path)
    assert (info.status, info.steps) == ("finished", 800)
    assert not (tmp_path / "resume.pt").exists()
    assert list(list_checkpoints(tmp_path)) == [80, 200, 400, 600, 800]
    for path in list_checkpoints(tmp_path).values():
        assert load_checkpoint(path).encoder == encoder
    log = read_log(tmp_path)
    curve = [entry for entry in log if entry["kind"] == "train"]
    assert [entry["steps"] for entry in curve] == [400, 800]
    assert [entry["episodes"] for entry in curve] == [8, 8]
    assert all(0 < entry["wait_share"] < 1 for entry in curve)
    assert curve[0]["loss_mean"] is None
    assert curve[1]["loss_mean"] > 0
    assert [entry["epsilon"] for entry in curve] == pytest.approx([0.05, 0.05])
    probes = [(e["steps"], e["set"]) for e in log if e["kind"] == "probe"]
    assert probes == [(s, name) for s in config.validation_at for name in ("train", "validation")]
    validations = [e for e in log if e["kind"] == "validation"]
    assert [(e["steps"], e["layout"], e["episodes"]) for e in validations] == [
        (steps, layout, 2) for steps in config.validation_at for layout in VALIDATION_LAYOUTS
    ]
    for entry in validations:
        assert 0 <= entry["joint"] <= entry["task"] <= 1
    board = list((tmp_path / "tensorboard").glob("events*"))
    assert len(board) == (1 if torch_has_tensorboard() else 0)


def torch_has_tensorboard() -> bool:
    """Return whether curves are written for TensorBoard."""
    try:
        import torch.utils.tensorboard  # noqa: F401
    except ImportError:
        return False
    return True


def test_a_finished_run_is_left_alone(tmp_path: Path) -> None:
    config = make_config(steps=400)
    train_dqn(config, tmp_path)
    times = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.is_file()}
    train_dqn(config, tmp_path)
    assert {p: p.stat().st_mtime_ns for p in tmp_path.rglob("*") if p.is_file()} == times
    with pytest.raises(RecordError, match="holds another run: steps is 400 there, 500 now"):
        train_dqn(make_config(steps=500), tmp_path)


def test_worlds_that_do_not_divide_the_bins(tmp_path: Path) -> None:
    config = make_config(steps=1_000, num_envs=7)
    train_dqn(config, tmp_path)
    assert load_run(tmp_path).steps == 1_008  # the first whole round
    assert [e["steps"] for e in read_log(tmp_path) if e["kind"] == "train"] == [420, 812, 1_008]
    assert list(list_checkpoints(tmp_path)) == list(config.validation_at)


class Stop(Exception):
    """Stands for whatever ends a process."""


@pytest.mark.parametrize("at", [1, 2])
def test_a_run_that_breaks_off_anywhere_goes_on_the_same(tmp_path: Path, at: int) -> None:
    """Break off after the at-th entry of the curve, wherever in the files that is."""
    config = make_config(episode_steps=70, num_envs=3)  # episodes run across bins
    train_dqn(config, tmp_path / "whole")

    def stop(steps: int) -> None:
        if steps >= 400 * at + 30:
            raise Stop

    for _ in range(2):  # twice, so that a resumed run is resumed too
        try:
            from training import dqn

            before, dqn._REPORT = dqn._REPORT, 1
            train_dqn(config, tmp_path / "broken", report=stop)
        except Stop:
            at += 1
        finally:
            dqn._REPORT = before
    assert load_run(tmp_path / "broken").status == "running"
    train_dqn(config, tmp_path / "broken")
    assert_same_run(tmp_path / "whole", tmp_path / "broken")


def start(folder: Path) -> subprocess.Popen[bytes]:
    """Train a prepared folder in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "training.worker", str(folder), "cpu"],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


@pytest.mark.slow
def test_kill_at_a_random_moment_and_resume(tmp_path: Path) -> None:
    """SIGKILL a training process, train on: curve, weights and evaluation byte for byte."""
    config = make_config("group-seating-1", steps=3_000, bin_steps=300)
    for name in ("whole", "killed"):
        begin_run(tmp_path / name, config)
    whole = start(tmp_path / "whole")
    assert whole.wait(300) == 0, whole.stderr and whole.stderr.read()
    killed = 0
    while killed < 2:
        process = start(tmp_path / "killed")
        begun = load_run(tmp_path / "killed").steps
        while load_run(tmp_path / "killed").steps == begun and process.poll() is None:
            time.sleep(0.02)
        time.sleep(random.random())
        if process.poll() is not None:
            break  # too fast for this computer
        process.send_signal(signal.SIGKILL)
        process.wait(60)
        killed += 1
    assert killed > 0
    assert load_run(tmp_path / "killed").status == "running"
    last = start(tmp_path / "killed")
    assert last.wait(300) == 0, last.stderr and last.stderr.read()
    assert_same_run(tmp_path / "whole", tmp_path / "killed")

    from agents import find_agent
    from benchmarks.runner import run
    from benchmarks.suite import load_suite

    suite = load_suite("cafe")
    records = [
        [
            record.model_dump(exclude={"agent"})
            for record in run(
                find_agent(f"dqn:{tmp_path / name}"), suite, norms=[config.norm], condition="seen"
            ).records
        ]
        for name in ("whole", "killed")
    ]
    assert len(records[0]) > 1
    assert records[0] == records[1]


def damage(path: Path, content: dict[str, Any] | bytes) -> None:
    """Overwrite a file of tensors."""
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        torch.save(content, path)


def break_off(config: DQNConfig, folder: Path) -> None:
    """Leave a run that has saved once."""

    def stop(steps: int) -> None:
        if load_run(folder).steps:
            raise Stop

    from training import dqn

    before, dqn._REPORT = dqn._REPORT, 1
    try:
        with pytest.raises(Stop):
            train_dqn(config, folder, report=stop)
    finally:
        dqn._REPORT = before


def test_a_damaged_resume_file_is_named(tmp_path: Path) -> None:
    config = make_config()
    break_off(config, tmp_path)
    path = tmp_path / "resume.pt"
    state = torch.load(path, weights_only=True)
    damage(path, b"nothing")
    with pytest.raises(RecordError, match=r"resume\.pt is damaged"):
        train_dqn(config, tmp_path)
    damage(path, {**state, "steps": 123})
    with pytest.raises(RecordError, match=r"does not fit this run.*remove it to begin anew"):
        train_dqn(config, tmp_path)
    path.unlink()
    train_dqn(config, tmp_path)  # anew
    assert load_run(tmp_path).status == "finished"


def test_a_full_disk_stops_a_run_that_goes_on_later(tmp_path: Path) -> None:
    config = make_config()
    train_dqn(config, tmp_path / "whole")
    folder = tmp_path / "full"
    break_off(config, folder)
    log = folder / "log.jsonl"
    kept = log.read_bytes()
    log.unlink()
    log.symlink_to("/dev/full")
    with pytest.raises((ConfigError, RecordError), match=r"log\.jsonl|No space left"):
        train_dqn(config, folder)
    log.unlink()
    log.write_bytes(kept)
    train_dqn(config, folder)
    assert_same_run(tmp_path / "whole", folder)


def test_an_unknown_device_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="device 'gpu' cannot be used"):
        train_dqn(make_config(), tmp_path, device="gpu")
