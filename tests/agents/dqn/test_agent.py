"""`dqn:PATH`: a checkpoint, a run, a sweep; what is damaged is named and the rest is played."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from dqn_runs import REASON, begin_run, make_config, save_policy

torch = pytest.importorskip("torch", reason=REASON)

from agents import AgentContext, find_agent, make_agent  # noqa: E402
from benchmarks import runner  # noqa: E402
from benchmarks.playing import Seat  # noqa: E402
from benchmarks.report import _compare  # noqa: E402
from benchmarks.runner import (  # noqa: E402
    OBSERVERS,
    list_notes,
    observe_newcomer_flat,
    run,
    select_groups,
    select_playable,
)
from benchmarks.suite import Suite, load_suite  # noqa: E402
from benchmarks.tables import make_tables  # noqa: E402
from normgym_envs.engine import BatchEngine  # noqa: E402
from normgym_envs.errors import ConfigError, RecordError, UnknownNameError  # noqa: E402
from normgym_envs.observations.flat import observe_flat  # noqa: E402
from training.config import run_name  # noqa: E402

NORMS = ("bend-right-1", "even-turns-only")


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a sweep of two norms whose policies differ."""
    folder = tmp_path_factory.mktemp("sweep")
    for seed, norm in enumerate(NORMS):
        config = make_config(norm)
        save_policy(folder / run_name(config), config, seed)
    return folder


@pytest.fixture(scope="module")
def suite() -> Suite:
    return load_suite("main")


def test_a_policy_is_its_masked_network(sweep: Path, suite: Suite) -> None:
    folder = sweep / "bend-right-1_mlp_sparse_0"
    agent = make_agent(f"dqn:{folder}")
    agent.reset(AgentContext("t", "seen", np.random.default_rng(0), 100))
    assert not agent.privileged
    spec = next(s for s in suite.specs if s.norms == ("bend-right-1",) and s.phase == "seen")
    engine = BatchEngine(suite.layouts(), suite.norms, 2)
    engine.load(1, spec)
    weights = torch.load(folder / "checkpoints" / "1600.pt", weights_only=True)["state_dict"]
    seen_actions = set()
    rng = np.random.default_rng(1)
    for _ in range(60):
        seen = observe_newcomer_flat(engine, 1)
        np.testing.assert_array_equal(seen["flat"], observe_flat(engine, 0, spec.num_slots)[1])
        hidden = seen["flat"]
        for layer in (0, 2, 4):
            hidden = weights[f"layers.{layer}.weight"].numpy() @ hidden
            hidden = hidden + weights[f"layers.{layer}.bias"].numpy()
            hidden = np.maximum(hidden, 0) if layer < 4 else hidden
        expected = np.where(seen["action_mask"] == 1, hidden, -np.inf).argmax()
        assert agent.act(seen) == expected
        seen_actions.add(int(expected))
        engine.step(rng.integers(5, size=(2, 10)).astype(np.int8))
    assert len(seen_actions) > 1


def test_a_sweep_plays_each_norm_with_its_own_policy(sweep: Path, suite: Suite) -> None:
    name = f"dqn:{sweep}"
    source = find_agent(name)
    assert source.by_norm is not None
    assert set(source.by_norm) == set(NORMS)
    result = run(source, suite)
    assert result.errors == ()
    assert {record.norms[0] for record in result.records} == set(NORMS)
    assert result.config.options["observation"] == "flat"
    assert result.config.options["policies"] == "one a norm"
    blind = run("wait", suite, norms=NORMS)
    assert "policies" not in blind.config.options
    for table in [*make_tables([result, blind]), *_compare([blind, result])]:
        assert table.rows[0][0] in (f"{name} *", "wait")
        assert table.rows[-1][0] != "wait *"
        assert table.note.endswith("; *: one policy a norm, trained on that norm")
    assert all("*" not in table.note for table in make_tables([blind]))
    for norm in NORMS:
        alone = run(f"dqn:{sweep / f'{norm}_mlp_sparse_0'}", suite)
        ours = [r.state_hash for r in result.episodes("unseen") if r.norms == (norm,)]
        assert ours == [r.state_hash for r in alone.episodes("unseen")]
        assert len(ours) == 3


def test_no_policy_of_a_sweep_stands_for_all(sweep: Path) -> None:
    name = f"dqn:{sweep}"
    with pytest.raises(ConfigError, match=r"one policy a norm, for 2 norms; use find_agent\(.*"):
        make_agent(name)
    for norm in NORMS:
        assert find_agent(name).make_for(norm).checkpoint.norm == norm  # type: ignore[attr-defined]
        assert make_agent(f"{name}/{norm}_mlp_sparse_0").checkpoint.norm == norm  # type: ignore[attr-defined]


def test_a_policy_sees_the_flat_observation_and_nothing_else(
    sweep: Path, suite: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[set[str]] = []
    choose = Seat.choose

    def spy(seat: Seat, observation: dict[str, object], turn: int) -> object:
        shown.append(set(observation))
        return choose(seat, observation, turn)

    monkeypatch.setattr(Seat, "choose", spy)
    run(f"dqn:{sweep}", suite, norms=["bend-right-1"], condition="seen")
    assert shown
    assert all(names == {"flat", "action_mask"} for names in shown)


def test_norms_without_a_policy_are_said_and_not_played(sweep: Path, suite: Suite) -> None:
    source = find_agent(f"dqn:{sweep}")
    groups = select_groups(suite, (), (), "all")
    assert {group.norms[0] for group in select_playable(source, groups)} == set(NORMS)
    (note,) = list_notes(source, groups)
    assert "has no policy for 48 of 50 norms, which are not played: forbidden-zone-q" in note
    assert list_notes(find_agent("random"), groups) == ()
    with pytest.raises(ConfigError, match=r"policies for bend-right-1, even-turns-only only"):
        run(source, suite, norms=["zigzag-left-1"])
    with pytest.raises(UnknownNameError, match="norm of agent"):
        source.make_for("zigzag-left-1")


def test_damaged_and_unfinished_runs_are_named_and_others_used(sweep: Path, tmp_path: Path) -> None:
    folder = tmp_path / "sweep"
    shutil.copytree(sweep, folder)
    (folder / "even-turns-only_mlp_sparse_0" / "checkpoints" / "1600.pt").write_bytes(b"x")
    begin_run(folder / "zigzag-left-1_mlp_sparse_0", make_config("zigzag-left-1"))
    (folder / "bend-left-1_mlp_sparse_0" / "checkpoints").mkdir(parents=True)
    (folder / "notes").mkdir()
    source = find_agent(f"dqn:{folder}")
    assert source.by_norm is not None
    assert list(source.by_norm) == ["bend-right-1"]
    text = "\n".join(source.notes)
    assert len(source.notes) == 3
    assert "bend-left-1_mlp_sparse_0" in text
    assert "has no run.json" in text
    assert "1600.pt is damaged or no checkpoint" in text
    assert "is running at 0 of 1600 steps" in text
    shutil.rmtree(folder / "bend-right-1_mlp_sparse_0")
    with pytest.raises(RecordError, match="has no finished run"):
        find_agent(f"dqn:{folder}")


def test_a_sweep_of_several_conditions_asks_for_one(sweep: Path, tmp_path: Path) -> None:
    folder = tmp_path / "sweep"
    shutil.copytree(sweep, folder)
    config = make_config("bend-right-1", reward="none")
    path = save_policy(folder / run_name(config), config, 9)
    with pytest.raises(ConfigError, match=r"2 conditions; name one.*mlp_none_0, mlp_sparse_0"):
        find_agent(f"dqn:{folder}")
    chosen = find_agent(f"dqn:{folder}@mlp_none_0")
    assert list(chosen.by_norm or ()) == ["bend-right-1"]
    assert chosen.digest == find_agent(f"dqn:{path}").digest
    with pytest.raises(UnknownNameError, match="'mlp_non_0'; did you mean 'mlp_none_0'"):
        find_agent(f"dqn:{folder}@mlp_non_0")


def test_what_is_no_policy(sweep: Path, tmp_path: Path) -> None:
    for path in ("", str(tmp_path / "none"), "a@b"):
        with pytest.raises(ConfigError, match="expected a checkpoint, the folder of a run"):
            find_agent(f"dqn:{path}")
    with pytest.raises(RecordError, match="has no finished run"):
        find_agent(f"dqn:{tmp_path}")
    with pytest.raises(RecordError, match="damaged or no checkpoint"):
        find_agent(f"dqn:{sweep / 'bend-right-1_mlp_sparse_0' / 'run.json'}")
    run_folder = tmp_path / "run"
    writer = begin_run(run_folder, make_config())
    with pytest.raises(RecordError, match="is running at 0 of 1600 steps"):
        find_agent(f"dqn:{run_folder}")
    writer.note(400, "failed", "out of luck")
    with pytest.raises(RecordError, match="is failed at 400 of 1600 steps: out of luck"):
        find_agent(f"dqn:{run_folder}")


def test_agents_ask_for_observations_that_exist(suite: Suite) -> None:
    class Odd:
        """Wants what nobody has."""

        observation = "flatt"

        def reset(self, context: AgentContext) -> None:
            """Begin."""

        def act(self, observation: object) -> int:
            """Wait."""
            return 4

    from agents import AgentSource

    with pytest.raises(UnknownNameError, match="'flatt'; did you mean 'flat'"):
        run(AgentSource("odd", Odd), suite)
    assert set(OBSERVERS) == {"symbolic", "flat"}
    assert "observation" not in runner.make_config(find_agent("random"), suite, 0).options
