"""`normgym bench market`: play the soft-label market and print SW's tables beside own numbers."""

import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from benchmarks import market, market_tables
from benchmarks.files import dump_json
from benchmarks.market_reference import ABLATIONS, SEEDS
from benchmarks.tables import WIDTH, Table, print_tables, to_markdown
from normgym_envs.errors import ConfigError
from normgym_envs.files import check_writable, make_folder, replace_file
from normgym_envs.market import load_scenario, play
from normgym_envs.market.archetypes import PRESETS, find_preset
from normgym_envs.market.event_log import name_run, write_log
from normgym_envs.market.scenario import SCENARIOS

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def run_market(
    scenario: Annotated[
        list[str] | None,
        typer.Option(help="Name or .toml file; may be repeated. Default: SW's seven."),
    ] = None,
    ablation: Annotated[
        list[str] | None,
        typer.Option(help=f"{', '.join(ABLATIONS)}, all or none; may be repeated."),
    ] = None,
    seeds: Annotated[str, typer.Option(help="E.g. 42,123 or 1-40. Default: SW's five.")] = ",".join(
        str(seed) for seed in SEEDS
    ),
    preset: Annotated[str, typer.Option(help=f"{' or '.join(PRESETS)}.")] = "as_run",
    check: Annotated[
        bool, typer.Option("--check", help="Hold the scenarios against the released runs.")
    ] = False,
    json: Annotated[Path | None, typer.Option(help="Write the numbers to this file.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Write report.md, figures and one event log a scenario here."),
    ] = None,
) -> None:
    """Play scenarios over seeds with their no-lever control, and SW's ablations."""
    find_preset(preset)
    numbers = market.parse_seeds(seeds)
    scenarios = [load_scenario(name) for name in scenario or SCENARIOS]
    _check_names([one.name for one in scenarios])
    names = _choose_ablations(ablation, everything=not scenario)
    if check and preset != "as_run":
        raise ConfigError("--check compares with the released runs; it needs --preset as_run")
    if json is not None:
        check_writable(json, "--json")
    if out is not None:
        make_folder(out, "--out")
    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDTH + 20)
    pairs = {one.name: market.run_pair(one, numbers, preset) for one in scenarios}
    ablations = {name: market.run_ablation(name, numbers, preset) for name in names}
    held = market.hold(pairs) if check else []
    tables = _make_tables(pairs, ablations, held, preset, everything=not scenario and bool(names))
    print_tables(tables, console)
    if json is not None:
        content = _to_plain(pairs, ablations, held, preset)
        replace_file(json, (dump_json(content) + "\n").encode())
    if out is not None:
        command = shlex.join(["normgym", "bench", "market", *_list_arguments()])
        _write_report(out, tables, pairs, ablations, preset, command)
        console.print(f"report: {out / 'report.md'}", markup=False, soft_wrap=True)
    failed = [one for one in held if one.is_held and not one.passes]
    if failed:
        typer.echo(f"{len(failed)} of {len(held)} rows are off the released runs", err=True)
        raise typer.Exit(1)


def _make_tables(
    pairs: dict[str, market.Pair],
    ablations: dict[str, list[market.Outcome]],
    held: Sequence[market.Held],
    preset: str,
    *,
    everything: bool,
) -> list[Table]:
    """Return all tables, SW's first and in SW's order."""
    scenarios = [pair.levers.scenario for pair in pairs.values()]
    numbers = next(iter(pairs.values())).levers.seeds
    tables = [
        market_tables.tabulate_configurations(scenarios, preset),
        market_tables.tabulate_payoffs(scenarios),
        market_tables.tabulate_main(pairs),
    ]
    tables += [market_tables.tabulate_ablation(name, rows) for name, rows in ablations.items()]
    if everything:
        strict = load_scenario("strict_governance")
        sweep = load_scenario("misalignment_sweep")
        tables += [
            market_tables.tabulate_companions(),
            market_tables.tabulate_rules(scenarios),
            market_tables.tabulate_labels(
                market.measure_labels(preset, numbers), market.run_weights(strict, numbers, preset)
            ),
            market_tables.tabulate_topologies(market.run_topologies(sweep, numbers, preset)),
        ]
    tables += market_tables.tabulate_control(pairs)
    tables += [
        market_tables.tabulate_comparisons(market.compare_pairs(pairs)),
        market_tables.tabulate_metrics(pairs),
        market_tables.tabulate_criteria(pairs),
    ]
    if "threshold_dancer" in pairs:
        tables.append(market_tables.tabulate_modes(pairs["threshold_dancer"]))
    if preset != "as_run":
        tables += [market_tables.tabulate_presets(), market_tables.tabulate_sources(preset)]
    if held:
        tables.append(market_tables.tabulate_held(held))
    return tables


def _to_plain(
    pairs: dict[str, market.Pair],
    ablations: dict[str, list[market.Outcome]],
    held: Sequence[market.Held],
    preset: str,
) -> dict[str, Any]:
    """Return the numbers as plain values."""
    content: dict[str, Any] = {
        "preset": preset,
        "seeds": list(next(iter(pairs.values())).levers.seeds),
        "scenarios": {name: market.summarise(pair.levers) for name, pair in pairs.items()},
        "control": {name: market.summarise(pair.control) for name, pair in pairs.items()},
        "ablations": {
            name: [
                {"value": setting.value, **market.summarise(outcome)}
                for setting, outcome in zip(ABLATIONS[name].settings, outcomes, strict=True)
            ]
            for name, outcomes in ablations.items()
        },
        "tests": [
            {**one._asdict(), "difference": one.difference._asdict()}
            for one in market.compare_pairs(pairs)
        ],
    }
    if "threshold_dancer" in pairs:
        content["dancer_modes"] = market.share_modes(pairs["threshold_dancer"].favourites)
    if held:
        content["held"] = [
            {
                "scenario": one.scenario,
                "metric": one.metric,
                "own": one.own._asdict(),
                "reference": one.reference._asdict(),
                "distance": one.errors,
                "passes": one.passes if one.is_held else None,
            }
            for one in held
        ]
    return content


def _write_report(
    out: Path,
    tables: Sequence[Table],
    pairs: dict[str, market.Pair],
    ablations: dict[str, list[market.Outcome]],
    preset: str,
    command: str,
) -> None:
    """Write figures, one event log a scenario, and the report that shows them."""
    from benchmarks.market_plots import draw_figures

    logs = out / "logs"
    logs.mkdir(exist_ok=True)
    for pair in pairs.values():
        runs = play(pair.levers.scenario, pair.levers.seeds[:1], preset=preset)
        write_log(runs, 0, logs / f"{name_run(runs, 0)}.jsonl")
    lines = ["# The soft-label market", "", f"    {command}", ""]
    for name, content in draw_figures(pairs, ablations).items():
        replace_file(out / name, content)
        lines += [f"![{name.removesuffix('.png').replace('_', ' ')}]({name})", ""]
    lines += [to_markdown(table) for table in tables]
    replace_file(out / "report.md", ("\n".join(lines) + "\n").encode())


def _choose_ablations(given: Sequence[str] | None, *, everything: bool) -> list[str]:
    """Return the ablations to run: those named, or all when nothing is named at all."""
    if not given:
        return list(ABLATIONS) if everything else []
    names: list[str] = []
    for name in given:
        if name == "all":
            names += ABLATIONS
        elif name != "none":
            market.find_ablation(name)
            names.append(name)
    return list(dict.fromkeys(names))


def _check_names(names: Sequence[str]) -> None:
    """Refuse two scenarios of one name."""
    for name in names:
        if names.count(name) > 1:
            raise ConfigError(f"--scenario: {name!r} is there {names.count(name)} times")


def _list_arguments() -> list[str]:
    """Return what was typed behind `bench market`."""
    typed = sys.argv[1:]
    return typed[typed.index("market") + 1 :] if "market" in typed else typed
