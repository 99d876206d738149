"""The recurrent learner: what it is told, remembers and learns from, and how it resumes."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from normgym_envs.constants import GRID_WIDTH
from normgym_envs.envs.trials import NormGymTrialEnv
from normgym_envs.errors import ConfigError, NormGymError
from normgym_envs.norms.library import get_norm, list_norms
from normgym_envs.observations.symbolic import observe_symbolic
from training.recurrent_ppo import (
    RecurrentActorCritic,
    TrialLearner,
    TrialSettings,
    compute_advantages,
    cut_chunks,
    fade,
    label_beliefs,
    measure_way,
    play,
    split_tasks,
)
from training.trial_batch import (
    EVENT,
    FREE,
    GROUP,
    MASK,
    MOVE,
    NUM_GROUPS,
    NUM_STEPS,
    Public,
    Room,
    TrialBatch,
    describe,
    read_public,
)
from training.trial_run import (
    CHECKPOINT,
    load_checkpoint,
    load_model,
    restore_settings,
    train_trials,
)

NORMS = [get_norm(name) for name in ("all-exit-left", "group-doors-bca", "zone-r-capacity-1")]
SMALL = TrialSettings(
    steps=6 * 8 * 40, num_envs=8, turns=40, chunk=20, hidden=16, num_tasks=20, checkpoint_every=2
)


def to_cells(pairs: np.ndarray) -> np.ndarray:
    """Return (row, column) pairs as cells, -1 for nobody."""
    row, column = pairs[..., 0].astype(int), pairs[..., 1].astype(int)
    return np.where(row < 0, -1, row * GRID_WIDTH + column)


def stack_symbolic(batch: TrialBatch) -> Public:
    """Return the facts that agents of the benchmark are given, row by row."""
    rows = [observe_symbolic(batch.engine, row, 0) for row in range(batch.engine.num_rows)]
    seen = {name: np.stack([row[name] for row in rows]) for name in rows[0]}
    return Public(
        seen["present"],
        seen["is_new"],
        seen["groups"],
        seen["displaced"],
        seen["sanctioned"],
        to_cells(seen["positions"]),
        to_cells(seen["previous"]),
        seen["goal1_done"][:, 0],
        seen["service"][:, 0],
        seen["goal1_kind"][:, 0],
        to_cells(seen["goal1_cell"]),
        seen["goal2_door"][:, 0],
        seen["action_mask"],
    )


def test_it_is_told_public_facts_alone() -> None:
    batch = TrialBatch(NORMS, 12, "cafe", 200)
    batch.reset(3)
    rng = np.random.default_rng(0)
    memory = np.zeros((12, 8), np.float32)
    sanctions = departures = 0
    for _ in range(150):
        batch.step(rng.integers(0, 5, 12))
        ours, theirs = read_public(batch.engine, batch.slots), stack_symbolic(batch)
        for name in Public._fields:
            assert (np.asarray(getattr(ours, name)) == getattr(theirs, name)).all(), name
        assert (describe(batch.room, ours, memory) == describe(batch.room, theirs, memory)).all()
        sanctions += int(ours.sanctioned.sum())
        departures += int((~ours.present & (ours.positions >= 0)).sum())
    assert sanctions > 20
    assert departures > 20


def test_steps_onto_doors_and_zones_are_told_with_their_verdicts() -> None:
    batch = TrialBatch(NORMS, 16, "cafe", 200)
    view = batch.reset(0)
    zones, doors = batch.layout.zones.reshape(-1), batch.layout.doors.tolist()
    rng = np.random.default_rng(1)
    kinds = set()
    for _ in range(199):
        before = batch.engine.states.copy()
        view, _ = batch.step(rng.integers(0, 5, 16))
        after = batch.engine.states
        for row in range(16):
            expected = np.zeros((2, NUM_GROUPS, NUM_STEPS))
            inside = [
                slot
                for slot in range(batch.slots)
                if before["present"][row, slot] and zones[before["pos"][row, slot]] == 2
            ]
            for slot in range(batch.slots):
                if not before["present"][row, slot] or not after["own_move"][row, slot]:
                    continue
                here, action = before["pos"][row, slot], after["action"][row, slot]
                there = batch.engine.tables[0]["neighbour"][0][here, action]
                if there in doors:
                    kind = doors.index(there)
                elif zones[there] == 1:
                    kind = 3
                elif zones[there] == 2:
                    others = len([other for other in inside if other != slot])
                    kind = 8 if slot in inside else 4 + min(others, 3)
                else:
                    continue
                group = before["group"][row, slot]
                expected[int(after["violated"][row, slot]), group, kind] += 1
                kinds.add(kind)
            told = view[row, EVENT].reshape(2, NUM_GROUPS, NUM_STEPS)
            assert (told == expected).all()
    assert kinds >= {0, 1, 2, 3, 4, 5, 8}


def test_ways_on_the_map_are_shortest_ways() -> None:
    batch = TrialBatch(NORMS, 1, "cafe", 10)
    room: Room = batch.room
    packed = batch.engine.tables[0][0]
    ours = room.distance[0][:, :165]
    reachable = packed["enterable"][:, None] * packed["enterable"] * (packed["distance"] < 40) > 0
    assert (ours[reachable] == packed["distance"][reachable]).all()
    assert (room.neighbour == packed["neighbour"][:, :4]).all()
    assert (room.distance[1] >= room.distance[0]).all()
    marked = np.flatnonzero(room.zones == 1)
    assert (room.distance[1][0:1, marked] == 40).all()
    assert (room.distance[1] > room.distance[0])[:, :165].any()


def test_a_row_is_a_trial_of_the_trial_environment() -> None:
    batch = TrialBatch(NORMS, 6, "cafe", 60)
    view = batch.reset(50)
    envs = [NormGymTrialEnv(NORMS, episodes_per_trial=1, max_episode_steps=60) for _ in range(6)]
    seen = [env.reset(seed=50 + row)[0] for row, env in enumerate(envs)]
    rng = np.random.default_rng(2)
    for turn in range(60):
        assert (view[:, -8:] == np.stack(seen)[:, -8:]).all()
        assert (view[:, MASK] == np.stack(seen)[:, -13:-8]).all()
        actions = rng.integers(0, 5, 6)
        view, rewards = batch.step(actions)
        played = [env.step(int(action)) for env, action in zip(envs, actions, strict=True)]
        seen = [step[0] for step in played]
        assert rewards.tolist() == pytest.approx([step[1] for step in played])
        assert all(step[3] == (turn == 59) for step in played)


def test_labels_are_what_the_whole_trial_shows() -> None:
    rng = np.random.default_rng(0)
    views = np.zeros((30, 3, 300), np.float32)
    views[..., EVENT] = rng.random((30, 3, 2 * NUM_GROUPS * NUM_STEPS)) < 0.02
    last = views[7] * 2
    labels = label_beliefs(torch.as_tensor(views), torch.as_tensor(last)).numpy()
    shown = np.concatenate([views, last[None]])[..., EVENT].reshape(31, 3, 2, -1)
    for row in range(3):
        for kind in range(NUM_GROUPS * NUM_STEPS):
            clean, bad = shown[:, row, 0, kind].sum(), shown[:, row, 1, kind].sum()
            wanted = bad / (clean + bad) if clean + bad else -1
            assert labels[row].reshape(-1)[kind] == pytest.approx(wanted)
    assert {-1.0, 0.0, 1.0} < set(np.unique(labels).tolist())


def test_the_way_to_go_leads_round_doors_that_are_believed_to_be_closed() -> None:
    batch = TrialBatch([get_norm("all-exit-left")], 8, "cafe", 200)
    view = torch.as_tensor(batch.reset(0))
    believed = torch.zeros(8, NUM_GROUPS, NUM_STEPS)
    believed[:, :, 1:3] = 0.75  # the bottom and right doors
    distance = batch.engine.tables[0][0]["distance"].astype(int)
    neighbour = batch.engine.tables[0][0]["neighbour"]
    doors = batch.layout.doors
    model = RecurrentActorCritic(view.shape[1], 16, 16)
    with torch.no_grad():
        model.belief.weight.zero_()
        model.belief.bias.copy_(believed[0].clamp(min=1e-9).logit().flatten())
    caught: list[torch.Tensor] = []
    model.trunk.register_forward_hook(lambda _, inputs, __: caught.append(inputs[0][0, :, -4:]))
    seen = set()
    for _ in range(199):
        view = torch.as_tensor(batch.step(batch.engine.plan()[0][:, 0])[0])
        ways = measure_way(view, believed)
        model(view.unsqueeze(0))
        public = read_public(batch.engine, batch.slots)
        for row in np.flatnonzero(public.present[:, 0]):
            cell = public.positions[row, 0]
            if public.goal1_done[row]:
                away = distance[cell, doors]
                assert ways[row] == pytest.approx(min(away[0], *(away[1:] + 30)))
                seen.add(int(np.argmin(away)))
                best = doors[np.argmin([away[0], *(away[1:] + 30)])]
                expected = distance[cell, best] - distance[neighbour[cell, :4], best]
                assert caught[-1][row].tolist() == expected.tolist()
            else:
                assert ways[row] == pytest.approx(distance[cell, public.goal1_cell[row]])
                assert caught[-1][row].tolist() == [0] * 4
    assert len(seen) > 1


def test_advantages_are_discounted_sums_of_errors() -> None:
    rng = np.random.default_rng(0)
    rewards, values = rng.normal(size=(17, 4)), rng.normal(size=(18, 4))
    ours = compute_advantages(torch.as_tensor(rewards), torch.as_tensor(values), 0.9, 0.8)
    for row in range(4):
        for t in range(17):
            wanted = sum(
                (0.9 * 0.8) ** (s - t)
                * (rewards[s, row] + 0.9 * values[s + 1, row] - values[s, row])
                for s in range(t, 17)
            )
            assert ours[t, row].item() == pytest.approx(wanted)


@pytest.fixture(scope="module")
def learner() -> TrialLearner:
    return TrialLearner(SMALL)


def test_memory_lasts_for_the_trial_and_no_longer(learner: TrialLearner) -> None:
    def roll(first: int) -> Any:
        generator = torch.Generator().manual_seed(5)
        return play(learner.trials, learner.model, first, generator, SMALL)

    alone = roll(70)
    roll(10)
    after_another = roll(70)
    assert torch.equal(alone.log_probs, after_another.log_probs)
    assert torch.equal(alone.values, after_another.values)
    # read in a go, without a break where persons leave, the trial gives the same policy
    logits, values, _, _ = learner.model(alone.views)
    log_probs = torch.log_softmax(logits, -1).gather(-1, alone.actions.unsqueeze(-1)).squeeze(-1)
    assert torch.allclose(log_probs, alone.log_probs, atol=1e-5)
    assert torch.allclose(values, alone.values[:-1], atol=1e-5)
    # and so it does in parts, with what was remembered where each begins
    parts, states = cut_chunks(alone.views, 20), alone.states.flatten(0, 1).unsqueeze(0)
    again = learner.model(parts, states)[1]
    assert torch.allclose(again, cut_chunks(values, 20), atol=1e-5)
    assert torch.equal(parts[3, 8 + 2], alone.views[20 + 3, 2])
    # what was seen at first still matters later
    changed = alone.views.clone()
    changed[0, :, EVENT] += 3
    assert (learner.model(changed)[0][4] - logits[4]).abs().max() > 1e-5
    assert torch.isfinite(alone.log_probs).all()


def test_only_open_actions_are_taken_and_the_belief_is_read_for_the_own_group() -> None:
    trials = TrialBatch([get_norm("zone-r-capacity-1")], 8, "cafe", 150)
    model = RecurrentActorCritic(trials.reset(0).shape[1], 16, 16)
    settings = replace(SMALL, chunk=50)
    rollout = play(trials, model, 0, torch.Generator().manual_seed(0), settings)
    is_open = rollout.views[..., MASK].gather(-1, rollout.actions.unsqueeze(-1))
    assert (is_open > 0).all()
    held = rollout.views[..., FREE].squeeze(-1) == 0
    assert held.any()
    assert (rollout.log_probs[held] == 0).all()
    with torch.no_grad():
        model.belief.weight.zero_()
        model.belief.bias.copy_(torch.arange(NUM_GROUPS * NUM_STEPS) / 10)
        caught: list[torch.Tensor] = []
        model.trunk.register_forward_hook(lambda _, inputs, __: caught.append(inputs[0]))
        model(rollout.views)
    own, risk = caught[0][..., 32 : 32 + NUM_STEPS], caught[0][..., 32 + NUM_STEPS :]
    beliefs = model.belief.bias.sigmoid().view(NUM_GROUPS, NUM_STEPS)
    for t, row in ((3, 0), (20, 5), (139, 7)):
        view = rollout.views[t, row]
        group, moves = view[GROUP], view[MOVE].view(4, NUM_STEPS)
        wanted = beliefs[int(group.argmax())] if group.any() else torch.zeros(NUM_STEPS)
        assert torch.allclose(own[t, row], wanted)
        for move in range(4):
            kind = moves[move]
            expected = wanted[int(kind.argmax())] if kind.any() else torch.tensor(0.0)
            assert torch.allclose(risk[t, row, move], expected)


def test_help_at_first_pays_for_ways_and_forgives_sanctions() -> None:
    trials = TrialBatch(NORMS, 8, "cafe", 80)
    size = trials.reset(0).shape[1]
    torch.manual_seed(0)  # some are sanctioned
    model = RecurrentActorCritic(size, 16, 16)
    with torch.no_grad():
        model.belief.weight.zero_()
        model.belief.bias.fill_(-50)  # every door is believed to be open

    def roll(*help_given: float) -> Any:
        generator = torch.Generator().manual_seed(1)
        return play(trials, model, 0, generator, SMALL, *help_given)

    plain, helped = roll(), roll(0.5, 0.9)
    assert torch.equal(plain.actions, helped.actions)
    sanctioned = plain.rewards * 10 < -15
    assert sanctioned.any()
    gained = (helped.rewards - plain.rewards) * 10
    way = torch.stack(
        [measure_way(view, torch.zeros(8, NUM_GROUPS, NUM_STEPS)) for view in plain.views]
    )
    for t in range(79):
        for row in range(8):
            there = bool(plain.views[t, row, FREE]) and way[t + 1, row] > 0
            if there and plain.rewards[t, row] * 10 > -6 and plain.rewards[t, row] < 0:
                nearer = float(way[t, row] - way[t + 1, row])
                assert gained[t, row].item() == pytest.approx(0.5 * nearer, abs=1e-4)
    assert (gained[sanctioned] > 15).all()
    assert [fade(0.8, done, 0.5) for done in (0.0, 0.25, 0.5, 0.9)] == [0.8, 0.4, 0.0, 0.0]
    assert fade(0.8, 0.0, 0.0) == 0.0


def test_an_interrupted_run_goes_on_as_if_nothing_had_happened(tmp_path: Path) -> None:
    whole = train_trials(SMALL, tmp_path / "whole")

    def stop(steps: int) -> None:
        if steps >= 5 * 8 * 40:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train_trials(SMALL, tmp_path / "cut", stop)
    assert load_checkpoint(tmp_path / "cut")["updates"] == 4
    resumed = train_trials(SMALL, tmp_path / "cut")
    for name, weights in whole.model.state_dict().items():
        assert torch.equal(weights, resumed.model.state_dict()[name])
    logs = [(tmp_path / name / "log.jsonl").read_text() for name in ("whole", "cut")]
    assert logs[0] == logs[1]
    lines = [json.loads(line) for line in logs[0].splitlines()]
    assert [line["steps"] for line in lines] == [320 * n for n in range(1, 7)]
    again = train_trials(SMALL, tmp_path / "cut")  # nothing is left to do
    assert again.updates == 6
    state = load_checkpoint(tmp_path / "cut" / CHECKPOINT)
    assert "optimiser" not in state
    assert restore_settings(state) == SMALL
    frozen = load_model(state)
    assert not any(weights.requires_grad for weights in frozen.parameters())
    for name, weights in whole.model.state_dict().items():
        assert torch.equal(weights, frozen.state_dict()[name])
    with pytest.raises(ConfigError, match="seed 0, not 1"):
        train_trials(replace(SMALL, seed=1), tmp_path / "cut")


def test_norms_are_kept_apart() -> None:
    tasks = split_tasks(TrialSettings())
    train, held_out = ({norm.id for norm in part} for part in tasks)
    assert (len(train), len(held_out)) == (66, 22)
    assert not train & held_out
    assert not (train | held_out) & set(list_norms())
    assert {norm.kind for norm in tasks.held_out} == set(TrialSettings().kinds)


@pytest.mark.slow
def test_it_learns_to_keep_one_norm() -> None:
    settings = TrialSettings(
        steps=40 * 32 * 50,
        num_envs=32,
        turns=50,
        chunk=25,
        hidden=32,
        minibatches=2,
        shaping=0.0,
        lenience=0.0,
        num_tasks=20,
    )
    learner = TrialLearner(settings)
    learner.trials = TrialBatch([get_norm("bottom-door-forbidden")], 32, "cafe", 50, slots=8)
    lines = [learner.improve() for _ in range(learner.num_updates)]

    def average(name: str, part: slice) -> float:
        return float(np.mean([line[name] for line in lines[part]]))

    first, last = slice(0, 5), slice(-5, None)
    sanctions = "sanctions_per_100_turns"
    assert average(sanctions, first) > 0.2
    assert average(sanctions, last) < average(sanctions, first) / 2
    beliefs = [line["losses"]["belief"] for line in lines]
    assert np.mean(beliefs[last]) < 0.5 * np.mean(beliefs[first])


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"seed": 201}, "seed is 201; expected 0 to 200"),
        ({"num_envs": 0}, "num_envs is 0"),
        ({"chunk": 7}, "chunk is 7; expected a divisor of 40"),
        ({"kinds": ("exit_dors",)}, "exit_doors"),
        ({"num_tasks": 1000}, "89, the number of possible norms"),
    ],
)
def test_settings_outside_their_range_are_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(NormGymError, match=message):
        TrialLearner(replace(SMALL, **changed))


def test_damaged_checkpoints_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="does not exist"):
        load_checkpoint(tmp_path)
    (tmp_path / CHECKPOINT).write_bytes(b"not a checkpoint")
    with pytest.raises(ConfigError, match="is no checkpoint"):
        load_checkpoint(tmp_path)
    torch.save({"format": 99, "settings": {"kinds": []}}, tmp_path / CHECKPOINT)
    with pytest.raises(ConfigError, match="format 99; expected 1"):
        load_checkpoint(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be read or written"):
        train_trials(SMALL, tmp_path / "file")
