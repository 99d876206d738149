"""The tables of a run: one plain form, shown on a terminal or written as Markdown."""

from collections.abc import Sequence
from typing import NamedTuple

from rich import box
from rich.console import Console
from rich.table import Table as RichTable

from benchmarks.runner import BY_NORM, Run
from benchmarks.statistics import Estimate
from benchmarks.summary import ALL, SECONDARY, Cell, list_families, list_phases, summarize

WIDTH = 100
"""Columns a terminal needs for every table."""
MARK = " *"
"""Behind the name of an agent that has one policy a norm."""
NAME_WIDTH = 12
"""Columns of an agent's name; longer ones are folded."""


class Table(NamedTuple):
    """Text in rows and columns."""

    title: str
    note: str  # what the numbers are
    header: tuple[str, ...]  # may have line breaks
    rows: tuple[tuple[str, ...], ...]


def make_tables(runs: Sequence[Run]) -> list[Table]:
    """Return the tables of some runs: success by family and secondary measures by condition.

    Source: NG Table 1 (joint and task success), Tables A6 and A7 (by family), Figure 4a.
    """
    tables = []
    families = list_families(runs)
    columns = [*families, ALL] if len(families) > 1 else families
    for phase in list_phases(runs):
        cells = {mark_agent(run): {f: summarize(run, phase, f) for f in columns} for run in runs}
        title = f"{phase.capitalize()} layout" + ("s" if phase == "unseen" else "")
        tables += [
            _tabulate_success(f"{title}: joint success", cells, columns, "joint"),
            _tabulate_success(f"{title}: task success", cells, columns, "task"),
            _tabulate_secondary(f"{title}: secondary measures", cells, columns[-1]),
        ]
    return [add_footnote(table, runs) for table in tables]


def mark_agent(run: Run) -> str:
    """Return an agent's name, with a star if the hidden norm chooses its policy."""
    return run.config.agent + (MARK if _has_policies(run) else "")


def add_footnote(table: Table, runs: Sequence[Run]) -> Table:
    """Return a table that explains the star if one of the agents has it."""
    if not any(_has_policies(run) for run in runs):
        return table
    return table._replace(note=f"{table.note};{MARK}: one policy a norm, trained on that norm")


def _has_policies(run: Run) -> bool:
    return run.config.options.get("policies") == BY_NORM


def _tabulate_success(
    title: str, cells: dict[str, dict[str, Cell]], columns: list[str], name: str
) -> Table:
    """Return one primary metric by agent and family."""
    method = {
        "joint": "percent [95 % Wilson interval]",
        "task": "percent [95 % interval, norms resampled]",
    }[name]
    first = next(iter(cells.values()))
    header = [f"{column}\n({first[column].num + first[column].num_errors})" for column in columns]
    rows = [
        (
            agent,
            *(_show(getattr(by_family[column], name)) for column in columns),
        )
        for agent, by_family in cells.items()
    ]
    return Table(
        title,
        f"{method}; in brackets behind a family: its episodes",
        ("agent", *header),
        tuple(rows),
    )


def _tabulate_secondary(title: str, cells: dict[str, dict[str, Cell]], column: str) -> Table:
    """Return the secondary measures by agent."""
    rows = []
    for agent, by_family in cells.items():
        cell = by_family[column]
        shown = [_show_value(cell.secondary[name].value) for name in SECONDARY]
        rows.append((agent, str(cell.num), str(cell.num_errors), *shown))
    units = [
        "\n".join([*measure.label.split(), f"({measure.unit})"]) for measure in SECONDARY.values()
    ]
    return Table(
        title,
        "means over n episodes, failed ones left out; an unfinished one counts its limit as path",
        ("agent", "n", "failed", *units),
        tuple(rows),
    )


def print_tables(tables: Sequence[Table], console: Console) -> None:
    """Show tables on a terminal."""
    # a narrow terminal breaks lines; cutting them off would lose numbers
    console.width = max(console.width, WIDTH)
    for table in tables:
        shown = RichTable(
            title=table.title, caption=table.note, box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0)
        )
        longest = max(len(row[0]) for row in table.rows)
        shown.add_column(table.header[0], overflow="fold", min_width=min(longest, NAME_WIDTH))
        for name in table.header[1:]:
            shown.add_column(name, justify="right", no_wrap=True)
        for row in table.rows:
            shown.add_row(*row)
        console.print(shown, crop=False, markup=False)


def to_markdown(table: Table) -> str:
    """Return a table as Markdown, its note below."""
    align = [":--", *["--:"] * (len(table.header) - 1)]
    lines = [table.header, tuple(align), *table.rows]
    body = "\n".join("| " + " | ".join(_escape(cell) for cell in line) + " |" for line in lines)
    return f"### {table.title}\n\n{body}\n\n{table.note[0].upper()}{table.note[1:]}.\n"


def _escape(text: str) -> str:
    """Return text that no Markdown reader takes for anything else."""
    return text.replace("\n", " ").replace("|", "\\|").replace("_", "\\_")


def _show(estimate: Estimate) -> str:
    """Return a percentage with its interval."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return "-"
    return f"{estimate.value:.1f} [{estimate.low:.0f}-{estimate.high:.0f}]"


def _show_value(value: float | None) -> str:
    """Return a number with one decimal."""
    return "-" if value is None else f"{value:.1f}"
