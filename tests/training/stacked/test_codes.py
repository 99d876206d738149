"""Observations as bytes: exact, refused when they are not, and small enough."""

import numpy as np
import pytest
import torch

from normgym_envs.errors import ConfigError, StateError
from normgym_envs.norms.library import load_norms, num_slots
from training.config import TRAIN_LAYOUT, DQNConfig
from training.stacked.codes import Codec
from training.stacked.replay import Replay
from training.stacked.torch_backend import TorchNetworks
from training.worlds import TrainingWorlds

BY_SLOTS = {
    6: ("bottom-door-forbidden", "even-turns-only"),
    8: ("group-seating-1",),
    10: ("bend-right-1", "zigzag-left-2"),
}


def play(norm: str, rng: np.random.Generator, steps: int = 450):
    """Return a codec and the observations of random play, two episodes and more."""
    config = DQNConfig(norm, num_envs=6)
    worlds = TrainingWorlds(config, TRAIN_LAYOUT, config.episode_seeds.train)
    seen = [worlds.reset()]
    for _ in range(steps):
        turn = worlds.step(rng.integers(5, size=6))
        seen += [turn.successors, turn.observations]
    layout = worlds.engine.tables[0][0]["plane"].astype(np.float32)
    return Codec(worlds.num_slots, config.episode_steps, layout), np.concatenate(seen)


@pytest.mark.parametrize("norm", [norm for norms in BY_SLOTS.values() for norm in norms])
def test_codes_decode_to_the_same_bits(norm: str, rng: np.random.Generator) -> None:
    codec, flat = play(norm, rng)
    absent = flat[:, 3 * 165 + 6] == 0
    assert absent.any()
    assert not absent.all()
    codes = codec.encode(flat)
    np.testing.assert_array_equal(codec.decode(codes).view(np.uint32), flat.view(np.uint32))
    networks = TorchNetworks(codec, "mlp", 1e-4, 0.99, 10.0)
    decoded = networks.decode(torch.from_numpy(codes)).numpy()
    np.testing.assert_array_equal(decoded.view(np.uint32), flat.view(np.uint32))


def test_a_number_that_no_byte_stands_for_is_refused(rng: np.random.Generator) -> None:
    codec, flat = play("group-seating-1", rng, 5)
    for column in (3, 165 + 20, 330 + 20, 495, 495 + 12, codec.observation_size - 1):
        wrong = flat.copy()
        wrong[4, column] += np.float32(0.013)
        with pytest.raises(StateError, match=f"number {column} of observation 4"):
            codec.encode(wrong)


def test_two_learners_in_one_plane_are_refused(rng: np.random.Generator) -> None:
    codec, flat = play("group-seating-1", rng, 5)
    flat[0, 165:330] = 0
    flat[0, [170, 171]] = 1
    with pytest.raises(StateError, match="number 171 of observation 0"):
        codec.encode(flat)


def test_longer_episodes_than_a_byte_are_refused() -> None:
    with pytest.raises(ConfigError, match="episode_steps is 256"):
        Codec(6, 256, np.zeros(165, np.float32))


def test_replay_of_all_norms_takes_less_than_a_gigabyte() -> None:
    layout = np.zeros(165, np.float32)
    sizes = [num_slots(norm) for norm in load_norms()]
    total = 0
    for slots in BY_SLOTS:
        config = DQNConfig(BY_SLOTS[slots][0])
        codec = Codec(slots, config.episode_steps, layout)
        memory = Replay(
            codec, sizes.count(slots), config.num_envs, config.buffer_size, device="meta"
        )
        tensors = [value for value in vars(memory).values() if isinstance(value, torch.Tensor)]
        assert len(tensors) == 7
        total += sum(tensor.nbytes for tensor in tensors)
    assert len(sizes) == 50
    assert total < 1e9
