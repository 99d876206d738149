"""Measuring a frozen learner: counts, ratios, yardsticks and the command."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from normgym_envs.constants import Ending
from normgym_envs.errors import ConfigError, UnknownNameError
from normgym_envs.norms.library import get_norm
from training.cli import app
from training.recurrent_ppo import (
    RecurrentActorCritic,
    TrialLearner,
    TrialSettings,
    count_updates,
)
from training.trial_batch import TrialBatch
from training.trial_evaluation import MEASURES, PLAYERS, compare_late, count_trials, summarise
from training.trial_run import CHECKPOINT, load_checkpoint, save_checkpoint, train_trials

NORMS = [get_norm("all-exit-left"), get_norm("zone-r-capacity-1")]
SIZE = TrialBatch(NORMS, 1, "cafe", 4).reset(0).shape[1]


def make_model() -> RecurrentActorCritic:
    torch.manual_seed(0)
    return RecurrentActorCritic(SIZE, 8, 8).requires_grad_(False)


@pytest.mark.parametrize("player", PLAYERS)
def test_counts_are_those_of_a_plain_recount(player: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Recount from copies of the engine's states, one person and turn at a time."""
    recount = np.zeros((2, 4, len(MEASURES)), np.int64)
    played = [0]
    step = TrialBatch.step

    def watch(batch: TrialBatch, actions: Any) -> Any:
        before = batch.engine.states.copy()
        result = step(batch, actions)
        after = batch.engine.states
        norm, turn = divmod(played[0], 80)
        played[0] += 1
        zones, doors = batch.layout.zones.reshape(-1), set(batch.layout.doors.tolist())
        for row in range(batch.engine.num_rows):
            counts = recount[norm, turn // 20]
            was, now = before[row], after[row]
            assert was["turn"] == turn
            assert was["ending"] == Ending.RUNNING
            serving = was["leg"][0] == 0 and was["timer"][0] > 0
            if was["present"][0] and not serving:
                counts[0] += 1
                counts[1] += now["action"][0] == 4
            counts[2] += now["violated"][0]
            counts[3] += now["goals"][0]
            if not was["present"][0]:
                continue
            counts[4] += not now["present"][0]
            table = batch.engine.tables[0][0]["neighbour"]
            there = table[was["pos"][0], now["action"][0]]
            if now["own_move"][0] and (there in doors or zones[there] > 0):
                counts[5] += 1
        return result

    monkeypatch.setattr(TrialBatch, "step", watch)
    counts = count_trials(player, NORMS, model=make_model(), trials=5, turns=80)
    assert played == [160]
    assert (counts == recount).all()
    assert counts[..., 0].sum() > 500


def test_yardsticks_do_what_they_are_for() -> None:
    def total(player: str) -> dict[str, int]:
        counts = count_trials(player, NORMS, model=make_model(), trials=6, turns=120)
        return dict(zip(MEASURES, counts.sum(axis=(0, 1)).tolist(), strict=True))

    oracle, blind, random = total("oracle"), total("norm_blind"), total("random")
    assert oracle["violations"] == 0
    assert blind["violations"] > 10
    assert min(oracle["goals"], blind["goals"]) > 60
    assert random["goals"] < 20
    assert random["waits"] > 0.15 * random["turns"]


def test_weights_stay_frozen_and_equal_seeds_give_equal_counts() -> None:
    model = make_model()
    before = {name: weights.clone() for name, weights in model.state_dict().items()}
    first, second = (
        count_trials("learner", NORMS, model=model, trials=4, turns=40) for _ in range(2)
    )
    assert (first == second).all()
    other = count_trials("learner", NORMS, model=model, trials=4, turns=40, seed=1)
    assert (first != other).any()
    greedy = count_trials("learner", NORMS, model=model, trials=4, turns=40, greedy=True)
    assert (greedy != first).any()
    for name, weights in model.state_dict().items():
        assert torch.equal(weights, before[name])


def test_the_forgetful_one_has_the_same_weights_and_no_memory() -> None:
    model, states = make_model(), []
    model.register_forward_pre_hook(lambda _, inputs: states.append(inputs[1]))
    count_trials("forgetful", NORMS, model=model, trials=3, turns=20)
    assert states == [None] * 40
    states.clear()
    count_trials("learner", NORMS, model=model, trials=3, turns=20)
    assert [turn for turn, state in enumerate(states) if state is None] == [0, 20]


def make_counts(early: list[int], late: list[int], turns: int = 100) -> np.ndarray:
    counts = np.zeros((len(early), 4, len(MEASURES)), np.int64)
    counts[..., MEASURES.index("turns")] = turns
    counts[:, 0, MEASURES.index("violations")] = early
    counts[:, 3, MEASURES.index("violations")] = late
    return counts


def test_the_ratio_is_that_of_pooled_rates_and_its_interval_covers_norms() -> None:
    ratio = compare_late(make_counts([8, 4, 0, 12], [2, 2, 0, 2]))
    assert ratio.value == pytest.approx(6 / 24)
    assert ratio.low is not None
    assert ratio.high is not None
    assert 2 / 12 <= ratio.low < 0.25 < ratio.high <= 0.5
    alike = compare_late(make_counts([8, 8, 8], [2, 2, 2]))
    assert alike == pytest.approx((0.25, 0.25, 0.25))
    assert compare_late(make_counts([0, 0], [3, 1])) == (None, None, None)
    uneven = make_counts([4], [4])
    uneven[0, 3, MEASURES.index("turns")] = 200
    assert compare_late(uneven).value == pytest.approx(0.5)
    with pytest.raises(UnknownNameError, match="marked"):
        compare_late(uneven, "marks")


def test_summaries_are_plain_json() -> None:
    told = summarise(make_counts([8, 4], [2, 2]))
    assert json.loads(json.dumps(told)) == told
    assert told["violations_per_100_turns"] == [6.0, 0.0, 0.0, 2.0]
    assert told["counts"]["violations"] == [12, 0, 0, 4]
    assert told["goals_per_100_turns"] == [0.0] * 4


def test_bad_requests_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="did you mean 'oracle'"):
        count_trials("oracl", NORMS)
    with pytest.raises(ConfigError, match="0 norms"):
        count_trials("oracle", [])
    with pytest.raises(ConfigError, match="without its network"):
        count_trials("learner", NORMS)


@pytest.mark.slow
def test_the_command_trains_goes_on_and_measures(tmp_path: Path) -> None:
    runner = CliRunner()
    train = ["trials", "--out", str(tmp_path / "run"), "--steps", "3200", "--num-envs", "8"]
    kind = ["--kind", "group_doors"]
    for _ in range(2):
        done = runner.invoke(app, [*train, *kind])
        assert done.exit_code == 0, done.output
        assert "3,200 turns done" in done.output
    assert len((tmp_path / "run" / "log.jsonl").read_text().splitlines()) == 2
    measured = tmp_path / "numbers.json"
    measure = ["trials", "--evaluate", str(tmp_path / "run"), "--norms", "library"]
    picture = tmp_path / "figure.png"
    files = ["--json", str(measured), "--plot", str(picture)]
    shown = runner.invoke(app, [*measure, "--trials", "2", *files])
    assert shown.exit_code == 0, shown.output
    assert "3 library norms, 2 trials of 200 turns each, frozen weights" in shown.output
    assert picture.read_bytes()[:4] == b"\x89PNG"
    numbers = json.loads(measured.read_text())
    assert set(numbers["players"]) == set(PLAYERS)
    assert set(numbers["players"]["oracle"]["by_norm"]) == {
        "group-doors-abc",
        "group-doors-bca",
        "group-doors-cab",
    }
    assert numbers["players"]["oracle"]["counts"]["violations"] == [0] * 4
    assert numbers["versions"]["torch"]


def test_a_checkpoint_of_other_norms_is_refused_and_an_early_one_is_named(tmp_path: Path) -> None:
    settings = TrialSettings(
        steps=4_000, num_envs=4, turns=50, hidden=8, memory=8, num_tasks=4, kinds=("exit_doors",)
    )
    learner = TrialLearner(settings)
    learner.updates = 3
    file = tmp_path / CHECKPOINT
    save_checkpoint(learner, file)
    assert list(tmp_path.iterdir()) == [file]
    command = ["trials", "--evaluate", str(tmp_path), "--trials", "1"]
    shown = " ".join(CliRunner().invoke(app, command).output.split())
    assert "checkpoint at turn 600 of 4,000" in shown
    state = load_checkpoint(file)
    parts = state["tasks"]
    assert all(norm.id in parts["held_out"][i] for i, norm in enumerate(learner.tasks.held_out))
    parts["held_out"][0] = parts["held_out"][0].replace("exit_doors", "other_doors")
    torch.save(state, file)
    result = CliRunner().invoke(app, command)
    assert isinstance(result.exception, ConfigError)
    assert "held_out norms are not those drawn today" in str(result.exception)
    with pytest.raises(ConfigError, match="not those drawn today"):
        train_trials(settings, tmp_path)
    del state["tasks"]  # as before norms were noted
    state["updates"] = count_updates(settings)
    torch.save(state, file)
    shown = CliRunner().invoke(app, command).output
    assert "held-out norms" in shown
    assert "checkpoint at turn" not in shown
    torch.save({"format": 7}, file)
    with pytest.raises(ConfigError, match="has format 7; expected 1"):
        load_checkpoint(file)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give either --out"),
        (["--out", "a", "--evaluate", "b"], "give either --out"),
        (["--evaluate", "nowhere.pt"], "nowhere.pt does not exist"),
        (["--evaluate", "nowhere.pt", "--norms", "held-ot"], "did you mean 'held-out'"),
        (["--out", "a", "--steps", "0"], "steps is 0"),
        (["--out", "a", "--kind", "exit_dors"], "exit_doors"),
    ],
)
def test_the_command_refuses(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["trials", *arguments])
    assert done.exit_code != 0
    assert message in str(done.exception)
