"""The figure of a run: joint success by family, one mark an agent, with intervals."""

from collections.abc import Sequence
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from benchmarks.runner import Run
from benchmarks.summary import ALL, Cell, list_families, list_phases, summarize

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#444444")
"""Told apart by most colour-blind readers. Source: Okabe and Ito's palette."""
MARKERS: Final = ("o", "s", "D", "^", "v", "P", "X")


def draw_joint(runs: Sequence[Run]) -> bytes:
    """Return a figure of joint success by family and condition, as a PNG file.

    Args:
        runs: one an agent, all of one suite.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    families = list_families(runs)
    columns = [*families, ALL] if len(families) > 1 else families
    phases = list_phases(runs)
    width = max(5.5, 1.2 + 1.25 * len(columns))
    figure = Figure(
        figsize=(width, 0.9 + 2.7 * len(phases)),
        dpi=160,
        layout=ConstrainedLayoutEngine(hspace=0.08),
    )
    FigureCanvasAgg(figure)
    panels = figure.subplots(len(phases), 1, squeeze=False, sharex=True)[:, 0]
    for panel, phase in zip(panels, phases, strict=True):
        cells = [[summarize(run, phase, column) for column in columns] for run in runs]
        _draw_panel(panel, phase, columns, [run.config.agent for run in runs], cells)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(
        handles,
        labels,
        loc="outside lower center",
        ncols=min(len(runs), 5),
        frameon=False,
        fontsize=9,
        handletextpad=0.3,
        columnspacing=1.4,
    )
    buffer = BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": None})
    return buffer.getvalue()


def _draw_panel(
    panel: "Axes", phase: str, columns: list[str], agents: list[str], cells: list[list[Cell]]
) -> None:
    """Draw one condition."""
    step = 0.74 / max(len(agents), 1)
    for index, (agent, row) in enumerate(zip(agents, cells, strict=True)):
        shift = (index - (len(agents) - 1) / 2) * step
        known = [i for i, cell in enumerate(row) if cell.joint.value is not None]
        values: list[Any] = [row[i].joint.value for i in known]
        below = [
            max(0.0, v - (row[i].joint.low or 0.0)) for v, i in zip(values, known, strict=True)
        ]
        above = [
            max(0.0, (row[i].joint.high or 0.0) - v) for v, i in zip(values, known, strict=True)
        ]
        panel.errorbar(
            [i + shift for i in known],
            values,
            yerr=[below, above],
            fmt=MARKERS[index % len(MARKERS)],
            color=COLOURS[index % len(COLOURS)],
            markersize=5.5,
            elinewidth=1.3,
            capsize=0,
            label=agent,
            clip_on=False,
            zorder=3,
        )
    counts = [max((row[i].num for row in cells), default=0) for i in range(len(columns))]
    names = [f"{name}\n{count} episodes" for name, count in zip(columns, counts, strict=True)]
    panel.set_xticks(range(len(columns)), names, fontsize=9)
    panel.tick_params(axis="x", length=0, pad=8)
    panel.tick_params(axis="y", length=0, labelsize=9, colors="#444444")
    panel.set_xlim(-0.5, len(columns) - 0.5)
    panel.set_ylim(-1, 101)
    panel.set_yticks(range(0, 101, 25))
    panel.grid(axis="y", color="#E3E3E3", linewidth=0.8)
    panel.set_axisbelow(True)
    panel.axhline(0, color="#9A9A9A", linewidth=0.8, zorder=1)
    if columns[-1] == ALL:
        panel.axvspan(len(columns) - 1.5, len(columns) - 0.5, color="#F3F3F3", zorder=0)
    for edge in range(1, len(columns)):
        panel.axvline(edge - 0.5, color="#E3E3E3", linewidth=0.8)
    for side in panel.spines.values():
        side.set_visible(False)
    layout = "Seen layout" if phase == "seen" else "Unseen layouts"
    title = f"{layout}: joint success in percent, 95 % Wilson intervals"
    panel.set_title(title, loc="left", fontsize=10, pad=10)
