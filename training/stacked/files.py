"""The folder of one run of a stack, as `training.dqn` writes it.

So nothing that reads a run has to know which learner made it. A resume file keeps the actions of
the run, not its replay memory: they are played again.
"""

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from agents.dqn.networks import QNetwork, choose_greedy
from agents.dqn.runs import TENSORBOARD, RunWriter, load_run, read_log
from normgym_envs.errors import NormGymError, RecordError
from training.board import Board
from training.config import DQNConfig
from training.probes import collect_probes, measure_probe
from training.stacked.extra import torch
from training.validation import Validation
from training.worlds import Floats

LEARNER: Final = "stacked"
PARTS: Final = ("params", "targets", "moments_1", "moments_2")
"""Weights in a resume file, as `StackedNetworks.export` names them."""
_OTHERS: Final = ("steps", "time", "log_size", "actions", "updates", "explore_rng", "sample_rng")
_SAVED: Final = {*PARTS, *_OTHERS}
"""What a resume file holds."""


class RunFiles:
    """What is written about one norm of a stack."""

    def __init__(self, config: DQNConfig, folder: Path) -> None:
        """Open the folder.

        Args:
            config: what is trained.
            folder: of the run.

        Raises:
            RecordError: the folder holds another run, or its resume file is damaged.
            ConfigError: it cannot be written to.
        """
        self.config = config
        self.writer = RunWriter(folder, config.to_json(), LEARNER)
        self.resume = None if self.writer.is_finished() else self.writer.load_resume()
        self._board = Board(folder / TENSORBOARD)
        self._validation: Validation | None = None

        missing = _SAVED - set(self.resume or _SAVED)
        if missing:
            path = self.writer.resume_path
            raise RecordError(f"{path} is damaged: no {', '.join(sorted(missing))}")

    @property
    def steps(self) -> int:
        """Transitions to go on from."""
        return 0 if self.resume is None else int(self.resume["steps"])

    def begin(self) -> None:
        """Drop what was logged after the resume file, and write what TensorBoard has lost."""
        if self.resume is None:
            self.writer.cut_log(0)
            self.writer.note(0)
            self._board.begin([])
        else:
            self.writer.cut_log(self.resume["log_size"])
            self._board.begin(read_log(self.writer.folder))

    def write(self, entry: Mapping[str, Any]) -> None:
        """Write an entry to the log and to TensorBoard."""
        self.writer.log(entry)
        self._board.add(entry)

    def check(self, mark: int, online: QNetwork, target: QNetwork) -> None:
        """Keep a checkpoint, measure the probes and play the validation episodes.

        Args:
            mark: nominal transitions.
            online: the learner's network.
            target: its target network.
        """
        self.writer.save_checkpoint(mark, online.state_dict())
        for name, probe in collect_probes(self.config).items():
            values = _evaluate(online, probe.observations)
            following = _evaluate(target, probe.successors)
            result = measure_probe(probe, values, following, self.config.gamma)
            self.write({"kind": "probe", "steps": mark, "set": name, **result._asdict()})
        if self._validation is None:
            self._validation = Validation(self.config)

        def choose(observations: Floats) -> npt.NDArray[np.int64]:
            with torch.no_grad():
                seen = torch.from_numpy(observations).to(_device_of(online))
                return np.asarray(choose_greedy(online(seen), seen).cpu().numpy())

        for entry in self._validation.run(choose):
            self.write({"kind": "validation", "steps": mark, **entry})

    def finish(self, steps: int) -> None:
        """Mark the run as finished."""
        self.writer.finish(steps)
        self._board.close()

    def fail(self, error: str) -> None:
        """Note why the run ended early, if there is room for it."""
        with suppress(NormGymError):
            self.writer.note(load_run(self.writer.folder).steps, "failed", error)


def _evaluate(network: QNetwork, observations: Floats) -> Floats:
    """Return action values, (P, 5) float32."""
    with torch.no_grad():
        values = network(torch.from_numpy(observations).to(_device_of(network)))
    return np.asarray(values.cpu().numpy(), np.float32)


def _device_of(network: QNetwork) -> torch.device:
    return next(network.parameters()).device
