"""Checkpoints: a frozen policy and what is needed to play it, checked when it is read."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

import normgym_envs
from agents.dqn.files import check_fields, check_world, load_tensors
from normgym_envs.errors import RecordError, UnknownNameError
from normgym_envs.norms.library import get_norm, num_slots
from normgym_envs.observations.flat import flat_size

ENCODERS: Final = ("mlp", "cnn")
"""Source: NG App. "Network Architectures"."""
REWARDS: Final = ("sparse", "none", "dense")
"""Reward conditions, in the order of tables. Sources: NG App. "Reward and optimization", "Penalty
Ablation" and "Reward-Shaping Ablation"."""
CHECKPOINTS: Final = "checkpoints"
"""Folder of a run."""
_CHECKPOINT_FIELDS: Final = {
    "format": int,
    "encoder": str,
    "observation_size": int,
    "num_slots": int,
    "norm": str,
    "norm_library": str,
    "steps": int,
    "state_dict": dict,
}


@dataclass(frozen=True)
class Checkpoint:
    """A frozen policy."""

    encoder: str  # ENCODERS
    num_slots: int  # N
    norm: str  # norm id
    steps: int  # transitions it was trained on
    state_dict: Mapping[str, Any]  # of QNetwork, tensors on the CPU
    world: str = ""  # normgym_envs.versions.hash_world() of its run; empty where not noted

    @cached_property
    def network(self) -> Any:
        """The network with these weights, made once; `agents.dqn.networks.QNetwork`."""
        from agents.dqn.networks import QNetwork

        network = QNetwork(self.encoder, self.num_slots)
        network.load_state_dict(dict(self.state_dict), assign=True)
        return network.eval()


@cache
def hash_norms() -> str:
    """Return a hash of the norm library that ships, 16 hex digits."""
    path = Path(normgym_envs.__file__).parent / "norms" / "library.toml"
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def list_checkpoints(folder: Path) -> dict[int, Path]:
    """Return the checkpoints of a run by steps, ascending."""
    found = {
        int(path.stem): path
        for path in (folder / CHECKPOINTS).glob("*.pt")
        if path.stem.isdecimal()
    }
    return dict(sorted(found.items()))


def load_checkpoint(path: Path) -> Checkpoint:
    """Return a frozen policy, checked against the library and observations of this package.

    Args:
        path: file that `RunWriter.save_checkpoint` wrote.

    Raises:
        RecordError: damaged, or made for another format, norm library or observation size.
        MissingExtraError: torch is missing.
    """
    data = load_tensors(path)
    check_fields(path, data, _CHECKPOINT_FIELDS)
    if data["norm_library"] != hash_norms():
        raise RecordError(
            f"{path} was trained on norm library {data['norm_library']}; this is {hash_norms()}"
        )
    if data["encoder"] not in ENCODERS:
        raise RecordError(f"{path}: {UnknownNameError('encoder', data['encoder'], ENCODERS)}")
    try:
        expected = num_slots(get_norm(data["norm"]))
    except UnknownNameError as error:
        raise RecordError(f"{path}: {error}") from None
    if data["num_slots"] != expected or data["observation_size"] != flat_size(expected):
        raise RecordError(
            f"{path} takes {data['observation_size']} numbers of {data['num_slots']} agents; "
            f"expected {flat_size(expected)} of {expected} for norm {data['norm']!r}"
        )
    _check_weights(path, data)
    return Checkpoint(
        data["encoder"],
        data["num_slots"],
        data["norm"],
        data["steps"],
        data["state_dict"],
        check_world(path, data),
    )


def _check_weights(path: Path, data: Mapping[str, Any]) -> None:
    """Refuse weights that do not fit the network, or are no numbers."""
    import torch

    from agents.dqn.networks import QNetwork

    with torch.device("meta"):
        wanted = QNetwork(data["encoder"], data["num_slots"]).state_dict()
    weights = data["state_dict"]
    for name in dict.fromkeys([*wanted, *weights]):
        if name not in wanted or name not in weights:
            known = "unknown" if name not in wanted else "no"
            raise RecordError(f"{path}: {known} weights {name!r} for encoder {data['encoder']!r}")
        if not isinstance(weights[name], torch.Tensor) or (
            weights[name].shape != wanted[name].shape
        ):
            raise RecordError(
                f"{path}: weights {name!r} do not have the shape {tuple(wanted[name].shape)}"
            )
        if not bool(torch.isfinite(weights[name]).all()):
            raise RecordError(f"{path}: weights {name!r} are not all finite")
