"""`normgym train dqn --ray`: a sweep on a real local cluster, and one on an address of nobody."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import ray
from dqn_runs import make_config

from agents.dqn.runs import load_run
from normgym_envs import cli
from normgym_envs.errors import ConfigError
from training.sweep import plan_sweep, train_on_ray

NORMS = ("bend-right-1", "even-turns-only")


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """Start a cluster of this machine's own, with processes apart from this one."""
    from ray.cluster_utils import Cluster

    os.environ.setdefault("RAY_worker_niceness", "0")  # ray's own 15 starves on a busy computer
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2})
    try:
        yield cluster.address
    finally:
        cluster.shutdown()


def test_the_command_trains_two_norms_on_a_cluster(
    cluster: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    arguments = ["train", "dqn", "--steps", "1104", "--out", str(tmp_path), "--ray", cluster]
    for norm in NORMS:
        arguments += ["--norm", norm]
    monkeypatch.setattr(sys, "argv", ["normgym", *arguments])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    shown = capfd.readouterr()
    assert stop.value.code in (0, None), shown.err
    assert "2 of 2 runs finished" in shown.out
    for norm in NORMS:
        info = load_run(tmp_path / f"{norm}_mlp_sparse_0")
        assert (info.status, info.steps) == ("finished", 1_104)
    assert not ray.is_initialized()  # the cluster is left as it was
    # what the cluster trained is what this machine trains
    alone = tmp_path / "alone"
    command = [sys.executable, "-m", "normgym_envs", "train", "dqn", "--norm", NORMS[0]]
    subprocess.run([*command, "--steps", "1104", "--out", str(alone)], check=True)
    ours, theirs = (
        (folder / "checkpoints" / "1104.pt").read_bytes()
        for folder in (alone, tmp_path / f"{NORMS[0]}_mlp_sparse_0")
    )
    assert ours == theirs


def test_one_failure_stops_nothing_on_a_cluster(cluster: str, tmp_path: Path) -> None:
    configs = [make_config(norm, steps=400) for norm in NORMS]
    sweep = plan_sweep(configs, tmp_path)
    (sweep.runs[0].folder / "resume.pt").write_bytes(b"x")
    train_on_ray(sweep, cluster)
    assert [run.status for run in sweep.runs] == ["failed", "finished"]
    assert "resume.pt is damaged" in sweep.failed[0].error
    (sweep.runs[0].folder / "resume.pt").unlink()
    again = plan_sweep(configs, tmp_path)
    train_on_ray(again, cluster)
    assert [run.status for run in again.runs] == ["finished", "finished"]


def test_nodes_that_see_another_disk_send_their_runs_back(
    cluster: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    touch = Path.touch
    # without the marker a node takes the folder for another machine's
    monkeypatch.setattr(
        Path, "touch", lambda self, **k: None if ".sweep-" in self.name else touch(self, **k)
    )
    sweep = plan_sweep([make_config(steps=400)], tmp_path)
    train_on_ray(sweep, cluster)
    assert [run.status for run in sweep.runs] == ["finished"]
    assert load_run(sweep.runs[0].folder).status == "finished"
    assert (sweep.runs[0].folder / "checkpoints" / "400.pt").exists()


def test_an_address_of_nobody(tmp_path: Path) -> None:
    sweep = plan_sweep([make_config()], tmp_path)
    with pytest.raises(ConfigError, match=r"answers at '127\.0\.0\.1:1'"):
        train_on_ray(sweep, "127.0.0.1:1")
    assert not list(tmp_path.glob(".sweep*"))
