"""The market's tables: SW Tables 2 to 9 beside own numbers, then what SW leaves out."""

from collections.abc import Sequence

from benchmarks.market import (
    Comparison,
    Held,
    Label,
    Outcome,
    Pair,
    average,
    estimate,
    rate_criteria,
    rate_passes,
    share_modes,
)
from benchmarks.market_reference import ABLATIONS, TABLE_4, TABLE_7, TABLE_9
from benchmarks.statistics import Estimate
from benchmarks.tables import Table
from normgym_envs.market import Scenario
from normgym_envs.market.archetypes import DIFFERENCES, PRESETS
from normgym_envs.market.metrics import Masked
from normgym_envs.market.state import CHANNELS

TABLE_8 = (
    "baseline",
    "strict_governance",
    "adaptive_governance",
    "threshold_dancer",
    "misalignment_sweep",
)
"""Scenarios of SW Table 8."""


def tabulate_configurations(scenarios: Sequence[Scenario], preset: str) -> Table:
    """Return SW Table 2: populations and levers."""
    rows = []
    for one in scenarios:
        levers = one.levers
        people = " ".join(
            f"{group.count}{PRESETS[preset][group.archetype].letter}" for group in one.population
        )
        tax, breaker, audit = levers.transaction_tax, levers.circuit_breaker, levers.random_audit
        decay, network = levers.reputation_decay, one.network
        rows.append(
            (
                one.name,
                people,
                f"{tax.rate:.2f}" if tax else "0",
                f"{breaker.threshold:.2f}" if breaker else "none",
                f"{audit.probability:.2f}" if audit else "none",
                f"{decay.factor:.2f}" if decay else "1.00",
                f"{levers.staking.minimum:g}" if levers.staking else "none",
                "on" if levers.collusion else "none",
                network.kind,
            )
        )
    return Table(
        "SW Table 2: scenarios",
        "H honest, O opportunistic, D deceptive, A adversarial, C cautious, AA adaptive adversary, "
        "CR cautious reciprocator, TD threshold dancer; stake, collusion, network: released files",
        ("scenario", "agents", "tax", "breaker", "audit", "decay", "stake", "collusion", "network"),
        tuple(rows),
    )


def tabulate_payoffs(scenarios: Sequence[Scenario]) -> Table:
    """Return SW Table 3: payoffs."""
    rows = []
    for one in scenarios:
        pay, rho = one.payoffs, one.levers.externality
        rows.append(
            (
                one.name,
                f"{pay.surplus_good:g}",
                f"{pay.surplus_bad:g}",
                f"{pay.harm:g}",
                f"{pay.initiator_share:g}",
                f"{pay.reputation_weight:g}",
                f"{rho.initiator:g}" if rho else "0",
            )
        )
    return Table(
        "SW Table 3: payoffs",
        "red team and collusion: as released; SW prints their h and w_rep the other way round",
        ("scenario", "s+", "s-", "h", "theta", "w_rep", "rho"),
        tuple(rows),
    )


def tabulate_main(pairs: dict[str, Pair]) -> Table:
    """Return SW Table 4: own means and spreads beside SW's."""
    rows = []
    for name, pair in pairs.items():
        values, paper = pair.levers.values, TABLE_4.get(name)
        rows.append(
            (
                name,
                f"{paper.toxicity:.3f}±{paper.toxicity_sd:.3f}" if paper else "-",
                _spread(values["toxicity"], 3, "±"),
                f"{paper.welfare:.1f}±{paper.welfare_sd:.1f}" if paper else "-",
                _spread(values["welfare"], 1, "±"),
                f"{paper.interactions:.0f}±{paper.interactions_sd:.0f}" if paper else "-",
                _spread(values["interactions"], 0, "±"),
                f"{paper.passed:.0f}" if paper else "-",
                _share(rate_passes(pair.levers)),
            )
        )
    return Table(
        "SW Table 4: main results, SW and own",
        _note(pairs) + "; mean ± population sd over seeds; toxicity pooled; pass: percent of "
        "seeds that meet what the released checker reads",
        (
            "scenario",
            "tox SW",
            "tox",
            "welfare SW",
            "welfare",
            "inter. SW",
            "inter.",
            "pass SW",
            "pass",
        ),
        tuple(rows),
    )


def tabulate_control(pairs: dict[str, Pair]) -> list[Table]:
    """Return every scenario beside its no-lever control, with intervals."""
    tables = []
    for title, names, digits in (
        ("toxicity", ("toxicity", "toxicity_epoch_mean"), 3),
        ("welfare", ("welfare", "net_social_welfare"), 1),
        ("volume", ("interactions", "accepted"), 0),
    ):
        rows = []
        for name, pair in pairs.items():
            cells = [
                _show(estimate(side.values[metric], side.seeds), digits)
                for metric in names
                for side in (pair.levers, pair.control)
            ]
            rows.append((name, *cells))
        labels = {
            "toxicity": ("pooled", "epoch mean"),
            "welfare": ("welfare", "net social"),
            "volume": ("proposals", "accepted"),
        }[title]
        tables.append(
            Table(
                f"With levers and without: {title}",
                "mean [95 % interval, seeds resampled]; control: same population, seeds, payoffs "
                "and rho, other levers off"
                + ("; an epoch that accepts nothing counts 0" if title == "toxicity" else ""),
                (
                    "scenario",
                    *(f"{label}{side}" for label in labels for side in ("", ", control")),
                ),
                tuple(rows),
            )
        )
    return tables


def tabulate_comparisons(comparisons: Sequence[Comparison]) -> Table:
    """Return the paired tests."""
    rows = [
        (
            one.scenario,
            one.metric,
            _show(one.difference, 3 if one.metric == "toxicity" else 1),
            "-" if one.p is None else f"{one.p:.2g}",
            "-" if one.p_holm is None else f"{one.p_holm:.2g}",
        )
        for one in comparisons
    ]
    return Table(
        "What the levers change: paired differences, levers minus control",
        "mean [95 % interval]; t tests over seeds, p corrected by Holm over all rows; - no "
        "difference to test",
        ("scenario", "metric", "difference", "p", "p Holm"),
        tuple(rows),
    )


def tabulate_metrics(pairs: dict[str, Pair]) -> Table:
    """Return SW's other metrics and the trends."""
    names = (
        "quality_gap",
        "conditional_loss",
        "spread",
        "toxicity_trend",
        "quality_variance",
        "distribution_shift",
    )
    rows = []
    for name, pair in pairs.items():
        found = [average(pair.levers.values[metric]) for metric in names]
        rows.append((name, *("null" if value is None else f"{value:.4f}" for value in found)))
    return Table(
        "Soft metrics",
        "means over seeds; null: no seed has the metric; trend: slope of toxicity per epoch; "
        "shift: Wasserstein distance between the halves of a run",
        ("scenario", "gap", "cond. loss", "spread", "trend", "variance", "shift"),
        tuple(rows),
    )


def tabulate_criteria(pairs: dict[str, Pair]) -> Table:
    """Return the pass rate of each success criterion."""
    rows = []
    for name, pair in pairs.items():
        for words, rate, read, why in rate_criteria(pair.levers):
            rows.append((name, words, _percent(rate), "yes" if read else "no", why or "-"))
    return Table(
        "Pass rate by criterion",
        "percent of seeds [95 % Wilson interval]; read: the released checker looks at it, others "
        "pass unseen; toxicity: mean of the epochs'",
        ("scenario", "criterion", "pass", "read", "not evaluated"),
        tuple(rows),
    )


def tabulate_ablation(name: str, outcomes: Sequence[Outcome]) -> Table:
    """Return SW Table 5 or 6."""
    ablation = ABLATIONS[name]
    rows = []
    for setting, outcome in zip(ablation.settings, outcomes, strict=True):
        values = outcome.values
        rows.append(
            (
                f"{setting.value:g}",
                f"{setting.toxicity:.4f}",
                _spread(values["toxicity"], 4),
                f"{setting.welfare:.1f} ± {setting.welfare_sd:.1f}",
                _spread(values["welfare"], 1),
                _spread(values["net_social_welfare"], 1),
                _spread(values["accepted"], 0),
            )
        )
    return Table(
        f"SW {ablation.table}: {ablation.title}",
        f"{ablation.scenario}, {len(outcomes[0].seeds)} seeds; mean ± population sd",
        (name, "tox SW", "tox", "welfare SW", "welfare", "net social", "accepted"),
        tuple(rows),
    )


def tabulate_companions() -> Table:
    """Return SW Table 7: companion studies, and why there is no own row."""
    return Table(
        "SW Table 7: companion studies",
        "SW's numbers as far as they are preserved; none is reproduced here",
        ("study", "SW", "here"),
        TABLE_7,
    )


def tabulate_rules(scenarios: Sequence[Scenario]) -> Table:
    """Return SW Table 8: payoffs and rules of five scenarios."""
    rows = []
    for one in scenarios:
        if one.name not in TABLE_8:
            continue
        pay, levers = one.payoffs, one.levers
        tax, breaker, rho = levers.transaction_tax, levers.circuit_breaker, levers.externality
        rows.append(
            (
                one.name,
                f"{pay.surplus_good:g} / {pay.surplus_bad:g}",
                f"{pay.harm:g}",
                f"{tax.rate:g}" if tax else "0",
                f"{breaker.threshold:g}" if breaker else "none",
                f"{rho.initiator:g}" if rho else "0",
            )
        )
    return Table(
        "SW Table 8: rules tested",
        "k = 2 everywhere; SW mentions rho only for the misalignment sweep",
        ("scenario", "s+ / s-", "h", "tax", "breaker", "rho"),
        tuple(rows),
    )


def tabulate_labels(labels: Sequence[Label], weights: dict[str, Outcome]) -> Table:
    """Return SW Table 9: E[p] by proxy weights, and what the weights do to a run."""
    rows = []
    for row in TABLE_9:
        own = {(one.archetype, one.reputation): one for one in labels if one.weights == row.name}
        cells = [
            f"{own[kind, low].mean:.3f} - {own[kind, high].mean:.3f}"
            for kind, low, high in (("honest", 0.0, 1.0), ("adversarial", 1.0, 0.0))
        ]
        outcome = weights.get(row.name)
        rows.append(
            (
                row.name,
                f"{row.honest:.3f}",
                cells[0],
                f"{row.adversarial:.3f}",
                cells[1],
                "-" if outcome is None else _spread(outcome.values["toxicity"], 3),
                "-" if outcome is None else _spread(outcome.values["welfare"], 1),
            )
        )
    return Table(
        "SW Table 9: proxy weights",
        "mean p by initiator, range over reputations 0 and 1; SW's numbers are not those of the "
        "released generators either, whose gap narrows with a heavier task weight; toxicity and "
        "welfare: strict_governance",
        ("weights", "honest SW", "honest", "advers. SW", "advers.", "toxicity", "welfare"),
        tuple(rows),
    )


def tabulate_topologies(outcomes: dict[str, Outcome]) -> Table:
    """Return the topology sweep."""
    names = ("interactions", "accepted", "toxicity", "welfare", "net_social_welfare")
    digits = (0, 0, 3, 1, 1)
    rows = [
        (kind, *(_spread(one.values[name], d) for name, d in zip(names, digits, strict=True)))
        for kind, one in outcomes.items()
    ]
    return Table(
        "Topology sweep: misalignment_sweep",
        "mean ± population sd over seeds; edges fixed",
        ("network", "proposals", "accepted", "toxicity", "welfare", "net social"),
        tuple(rows),
    )


def tabulate_modes(pair: Pair) -> Table:
    """Return in which mode the dancers' runs ended."""
    rows = [
        (words, f"{100 * share:.0f}")
        for words, share in zip(
            (
                "no favourite (about 6)",
                "one honest favourite (about 240)",
                "two honest favourites (about 470)",
            ),
            share_modes(pair.favourites),
            strict=True,
        )
    ]
    return Table(
        "Threshold dancer: modes",
        "percent of seeds, by accepted dancer-to-honest proposals of the run",
        ("mode", "percent"),
        tuple(rows),
    )


def tabulate_held(held: Sequence[Held]) -> Table:
    """Return the comparison with the released code's distribution."""
    rows = []
    for one in held:
        digits = 4 if one.metric.startswith("toxicity") else 1
        verdict = ("pass" if one.passes else "FAIL") if one.is_held else "reported"
        rows.append(
            (
                one.scenario,
                one.metric,
                f"{one.reference.mean:.{digits}f} ± {one.reference.sd:.{digits}f}",
                f"{one.own.mean:.{digits}f} ± {one.own.sd:.{digits}f}",
                f"{one.errors:+.2f}",
                verdict,
            )
        )
    return Table(
        "Held against the released runs",
        "mean ± sample sd; distance in standard errors, at most 3.5 passes",
        ("scenario", "metric", "released, 40 seeds", "own", "distance", ""),
        tuple(rows),
    )


def tabulate_presets() -> Table:
    """Return what differs between the presets."""
    return Table(
        "Presets",
        "as_run hits SW's tables, as_written follows SW's text",
        ("", "as_run", "as_written"),
        DIFFERENCES,
    )


def tabulate_sources(preset: str) -> Table:
    """Return every parameter of a preset's archetypes with its source."""
    rows = []
    for name, row in PRESETS[preset].items():
        for channel in CHANNELS:
            one = getattr(row, channel)
            numbers = f"{one.first:g}" + (f", {one.second:g}" if one.kind in (1, 2, 3) else "")
            rows.append((name, channel, one.kind.name.lower(), numbers, one.source))
    return Table(
        f"Archetypes, {preset}",
        "how each observable is drawn, and where that stands",
        ("archetype", "channel", "kind", "numbers", "source"),
        tuple(rows),
    )


def _note(pairs: dict[str, Pair]) -> str:
    """Return how many seeds there were."""
    number = len(next(iter(pairs.values())).levers.seeds)
    return f"{number} seed{'s' if number != 1 else ''}"


def _spread(values: Masked, digits: int, between: str = " ± ") -> str:
    """Return mean and population standard deviation."""
    if values.count() == 0:
        return "null"
    return f"{values.mean():.{digits}f}{between}{values.std():.{digits}f}"


def _share(one: Estimate) -> str:
    """Return a rate in percent."""
    return "null" if one.value is None else f"{100 * one.value:.0f}"


def _show(one: Estimate, digits: int) -> str:
    """Return an estimate with its interval."""
    if one.value is None or one.low is None or one.high is None:
        return "null"
    return f"{one.value:.{digits}f} [{one.low:.{digits}f}, {one.high:.{digits}f}]"


def _percent(one: Estimate) -> str:
    """Return a rate with its interval."""
    if one.value is None or one.low is None or one.high is None:
        return "not evaluated"
    return f"{100 * one.value:.0f} [{100 * one.low:.0f}-{100 * one.high:.0f}]"
