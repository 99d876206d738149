"""`normgym train dqn --learner stacked`, and what is said when it cannot be."""

import subprocess
import sys
from pathlib import Path

import pytest

from agents.dqn.runs import load_run
from normgym_envs import cli
from training.config import DQNConfig
from training.stacked.sweep import _finish
from training.sweep import plan_sweep

ROOT = Path(__file__).resolve().parents[3]


def call(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[int, str, str]:
    """Run the command in this process; return exit status, output and error output."""
    monkeypatch.setattr(sys, "argv", ["normgym", "train", *arguments])
    with pytest.raises(SystemExit) as stop:
        cli.main()
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


def test_one_run_and_the_other_learner_on_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    one = ["dqn", "--norm", "bend-right-1", "--steps", "1100", "--out", str(tmp_path)]
    status, out, err = call([*one, "--learner", "stacked"], monkeypatch, capsys)
    assert (status, err) == (0, "")
    assert f"finished; play it with --agent dqn:{tmp_path}" in out
    assert (load_run(tmp_path).learner, load_run(tmp_path).status) == ("stacked", "finished")
    status, _, err = call(one, monkeypatch, capsys)
    assert status == 2
    assert "holds another run: learner is 'stacked' there, 'sb3' now" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--learner", "staked"], "unknown learner 'staked'; did you mean 'stacked'"),
        (["--learner", "stacked", "--ray", "auto"], "--ray is for the learner 'sb3'"),
        (["--learner", "stacked", "--device", "warp"], "device 'warp' cannot be used"),
    ],
)
def test_bad_input_is_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    common = ["dqn", "--norm", "bend-right-1", "--out", str(tmp_path / "run")]
    status, _, err = call([*common, *arguments], monkeypatch, capsys)
    assert status == 2
    assert err.startswith(f"normgym: {message}")
    assert err.count("\n") == 1


def test_a_process_that_ends_blames_no_run_for_another(tmp_path: Path) -> None:
    sweep = plan_sweep(
        [DQNConfig("bend-right-1"), DQNConfig("bend-left-1")], tmp_path, learner="stacked"
    )
    log = tmp_path / "log"
    log.write_text("bend-left-1_mlp_sparse_0: out of luck\n")
    for code, first, second in (
        (1, f"its process ended with status 1; see {log}", "out of luck"),
        (-9, "its process was killed by SIGKILL", "its process was killed by SIGKILL"),
    ):
        for run in sweep.runs:
            run.status = "running"
        _finish(sweep.runs, log, code)
        assert [run.status for run in sweep.runs] == ["failed", "failed"]
        assert sweep.runs[0].error.startswith(first)
        assert sweep.runs[1].error.startswith(second)


def test_speed_refuses_numbers_out_of_range(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    status, _, err = call(["speed", "--norms", "60"], monkeypatch, capsys)
    assert (status, err) == (2, "normgym: num_norms is 60; expected 1 to 50\n")


def test_without_torch_the_extra_is_named() -> None:
    code = (
        "import sys\nsys.modules['torch'] = None\n"
        "import training.stacked.codes, training.stacked.kernels, training.stacked.speed_cli\n"
        "from importlib import import_module\n"
        "from normgym_envs.errors import MissingExtraError\n"
        "for name in ('replay', 'networks', 'stack', 'files', 'runs', 'torch_backend'):\n"
        "    try:\n        import_module(f'training.stacked.{name}')\n"
        "    except MissingExtraError as error:\n        print(error)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("pip install 'normgym[rl]'") == 6
