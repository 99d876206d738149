"""How a policy behaves during training: test scenarios on the café and two modified cafés.

The scenarios are of the benchmark's kind and built by the same code, from seeds of their own.
Source: NG App. "Algorithm and settings".
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from normgym_envs.constants import TEST_STEPS, Action, Driver, Ending
from normgym_envs.engine import BatchEngine
from normgym_envs.errors import ScenarioError
from normgym_envs.layouts import get_layout
from normgym_envs.norms.library import bound_groups, get_norm, num_slots
from normgym_envs.observations.flat import observe_flat
from normgym_envs.protocol.metrics import measure_episode
from normgym_envs.protocol.scenarios import TestBuilder
from normgym_envs.protocol.trace import TraceRecorder
from normgym_envs.types import EpisodeSpec
from training.config import TRAIN_LAYOUT, VALIDATION_LAYOUTS, DQNConfig
from training.worlds import Floats

Policy = Callable[[Floats], npt.NDArray[np.integer[Any]]]
"""From flat observations (B, size) to actions (B,); greedy and masked."""


class Validation:
    """The fixed validation episodes of a norm."""

    def __init__(self, config: DQNConfig) -> None:
        """Build the scenarios; equal norms give equal ones.

        Args:
            config: of the run.
        """
        self._config = config
        norm = get_norm(config.norm)
        self._num_slots = num_slots(norm)
        groups = bound_groups(norm)
        self._specs: list[EpisodeSpec] = []
        for layout, seeds in config.episode_seeds.validation.items():
            builder = TestBuilder(get_layout(layout), norm, [])
            phase = "seen" if layout == TRAIN_LAYOUT else "unseen"
            found = 0
            for seed in seeds:
                if found == config.validation_episodes:
                    break
                group = int(groups[found % len(groups)])
                try:
                    built = builder.build(phase, found + 1, group, seed, compare=False)
                except ScenarioError:
                    continue
                self._specs.append(built.spec)
                found += 1
        self._engine = BatchEngine(
            [get_layout(name) for name in VALIDATION_LAYOUTS], [norm], len(self._specs)
        )

    @property
    def specs(self) -> tuple[EpisodeSpec, ...]:
        """The episodes, by layout."""
        return tuple(self._specs)

    def run(self, policy: Policy) -> list[dict[str, Any]]:
        """Play all episodes and return one entry a layout.

        Returns:
            Entries with layout and episodes; task, joint, wait_share, all_wait_share and
            collision_rate in [0, 1]; return_mean in reward points, without shaping. Automatic
            turns count in no wait share.
        """
        engine, specs = self._engine, self._specs
        for row, spec in enumerate(specs):
            drivers = (int(Driver.EXTERNAL), *spec.drivers[1:])
            engine.load(row, spec, drivers=drivers, reward_terms=self._config.reward_terms)
        recorder = TraceRecorder(engine)
        while (engine.states["ending"] == Ending.RUNNING).any():
            chosen = np.asarray(policy(observe_flat(engine, 0, self._num_slots)))
            engine.step(np.clip(chosen, 0, Action.WAIT).astype(np.int8)[:, None])
            recorder.record()
        measured = [
            measure_episode(recorder.trace(row), TEST_STEPS, True) for row in range(len(specs))
        ]
        entries = []
        for layout in VALIDATION_LAYOUTS:
            own = [m for m, spec in zip(measured, specs, strict=True) if spec.layout == layout]
            waits = [m.wait_share for m in own if m.wait_share is not None]
            entries.append(
                {
                    "layout": layout,
                    "episodes": len(own),
                    "task": _mean([m.task or 0.0 for m in own]),
                    "joint": _mean([m.joint or 0.0 for m in own]),
                    "wait_share": _mean(waits),
                    "all_wait_share": _mean([float(share == 1) for share in waits]),
                    "collision_rate": _mean([float(m.collisions > 0) for m in own]),
                    "return_mean": _mean([m.returns[0] for m in own]),
                }
            )
        return entries


def _mean(values: list[float]) -> float | None:
    """Return a mean, None for nothing."""
    return float(np.mean(values)) if values else None
