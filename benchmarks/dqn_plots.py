"""Our versions of NG Figures A8 to A10, and validation during training, as PNG files.

Lines are medians over runs and bands the middle half of them; validation is a mean over runs.
Bands show how norms differ, and are no confidence intervals.
"""

from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Final

import numpy as np

from benchmarks.dqn import Condition, Evaluation
from benchmarks.plots import COLOURS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Points = dict[int, list[float]]
"""Values of all runs by transitions done."""
STYLES: Final = ("-", "--")
_LABELS: Final = {"sparse": "sparse, penalties", "none": "sparse, no penalty", "dense": "dense"}
_LAYOUT_NAMES: Final = {
    "cafe": "café",
    "cafe_variant_1": "modified café 1",
    "cafe_variant_2": "modified café 2",
}


def draw_figures(evaluation: Evaluation) -> dict[str, bytes]:
    """Return PNG files by name.

    Args:
        evaluation: of a sweep.
    """
    conditions = evaluation.conditions
    return {
        "figure_a8.png": _draw_probes(
            conditions,
            "TD Huber loss on fixed probes",
            {"train": ("train", "huber"), "validation": ("validation", "huber")},
            is_log=True,
        ),
        "figure_a9.png": _draw_probes(
            conditions,
            "mean value on fixed validation probes, reward points",
            {"Q-value": ("validation", "q_mean"), "target": ("validation", "target_mean")},
        ),
        "figure_a10.png": _draw_returns(conditions),
        "validation.png": _draw_validation(conditions),
    }


def collect(condition: Condition, kind: str, name: str, fields: Mapping[str, str]) -> Points:
    """Return the values of a field in the logs of all runs.

    Args:
        condition: whose runs.
        kind: of entries.
        name: of the field.
        fields: what entries must have to count.
    """
    points: Points = {}
    for log in condition.logs:
        for entry in log:
            fits = entry["kind"] == kind and fields.items() <= entry.items()
            if fits and entry.get(name) is not None:
                points.setdefault(int(entry["steps"]), []).append(float(entry[name]))
    return dict(sorted(points.items()))


def _draw_probes(
    conditions: Sequence[Condition],
    title: str,
    lines: dict[str, tuple[str, str]],
    is_log: bool = False,
) -> bytes:
    """Return a panel a condition, each with some lines over checkpoints."""
    figure, panels = _make_panels(len(conditions))
    for panel, condition in zip(panels, conditions, strict=True):
        for index, (label, (group, name)) in enumerate(lines.items()):
            points = collect(condition, "probe", name, {"set": group})
            _draw_band(panel, points, COLOURS[index], label, marker="o")
        if is_log:
            panel.set_yscale("log")
        _finish_panel(panel, _title(condition))
    panels[0].set_ylabel(title, fontsize=8)
    panels[0].legend(frameon=False, fontsize=8)
    return _to_png(figure)


def _draw_returns(conditions: Sequence[Condition]) -> bytes:
    """Return the return of training episodes by bins, a panel a reward condition."""
    rewards = list(dict.fromkeys(condition.reward for condition in conditions))
    figure, panels = _make_panels(len(rewards))
    for panel, reward in zip(panels, rewards, strict=True):
        own = [condition for condition in conditions if condition.reward == reward]
        for index, condition in enumerate(own):
            points = collect(condition, "train", "return_mean", {})
            _draw_band(panel, points, COLOURS[index], condition.encoder.upper())
        panel.axhline(-20, color="#9A9A9A", linewidth=0.8, linestyle=":")
        panel.legend(frameon=False, fontsize=8)
        _finish_panel(panel, _LABELS[reward])
    panels[0].set_ylabel(
        "return of an episode, reward points\n(dotted: 200 steps' cost)", fontsize=8
    )
    return _to_png(figure)


def _draw_validation(conditions: Sequence[Condition]) -> bytes:
    """Return task and joint success at checkpoints, means over runs."""
    figure, panels = _make_panels(len(conditions))
    for panel, condition in zip(panels, conditions, strict=True):
        for index, (layout, label) in enumerate(_LAYOUT_NAMES.items()):
            for style, name in zip(STYLES, ("task", "joint"), strict=True):
                points = collect(condition, "validation", name, {"layout": layout})
                means = [100 * float(np.mean(values)) for values in points.values()]
                panel.plot(
                    list(points),
                    means,
                    style,
                    color=COLOURS[index],
                    marker="o",
                    markersize=3,
                    linewidth=1.3,
                    label=f"{label}, {name}",
                )
        panel.set_ylim(-2, 102)
        _finish_panel(panel, _title(condition))
    panels[0].set_ylabel("validation success, percent", fontsize=8)
    panels[0].legend(frameon=False, fontsize=7)
    return _to_png(figure)


def _make_panels(number: int) -> "tuple[Figure, list[Axes]]":
    """Return a figure with panels side by side, at most three in a row."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    columns = min(number, 3)
    rows = -(-number // columns)
    figure = Figure(
        figsize=(max(4.2, 3.1 * columns), 2.8 * rows), dpi=150, layout=ConstrainedLayoutEngine()
    )
    FigureCanvasAgg(figure)
    panels = list(figure.subplots(rows, columns, squeeze=False).flat)
    for panel in panels[number:]:
        panel.set_visible(False)
    return figure, panels[:number]


def _draw_band(panel: "Axes", points: Points, colour: str, label: str, marker: str = "") -> None:
    """Draw a median with the middle half of the runs around it."""
    steps = list(points)
    low, middle, high = (
        [float(np.quantile(values, share)) for values in points.values()]
        for share in (0.25, 0.5, 0.75)
    )
    panel.fill_between(steps, low, high, color=colour, alpha=0.18, linewidth=0)
    panel.plot(steps, middle, color=colour, label=label, marker=marker, markersize=3, linewidth=1.3)


def _finish_panel(panel: "Axes", title: str) -> None:
    """Set title, axes and grid."""
    panel.set_title(title, loc="left", fontsize=9)
    panel.set_xlabel("transitions", fontsize=8)
    panel.tick_params(labelsize=7, colors="#444444")
    panel.xaxis.set_major_formatter(lambda value, _: f"{value / 1000:g}k")
    panel.grid(axis="y", color="#E3E3E3", linewidth=0.8)
    panel.set_axisbelow(True)
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)


def _title(condition: Condition) -> str:
    """Return what a panel shows."""
    return f"{condition.encoder.upper()}, {_LABELS[condition.reward]} ({len(condition.runs)} runs)"


def _to_png(figure: "Figure") -> bytes:
    """Return a figure as a PNG file."""
    buffer = BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": None})
    return buffer.getvalue()
