"""The two networks as the paper describes them, and the mask."""

import pytest
from dqn_runs import REASON

torch = pytest.importorskip("torch", reason=REASON)

from agents.dqn.networks import CLOSED, QNetwork, choose_greedy, mask_values  # noqa: E402
from normgym_envs.errors import UnknownNameError  # noqa: E402
from normgym_envs.observations.flat import flat_size  # noqa: E402


@pytest.mark.parametrize("num_slots", [6, 8, 10])
def test_the_mlp_has_two_layers_of_64(num_slots: int) -> None:
    network = QNetwork("mlp", num_slots)
    size = flat_size(num_slots)
    shapes = [tuple(weights.shape) for weights in network.parameters()]
    assert shapes == [(64, size), (64,), (64, 64), (64,), (5, 64), (5,)]
    assert network(torch.zeros(3, size)).shape == (3, 5)


@pytest.mark.parametrize("num_slots", [6, 8, 10])
def test_the_cnn_projects_the_map_and_keeps_the_rest(num_slots: int) -> None:
    network = QNetwork("cnn", num_slots)
    size = flat_size(num_slots)
    shapes = [tuple(weights.shape) for weights in network.parameters()]
    assert shapes == [
        *((16, 3, 3, 3), (16,), (32, 16, 3, 3), (32,)),
        *((256, 32 * 165 + size - 495), (256,)),
        *((64, 256), (64,), (64, 64), (64,), (5, 64), (5,)),
    ]
    seen = torch.rand(2, size, generator=torch.Generator().manual_seed(0))
    values = network(seen)
    assert values.shape == (2, 5)
    # the first plane's third row is row 2 of the map: convolving by hand gives the same
    planes = seen[:, :495].reshape(2, 3, 11, 15)
    assert torch.equal(planes[0, 0, 2], seen[0, 30:45])
    features = torch.relu(network.convolutions[2](torch.relu(network.convolutions[0](planes))))
    joined = torch.cat([features.reshape(2, -1), seen[:, 495:]], dim=1)
    again = network.layers(torch.relu(network.projection(joined)))
    torch.testing.assert_close(values, again)


@pytest.mark.parametrize("encoder", ["mlp", "cnn"])
def test_every_number_of_the_observation_matters(encoder: str) -> None:
    network = QNetwork(encoder, 6)
    generator = torch.Generator().manual_seed(1)
    seen = torch.rand(1, flat_size(6), generator=generator, requires_grad=True)
    network(seen).square().sum().backward()
    assert seen.grad is not None
    assert int((seen.grad != 0).sum()) == flat_size(6)


def test_closed_actions_are_never_greedy() -> None:
    values = torch.tensor([[5.0, 4.0, 3.0, 2.0, 1.0], [-5.0, 0.0, 1.0, 1.0, 0.5]])
    seen = torch.zeros(2, 7)
    seen[:, -5:] = torch.tensor([[0.0, 0.0, 0.0, 0.0, 1.0], [1.0, 1.0, 1.0, 1.0, 1.0]])
    masked = mask_values(values, seen)
    assert masked[0].tolist() == [CLOSED] * 4 + [1.0]
    assert torch.equal(masked[1], values[1])
    assert choose_greedy(values, seen).tolist() == [4, 2]  # the first of equal ones


def test_unknown_encoders() -> None:
    with pytest.raises(UnknownNameError, match="unknown encoder 'mpl'; did you mean 'mlp'"):
        QNetwork("mpl", 6)
