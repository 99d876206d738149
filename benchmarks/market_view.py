"""The market as a picture: who dealt with whom and how well, and the ledger of payoffs."""

from io import BytesIO
from typing import Final

import networkx as nx
import numpy as np

from normgym_envs.market.archetypes import Face
from normgym_envs.market.market import Runs

COLOURS: Final = {"honest": "#0072B2", "opportunistic": "#E69F00", "deceptive": "#CC79A7"}
"""Face -> colour; others are grey."""
MARKERS: Final = {"honest": "o", "opportunistic": "^", "deceptive": "s"}


def draw_market(runs: Runs, row: int = 0) -> bytes:
    """Return the network and the ledger of one run, as a PNG file.

    An edge is as thick as accepted interactions between the two are many, and green or red as
    their soft labels are high or low on average.

    Args:
        runs: of one scenario.
        row: which seed.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.collections import LineCollection
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    records = runs.row(row)
    dealt = records[records["accepted"]]
    agents = runs.agents[row]
    names = [Face(int(face)).name.lower() for face in agents["face"]]
    figure = Figure(figsize=(9.6, 4.4), dpi=150, layout=ConstrainedLayoutEngine(wspace=0.06))
    FigureCanvasAgg(figure)
    network, ledger = figure.subplots(1, 2, width_ratios=(1, 1.25))

    places = nx.circular_layout(range(len(agents)))
    pairs: dict[tuple[int, int], list[float]] = {}
    for first, second, p in zip(
        dealt["initiator"].tolist(), dealt["counterparty"].tolist(), dealt["p"].tolist(), strict=True
    ):
        pairs.setdefault((min(first, second), max(first, second)), []).append(p)
    scale = LinearSegmentedColormap.from_list("trust", ["#c81e2c", "#d9d4c8", "#138a4e"])
    most = max((len(values) for values in pairs.values()), default=1)
    lines = LineCollection(
        [(places[a], places[b]) for a, b in pairs],
        linewidths=[0.8 + 5 * len(values) / most for values in pairs.values()],
        colors=[scale(float(np.mean(values))) for values in pairs.values()],
        zorder=1,
    )
    network.add_collection(lines)
    for agent, name in enumerate(names):
        x, y = places[agent]
        reputation = float(np.clip(agents["reputation"][agent], 0, 1))
        network.scatter(
            x,
            y,
            s=260 + 260 * reputation,
            c=COLOURS.get(name, "#8a8790"),
            marker=MARKERS.get(name, "D"),
            edgecolors="#2b2a33" if not agents["frozen"][agent] else "#c81e2c",
            linewidths=1.2 if not agents["frozen"][agent] else 3,
            zorder=2,
        )
        network.text(x, y, str(agent), ha="center", va="center", color="white", weight="bold", zorder=3)
    network.set(xlim=(-1.25, 1.25), ylim=(-1.25, 1.25), aspect="equal")
    network.axis("off")
    network.set_title(f"{runs.scenario.name}: who dealt with whom", fontsize=10)

    epochs = np.arange(runs.epochs + 1)
    for agent, name in enumerate(names):
        gains = np.zeros(runs.epochs + 1)
        for role in ("initiator", "counterparty"):
            mine = dealt[dealt[role] == agent]
            np.add.at(gains, mine["epoch"] + 1, mine[f"payoff_{role}"])
        ledger.plot(
            epochs,
            gains.cumsum(),
            color=COLOURS.get(name, "#8a8790"),
            marker=MARKERS.get(name, "D"),
            markevery=max(runs.epochs // 5, 1),
            markersize=4,
            label=name,
        )
        ledger.annotate(
            str(agent), (runs.epochs, gains.sum()), xytext=(4, -3), textcoords="offset points",
            fontsize=8,
        )
    handles, labels = ledger.get_legend_handles_labels()
    shown = dict(zip(labels, handles, strict=True))
    ledger.legend(shown.values(), shown.keys(), frameon=False, fontsize=8, loc="upper left")
    ledger.set(xlabel="epoch", ylabel="payoff points so far")
    ledger.set_title("Ledger", fontsize=10)
    ledger.spines[["top", "right"]].set_visible(False)
    buffer = BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": ""})
    return buffer.getvalue()
