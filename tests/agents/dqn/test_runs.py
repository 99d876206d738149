"""The files of a run: whole at every moment, checked when they are read."""

import json
import warnings
from pathlib import Path
from typing import Any

import pytest
from dqn_runs import REASON, begin_run, make_config, save_policy

torch = pytest.importorskip("torch", reason=REASON)

from agents import find_agent  # noqa: E402
from agents.dqn.runs import (  # noqa: E402
    RunWriter,
    hash_norms,
    list_checkpoints,
    load_checkpoint,
    load_run,
    read_log,
)
from normgym_envs.errors import ConfigError, RecordError, UnknownNameError  # noqa: E402
from normgym_envs.versions import hash_world  # noqa: E402


def test_what_is_written_is_read(tmp_path: Path) -> None:
    config = make_config(steps=2_000)
    path = save_policy(tmp_path, config)
    info = load_run(tmp_path)
    assert (info.status, info.steps, info.learner) == ("finished", 2_000, "sb3")
    assert info.config == config.to_json()
    assert info.norm_library == hash_norms()
    assert info.condition == "mlp_sparse_0"
    assert {"python", "normgym", "torch", "numpy"} <= set(info.versions)
    assert list_checkpoints(tmp_path) == {2_000: path}
    checkpoint = load_checkpoint(path)
    assert (checkpoint.norm, checkpoint.encoder, checkpoint.steps) == (config.norm, "mlp", 2_000)
    assert checkpoint.network(torch.zeros(1, info.observation_size)).shape == (1, 5)
    assert [entry["kind"] for entry in read_log(tmp_path)][:3] == ["train", "probe", "probe"]


def test_a_log_goes_back_to_where_it_was(tmp_path: Path) -> None:
    writer = begin_run(tmp_path, make_config())
    writer.log({"kind": "train", "steps": 1, "loss_mean": float("nan")})
    size = writer.log_size()
    writer.log({"kind": "train", "steps": 2})
    with (tmp_path / "log.jsonl").open("ab") as file:
        file.write(b'{"kind":"tr')  # cut off by a kill
    assert [entry["steps"] for entry in read_log(tmp_path)] == [1, 2]
    writer.cut_log(size)
    assert read_log(tmp_path) == [{"kind": "train", "steps": 1, "loss_mean": None}]
    with pytest.raises(RecordError, match="expected at least"):
        writer.cut_log(size + 1)


def test_a_folder_belongs_to_one_run(tmp_path: Path) -> None:
    config = make_config()
    begin_run(tmp_path, config)
    RunWriter(tmp_path, config.to_json(), "sb3")
    with pytest.raises(
        RecordError, match="holds another run: reward is 'sparse' there, 'none' now"
    ):
        RunWriter(tmp_path, make_config(reward="none").to_json(), "sb3")
    with pytest.raises(RecordError, match="learner is 'sb3' there, 'stacked' now"):
        RunWriter(tmp_path, config.to_json(), "stacked")
    with pytest.raises(UnknownNameError, match="unknown learner 'sb4'; did you mean 'sb3'"):
        RunWriter(tmp_path, config.to_json(), "sb4")


def _rewrite(folder: Path, **changes: Any) -> None:
    """Change fields of `run.json`; None takes one away."""
    content = {**json.loads((folder / "run.json").read_text()), **changes}
    kept = {name: value for name, value in content.items() if value is not None}
    (folder / "run.json").write_text(json.dumps(kept))


def test_no_run_goes_on_in_another_world(tmp_path: Path) -> None:
    config = make_config()
    writer = begin_run(tmp_path, config)
    assert load_run(tmp_path).world == hash_world()
    writer.save_resume(400, {"steps": 400})
    _rewrite(tmp_path, world="0123", versions={"torch": "1"})
    again = RunWriter(tmp_path, config.to_json(), "sb3")
    with pytest.raises(RecordError, match=r"in world 0123; this is .*remove resume.pt"):
        again.load_resume()
    again.note(400, "failed", "x")  # what it began with is kept
    assert load_run(tmp_path).world == "0123"
    assert load_run(tmp_path).versions == {"torch": "1"}
    _rewrite(tmp_path, world=None)  # written before worlds were noted
    old = RunWriter(tmp_path, config.to_json(), "sb3")
    assert old.load_resume() == {"steps": 400}
    old.note(400)
    assert load_run(tmp_path).world == ""
    _rewrite(tmp_path, world="0123")
    (tmp_path / "resume.pt").unlink()
    RunWriter(tmp_path, config.to_json(), "sb3").note(0)  # begins anew
    assert load_run(tmp_path).world == hash_world()
    assert "torch" in load_run(tmp_path).versions
    _rewrite(tmp_path, world=3)
    with pytest.raises(RecordError, match="world is int; expected str"):
        load_run(tmp_path)


def test_policies_of_another_world_are_played_with_a_warning(tmp_path: Path) -> None:
    path = save_policy(tmp_path, make_config())
    content = torch.load(path, weights_only=True)
    assert content["world"] == load_checkpoint(path).world == hash_world()
    torch.save({**content, "world": "0123"}, path)
    with pytest.warns(UserWarning, match=rf"1 of 1 policies .* in 0123; this is {hash_world()}"):
        find_agent(f"dqn:{tmp_path}")
    del content["world"]
    torch.save(content, path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        find_agent(f"dqn:{tmp_path}")
    assert load_checkpoint(path).world == ""


def test_one_process_at_a_time(tmp_path: Path) -> None:
    writer = begin_run(tmp_path, make_config())
    with writer.locked(), pytest.raises(RecordError, match="trained by another process"):
        with RunWriter(tmp_path, writer.config, "sb3").locked():
            pass
    with writer.locked():
        pass


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": 2}, "has format 2; expected 1"),
        ({"norm_library": "0123"}, "was trained on norm library 0123; this is"),
        ({"observation_size": 553}, "takes 553 numbers of 10 agents; expected 585 of 10"),
        ({"num_slots": 6}, "of 6 agents; expected 585 of 10"),
        ({"norm": "bend-rigt-1"}, "unknown norm 'bend-rigt-1'; did you mean"),
        ({"encoder": "cnn"}, "no weights 'convolutions.0.weight' for encoder 'cnn'"),
        ({"encoder": "rnn"}, "unknown encoder 'rnn'"),
        ({"steps": "many"}, "steps is str; expected int"),
    ],
)
def test_checkpoints_that_do_not_fit(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    path = save_policy(tmp_path, make_config())
    torch.save({**torch.load(path, weights_only=True), **changes}, path)
    with pytest.raises(RecordError) as caught:
        load_checkpoint(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("value", [torch.zeros(3, 3), "text", torch.full((5,), float("nan"))])
def test_weights_that_do_not_fit(tmp_path: Path, value: Any) -> None:
    path = save_policy(tmp_path, make_config())
    content = torch.load(path, weights_only=True)
    content["state_dict"]["layers.4.bias"] = value
    torch.save(content, path)
    with pytest.raises(RecordError, match=r"weights 'layers\.4\.bias'"):
        load_checkpoint(path)


def test_damaged_files(tmp_path: Path) -> None:
    path = save_policy(tmp_path, make_config())
    whole = path.read_bytes()
    for content in (b"", whole[: len(whole) // 2], b"{}", b"x" * 100):
        path.write_bytes(content)
        with pytest.raises(RecordError, match="damaged"):
            load_checkpoint(path)
    with pytest.raises(RecordError, match="cannot be read: No such file"):
        load_checkpoint(tmp_path / "none.pt")
    run_file = tmp_path / "run.json"
    data = json.loads(run_file.read_text())
    for content in ("", "{", "[]", "{}", json.dumps({**data, "steps": None})):
        run_file.write_text(content)
        with pytest.raises(RecordError, match=r"run\.json"):
            load_run(tmp_path)
    run_file.unlink()
    with pytest.raises(RecordError, match=r"has no run\.json"):
        load_run(tmp_path)
    (tmp_path / "log.jsonl").write_text('{"kind":"train"}\nnothing\n')
    with pytest.raises(RecordError, match="line 2 is damaged"):
        read_log(tmp_path)


class _Stranger:
    """Would run code if a checkpoint were unpickled without care."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Ask for a call."""
        return print, ("executed",)


def test_a_checkpoint_runs_no_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "1.pt"
    torch.save({"format": 1, "encoder": _Stranger()}, path)
    with pytest.raises(RecordError, match="damaged or no checkpoint"):
        load_checkpoint(path)
    assert "executed" not in capsys.readouterr().out


def test_a_full_disk_is_one_clear_line(tmp_path: Path) -> None:
    writer = begin_run(tmp_path, make_config())
    (tmp_path / "log.jsonl").symlink_to("/dev/full")
    with pytest.raises(ConfigError, match=r"No space left.*; make room.*repeat the command"):
        writer.log({"kind": "train"})
    blocked = tmp_path / "file"
    blocked.write_text("")
    with pytest.raises(ConfigError, match="cannot be written to"):
        RunWriter(blocked / "run", writer.config, "sb3")
