"""What is written of a run with language models: the tables of every run, and its cost."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.files import dump_json
from benchmarks.llm.ledger import Ledger
from benchmarks.report import write_report
from benchmarks.runner import Run
from benchmarks.summary import to_json
from benchmarks.tables import Table, to_markdown
from normgym_envs.files import replace_file

Ledgers = Mapping[str, Ledger]
"""What each run of a command has cost, by its label."""


def tabulate_costs(ledgers: Ledgers) -> Table:
    """Return a table with a row for every number of a ledger and a column for every run."""
    names = [name for name, _ in next(iter(ledgers.values())).rows()]
    columns = {label: dict(ledger.rows()) for label, ledger in ledgers.items()}
    return Table(
        "Calls, tokens, cost",
        "failed answers are played as waiting and counted by reason; tokens as the servers report "
        "them; earlier attempts at the same run are included",
        ("", *columns),
        tuple((name, *(column[name] for column in columns.values())) for name in names),
    )


def write_page(folder: Path, runs: Sequence[Run], ledgers: Ledgers, command: str) -> Path:
    """Write `report.md` with the tables of every run, the costs and where the logs are.

    Args:
        folder: of the run.
        runs: one a model.
        ledgers: what they have cost.
        command: what was typed to get here.
    """
    path = write_report(folder, runs, command)
    logs = (
        "## Logs\n\n"
        "- `records/`: one line an episode, as `normgym bench run` writes them\n"
        "- `decisions/`: every reply, one file an episode under its opaque token\n"
        "- `logs/`: inspect's own logs of hosted models; `inspect view --log-dir "
        "logs` shows them\n"
    )
    page = path.read_text(encoding="utf-8")
    page += "\n" + to_markdown(tabulate_costs(ledgers)) + "\n" + logs
    replace_file(path, page.encode())
    return path


def write_numbers(path: Path, runs: Sequence[Run], ledgers: Ledgers) -> None:
    """Write the numbers of some runs as JSON.

    Args:
        path: file to write.
        runs: one a model.
        ledgers: what they have cost.
    """
    rows = [{**to_json(run), "costs": ledgers[run.config.agent].to_json()} for run in runs]
    replace_file(path, (dump_json(rows) + "\n").encode())
