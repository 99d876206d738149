"""The market's figures: SW Figures 2 to 8 with own numbers, as PNG files."""

from collections.abc import Callable
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from benchmarks.market import Outcome, Pair
from benchmarks.market_reference import ABLATIONS, TABLE_4

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RED, BLUE, GREEN, GREY = "#D55E00", "#0072B2", "#009E73", "#8A8A8A"
SEVEN: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#444444")
"""Told apart by most colour-blind readers. Source: Okabe and Ito's palette."""
MARKERS: Final = ("o", "s", "D", "^", "v", "P", "X")
LABELS: Final = {
    "baseline": "Baseline",
    "strict_governance": "Strict",
    "adaptive_governance": "Adaptive",
    "adversarial_redteam": "Red team",
    "misalignment_sweep": "Misalignment",
    "threshold_dancer": "Dancer",
    "collusion_detection": "Collusion",
}


def draw_figures(pairs: dict[str, Pair], ablations: dict[str, list[Outcome]]) -> dict[str, bytes]:
    """Return the figures there is data for: name of the file -> PNG.

    Args:
        pairs: by scenario.
        ablations: by name.
    """
    figures: dict[str, bytes] = {}
    if pairs:
        figures["figure_2_toxicity_welfare.png"] = _render(_draw_main, pairs, (9, 3.6))
        figures["figure_3_pareto.png"] = _render(_draw_pareto, pairs, (6.4, 4.4))
        figures["figure_4_toxicity_epochs.png"] = _render(_draw_toxicity, pairs, (8.2, 4.2))
        figures["figure_7_welfare_epochs.png"] = _render(_draw_welfare, pairs, (8.2, 4.2))
        figures["figure_8_volume.png"] = _render(_draw_volume, pairs, (8.2, 3.6))
    if "rho" in ablations:
        figures["figure_5_rho.png"] = _render(_draw_rho, ablations["rho"], (9, 3.6))
    four = {name: ablations[name] for name in ABLATIONS if name in ablations and name != "rho"}
    if four:
        size = (9.4, 3.4 * ((len(four) + 1) // 2))
        figures["figure_6_levers.png"] = _render(_draw_levers, four, size)
    return figures


def _render(draw: Callable[["Figure", Any], None], data: Any, size: tuple[float, float]) -> bytes:
    """Draw one figure."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    draw(figure, data)
    buffer = BytesIO()
    figure.savefig(buffer, format="png", metadata={"Software": None})
    return buffer.getvalue()


def _clean(panel: Any, grid: str = "y") -> None:
    """Take away what does not carry information."""
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        panel.spines[side].set_color("#B0B0B0")
    panel.tick_params(colors="#444444", labelsize=9, length=3)
    panel.grid(axis=grid, color="#E6E6E6", linewidth=0.8)
    panel.set_axisbelow(True)


def _label(name: str) -> str:
    """Return a scenario's short name."""
    return LABELS.get(name, name)


def _moments(outcome: Outcome, metric: str) -> tuple[float, float]:
    """Return mean and population standard deviation over seeds."""
    values = outcome.values[metric]
    if values.count() == 0:
        return float("nan"), 0.0  # matplotlib leaves the mark out
    return float(values.mean()), float(values.std())


def _count_seeds(pairs: dict[str, Pair]) -> int:
    """Return how many seeds the scenarios were played with."""
    return len(next(iter(pairs.values())).levers.seeds)


def _draw_main(figure: "Figure", pairs: dict[str, Pair]) -> None:
    """Draw SW Figure 2: toxicity and welfare by scenario, with the control and SW's values."""
    panels = figure.subplots(1, 2)
    places = np.arange(len(pairs))
    for panel, metric in zip(panels, ("toxicity", "welfare"), strict=True):
        for shift, side, tint in ((-0.19, "levers", BLUE), (0.19, "control", "#C9C9C9")):
            found = [_moments(getattr(pair, side), metric) for pair in pairs.values()]
            panel.bar(
                places + shift,
                [mean for mean, _ in found],
                0.36,
                yerr=[sd for _, sd in found],
                color=tint,
                error_kw={"elinewidth": 1.1, "ecolor": "#333333"},
                label="levers on" if side == "levers" else "no levers (control)",
            )
        known = [
            (place, getattr(TABLE_4[name], metric))
            for place, name in zip(places, pairs, strict=True)
            if name in TABLE_4
        ]
        panel.plot(
            [place - 0.19 for place, _ in known],
            [value for _, value in known],
            "D",
            markersize=5,
            markerfacecolor="white",
            markeredgecolor="black",
            label="SW Table 4",
            zorder=5,
        )
        panel.set_xticks(places, [_label(name) for name in pairs], rotation=35, ha="right")
        _clean(panel)
        panel.tick_params(axis="x", length=0)
        panel.set_title(
            "Toxicity" if metric == "toxicity" else "Welfare, payoff points a run",
            loc="left",
            fontsize=10,
        )
    figure.legend(
        *panels[1].get_legend_handles_labels(),
        loc="outside lower center",
        ncols=3,
        frameon=False,
        fontsize=9,
    )
    figure.suptitle(
        f"Mean ± 1 sd over {_count_seeds(pairs)} seeds", x=0.01, ha="left", fontsize=9, color="#555"
    )


def _draw_pareto(figure: "Figure", pairs: dict[str, Pair]) -> None:
    """Draw SW Figure 3: welfare against toxicity, arrows from the control to the levers."""
    panel = figure.subplots()
    for index, (name, pair) in enumerate(pairs.items()):
        colour = SEVEN[index % len(SEVEN)]
        x, x_sd = _moments(pair.levers, "toxicity")
        y, y_sd = _moments(pair.levers, "welfare")
        x0, _ = _moments(pair.control, "toxicity")
        y0, _ = _moments(pair.control, "welfare")
        panel.annotate(
            "",
            (x, y),
            (x0, y0),
            arrowprops={"arrowstyle": "-|>", "color": colour, "alpha": 0.55, "linewidth": 1.2},
        )
        panel.plot(x0, y0, "o", markersize=5, markerfacecolor="white", markeredgecolor=colour)
        panel.errorbar(
            x,
            y,
            xerr=x_sd,
            yerr=y_sd,
            fmt=MARKERS[index % len(MARKERS)],
            color=colour,
            markersize=7,
            elinewidth=0.9,
            label=_label(name),
        )
    panel.set_xlabel("toxicity (lower is safer)", fontsize=9)
    panel.set_ylabel("welfare, payoff points a run", fontsize=9)
    _clean(panel, "both")
    panel.set_title(
        "Filled: levers on, ± 1 sd. Hollow: the same population without levers",
        loc="left",
        fontsize=9.5,
    )
    figure.legend(loc="outside right center", frameon=False, fontsize=9)


def _draw_toxicity(figure: "Figure", pairs: dict[str, Pair]) -> None:
    """Draw SW Figure 4: toxicity by epoch over the seeds that accepted anything in it."""
    panel, below = figure.subplots(2, 1, sharex=True, height_ratios=(3, 1))
    for index, (name, pair) in enumerate(pairs.items()):
        by_epoch = pair.levers.toxicity
        time = np.arange(1, by_epoch.shape[1] + 1)
        alive = 100.0 * (~np.ma.getmaskarray(by_epoch)).mean(axis=0)
        colour = SEVEN[index % len(SEVEN)]
        # an epoch in which fewer than a fifth of the seeds live says nothing of the scenario
        means = np.ma.masked_where(alive < 20.0, by_epoch.mean(axis=0))
        panel.plot(time, means, color=colour, linewidth=1.7, label=_label(name))
        below.plot(time, alive, color=colour, linewidth=1.5)
    panel.set_title(
        "Toxicity by epoch, mean over live seeds (left out below 20 % alive)",
        loc="left",
        fontsize=10,
    )
    below.set_title("Percent of seeds that accepted anything", loc="left", fontsize=9)
    below.set_xlabel("epoch", fontsize=9)
    below.set_ylim(-4, 104)
    below.set_xticks(_choose_ticks(pairs))
    _clean(panel)
    _clean(below)
    figure.legend(loc="outside right center", frameon=False, fontsize=9)


def _draw_welfare(figure: "Figure", pairs: dict[str, Pair]) -> None:
    """Draw SW Figure 7: welfare added up over epochs."""
    panel = figure.subplots()
    for index, (name, pair) in enumerate(pairs.items()):
        total = np.cumsum(pair.levers.welfare.filled(0.0), axis=1)
        time = np.arange(1, total.shape[1] + 1)
        mean, sd = total.mean(axis=0), total.std(axis=0)
        colour = SEVEN[index % len(SEVEN)]
        panel.plot(time, mean, color=colour, linewidth=1.7, label=_label(name))
        panel.fill_between(time, mean - sd, mean + sd, color=colour, alpha=0.12, linewidth=0)
    panel.set_title("Welfare so far, payoff points, mean ± 1 sd", loc="left", fontsize=10)
    panel.set_xlabel("epoch", fontsize=9)
    panel.set_xticks(_choose_ticks(pairs))
    _clean(panel)
    figure.legend(loc="outside right center", frameon=False, fontsize=9)


def _choose_ticks(pairs: dict[str, Pair]) -> list[int]:
    """Return ticks of an axis of epochs."""
    longest = max(pair.levers.toxicity.shape[1] for pair in pairs.values())
    step = max(1, round(longest / 10))
    return [1, *range(step if step > 1 else 2, longest + 1, step)]


def _draw_volume(figure: "Figure", pairs: dict[str, Pair]) -> None:
    """Draw SW Figure 8: proposals and accepted ones, with the control."""
    panel = figure.subplots()
    places = np.arange(len(pairs))
    bars = (
        ("levers", "interactions", -0.3, "#A9CFE8", "proposals"),
        ("levers", "accepted", -0.1, BLUE, "accepted"),
        ("control", "interactions", 0.1, "#E0E0E0", "proposals, no levers"),
        ("control", "accepted", 0.3, GREY, "accepted, no levers"),
    )
    for side, metric, shift, colour, label in bars:
        found = [_moments(getattr(pair, side), metric) for pair in pairs.values()]
        panel.bar(
            places + shift,
            [mean for mean, _ in found],
            0.19,
            yerr=[sd for _, sd in found],
            color=colour,
            error_kw={"elinewidth": 0.9, "ecolor": "#333333"},
            label=label,
        )
    panel.set_xticks(places, [_label(name) for name in pairs])
    panel.set_title("Proposals a run, mean ± 1 sd", loc="left", fontsize=10)
    _clean(panel)
    panel.tick_params(axis="x", length=0)
    figure.legend(loc="outside lower center", ncols=4, frameon=False, fontsize=9)


def _draw_rho(figure: "Figure", outcomes: list[Outcome]) -> None:
    """Draw SW Figure 5: what rho does to toxicity and welfare."""
    settings = ABLATIONS["rho"].settings
    first, second = figure.subplots(1, 2)
    values = [setting.value for setting in settings]
    _draw_twin(first, "rho", values, outcomes)
    first.set_title("(a) rho moves welfare alone", loc="left", fontsize=10)
    toxicity = [_moments(one, "toxicity")[0] for one in outcomes]
    welfare = [_moments(one, "welfare")[0] for one in outcomes]
    net = [_moments(one, "net_social_welfare")[0] for one in outcomes]
    second.plot(toxicity, welfare, "o-", color=BLUE, label="welfare", markersize=5)
    second.plot(toxicity, net, "s", color=GREEN, label="net social welfare", markersize=5)
    for setting, x, y in zip(settings, toxicity, welfare, strict=True):
        second.annotate(
            f"{setting.value:g}", (x, y), (7, -3), textcoords="offset points", fontsize=8
        )
    middle = float(np.mean(toxicity))
    second.set_xlim(middle - 0.02, middle + 0.02)
    second.set_xlabel("toxicity", fontsize=9)
    second.set_title("(b) No trade-off: one toxicity for every rho", loc="left", fontsize=10)
    second.legend(frameon=False, fontsize=9, loc="lower left")
    _clean(second, "both")


def _draw_levers(figure: "Figure", ablations: dict[str, list[Outcome]]) -> None:
    """Draw SW Figure 6: what each lever's setting does."""
    rows = (len(ablations) + 1) // 2
    panels = figure.subplots(rows, min(2, len(ablations)), squeeze=False).ravel()
    for panel, (name, outcomes) in zip(panels, ablations.items(), strict=False):
        ablation = ABLATIONS[name]
        _draw_twin(panel, name, [setting.value for setting in ablation.settings], outcomes)
        panel.set_title(ablation.title, loc="left", fontsize=10)
    for panel in panels[len(ablations) :]:
        panel.set_visible(False)


def _draw_twin(panel: Any, name: str, values: list[float], outcomes: list[Outcome]) -> None:
    """Draw toxicity on the left axis and welfare on the right; hollow marks are SW's."""
    other = panel.twinx()
    settings = ABLATIONS[name].settings
    for axis, metric, colour in ((panel, "toxicity", RED), (other, "welfare", BLUE)):
        found = [_moments(one, metric) for one in outcomes]
        means, spreads = np.array(found).T
        axis.plot(values, means, "o-", color=colour, markersize=4.5, linewidth=1.6, zorder=3)
        axis.fill_between(
            values, means - spreads, means + spreads, color=colour, alpha=0.13, linewidth=0
        )
        paper = [getattr(setting, metric) for setting in settings]
        axis.plot(values, paper, "D", markersize=5, markerfacecolor="none", markeredgecolor=colour)
        axis.tick_params(axis="y", colors=colour, labelsize=9, length=3)
        axis.set_ylabel(metric, color=colour, fontsize=9)
        axis.spines["top"].set_visible(False)
        for side in ("left", "right", "bottom"):
            axis.spines[side].set_color("#B0B0B0")
        low = min(min(means - spreads), min(paper))
        high = max(max(means + spreads), max(paper))
        room = max(0.08 * (high - low), 0.004 if metric == "toxicity" else 2.0)
        axis.set_ylim(low - room, high + room)
    panel.grid(axis="y", color="#E6E6E6", linewidth=0.8)
    panel.set_axisbelow(True)
    panel.set_xlabel(f"{name} (lines: own mean ± 1 sd, diamonds: SW)", fontsize=8.5)
    panel.set_xticks(values)
    panel.tick_params(axis="x", labelsize=9, length=3, colors="#444444")
