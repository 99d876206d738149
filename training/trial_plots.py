"""One figure of a trial learner: how it learnt, and what the frozen one does within a trial."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

from normgym_envs.errors import ConfigError

COLOURS = {
    "learner": "#1b6ca8",
    "forgetful": "#e59866",
    "norm_blind": "#c0392b",
    "oracle": "#2e8b57",
    "random": "#8e8e8e",
}
_WINDOW = 10
"""Updates that a point of the learning curve averages over."""


def plot_trials(players: Mapping[str, Any], turns: int, log: Path, out: Path) -> None:
    """Draw violations by quarter of a trial, and sanctions by quarter over training.

    Args:
        players: results of `summarise` by player.
        turns: of a trial.
        log: `log.jsonl` of the run; only the first panel is drawn when there is none.
        out: picture to write.

    Raises:
        ConfigError: the picture cannot be written.
    """
    mpl.use("Agg")
    from matplotlib import pyplot

    lines = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    figure, panels = pyplot.subplots(
        1, 2 if lines else 1, figsize=(9 if lines else 4.5, 3.2), squeeze=False
    )
    panel = panels[0][0]
    for player, result in players.items():
        rates = result["violations_per_100_turns"]
        middle = (np.arange(len(rates)) + 0.5) * turns / len(rates)
        panel.plot(middle, rates, "o-", color=COLOURS[player], label=player.replace("_", "-"))
    panel.set(xlabel="turn of the trial", ylabel="violations per 100 own turns", ylim=(0, None))
    panel.set_title("frozen weights")
    panel.legend(frameon=False)
    if lines:
        steps = np.array([line["steps"] for line in lines]) / 1e6
        sanctions = np.array([line["sanctions_per_100_turns"] for line in lines])
        width = min(_WINDOW, len(lines))
        kernel = np.ones(width) / width
        for part, words in ((0, "first quarter of a trial"), (-1, "last quarter")):
            smooth = np.convolve(sanctions[:, part], kernel, "valid")
            panels[0][1].plot(steps[width - 1 :], smooth, label=words)
        panels[0][1].set(
            xlabel="turns of training (millions)",
            ylabel="sanctions per 100 own turns",
            ylim=(0, None),
            title="training norms",
        )
        panels[0][1].legend(frameon=False)
    figure.tight_layout()
    try:
        figure.savefig(out, dpi=110, metadata={"Software": None})
    except (OSError, ValueError) as error:
        raise ConfigError(f"--plot: {out} cannot be written: {error}") from None
    finally:
        pyplot.close(figure)
