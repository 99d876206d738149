"""The market as a picture: who trusts whom, and the ledger of payoffs."""

from io import BytesIO
from typing import Final

import networkx as nx
import numpy as np

from normgym_envs.market.archetypes import Policy
from normgym_envs.market.market import Runs

COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#444444")
"""Told apart by most colour-blind readers. Source: Okabe and Ito's palette."""
MARKERS: Final = ("o", "s", "^", "D", "v", "P", "X")


def draw_market(runs: Runs, row: int = 0) -> bytes:
    """Return the network and the ledger of one run, as a PNG file.

    An edge is as thick as accepted interactions between the two are many, and green or red as the
    two trust each other at the end or not. Frozen agents have a red rim.

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
    kinds = [Policy(int(policy)) for policy in agents["policy"]]
    order = list(dict.fromkeys(kinds))
    looks = {kind: (COLOURS[i % 7], MARKERS[i % 7]) for i, kind in enumerate(order)}
    figure = Figure(figsize=(9.6, 4.4), dpi=150, layout=ConstrainedLayoutEngine(wspace=0.06))
    FigureCanvasAgg(figure)
    network, ledger = figure.subplots(1, 2, width_ratios=(1, 1.25))

    places = nx.circular_layout(range(len(agents)))
    number: dict[tuple[int, int], int] = {}
    trust: dict[tuple[int, int], float] = {}
    for record in records:
        pair = sorted((int(record["initiator"]), int(record["counterparty"])))
        key = (pair[0], pair[1])
        trust[key] = float(record["trust_initiator_after"] + record["trust_counterparty_after"]) / 2
        number[key] = number.get(key, 0) + bool(record["accepted"])
    scale = LinearSegmentedColormap.from_list("trust", ["#c81e2c", "#d9d4c8", "#138a4e"])
    most = max(number.values(), default=0) or 1
    lines = LineCollection(
        [(places[a], places[b]) for a, b in number],
        linewidths=[0.5 + 5 * count / most for count in number.values()],
        colors=[scale(trust[pair]) for pair in number],
        zorder=1,
    )
    network.add_collection(lines)
    for agent, kind in enumerate(kinds):
        colour, marker = looks[kind]
        x, y = places[agent]
        reputation = float(np.clip(agents["reputation"][agent], 0, 1))
        network.scatter(
            x,
            y,
            s=260 + 260 * reputation,
            c=colour,
            marker=marker,
            edgecolors="#2b2a33" if not agents["frozen"][agent] else "#c81e2c",
            linewidths=1.2 if not agents["frozen"][agent] else 3,
            zorder=2,
        )
        network.text(
            x, y, str(agent), ha="center", va="center", color="white", weight="bold", zorder=3
        )
    network.set(xlim=(-1.25, 1.25), ylim=(-1.25, 1.25), aspect="equal")
    network.axis("off")
    network.set_title(f"{runs.scenario.name}: who trusts whom", fontsize=10)

    epochs = np.arange(runs.epochs + 1)
    ends: list[tuple[float, int]] = []
    for agent, kind in enumerate(kinds):
        colour, marker = looks[kind]
        gains = np.zeros(runs.epochs + 1)
        for role in ("initiator", "counterparty"):
            mine = dealt[dealt[role] == agent]
            np.add.at(gains, mine["epoch"] + 1, mine[f"payoff_{role}"])
        ledger.plot(
            epochs,
            gains.cumsum(),
            color=colour,
            marker=marker,
            markevery=max(runs.epochs // 5, 1),
            markersize=4,
            label=kind.name.lower().replace("_", " "),
        )
        ends.append((float(gains.sum()), agent))
    low, high = ledger.get_ylim()
    level = -np.inf
    for gain, agent in sorted(ends):
        level = max(gain, level + (high - low) / 26)  # keep numbers apart
        ledger.annotate(
            str(agent),
            (runs.epochs, gain),
            xytext=(runs.epochs * 1.03, level),
            va="center",
            fontsize=8,
        )
    handles, labels = ledger.get_legend_handles_labels()
    shown = dict(zip(labels, handles, strict=True))
    ledger.legend(shown.values(), shown.keys(), frameon=False, fontsize=8, loc="upper left")
    ledger.xaxis.get_major_locator().set_params(integer=True)
    ledger.set(xlabel="epoch", ylabel="payoff points so far")
    ledger.set_title("Ledger", fontsize=10)
    ledger.spines[["top", "right"]].set_visible(False)
    buffer = BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": ""})
    return buffer.getvalue()
