"""One Markdown page on a run: how it was made, its tables, its figure, what went wrong."""

import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Final

from benchmarks.plots import draw_joint
from benchmarks.records import EpisodeRecord
from benchmarks.runner import Run
from benchmarks.statistics import BOOTSTRAP_SEED, DRAWS, Estimate, estimate_difference
from benchmarks.summary import list_phases
from benchmarks.tables import Table, add_footnote, make_tables, mark_agent, to_markdown
from normgym_envs.errors import ConfigError
from normgym_envs.files import replace_file

PACKAGES: Final = ("numpy", "numba", "scipy", "statsmodels")
"""Packages whose versions a report names, besides Python."""
FIGURE: Final = "joint.png"
SHOWN_ERRORS: Final = 10


def write_report(folder: Path, runs: Sequence[Run], command: str) -> Path:
    """Write `report.md` and its figure into a folder and return the page's path.

    Args:
        folder: must exist; records lie in its folder `records`.
        runs: one an agent.
        command: what was typed to get here.

    Raises:
        ConfigError: the runs are of different suites or versions.
    """
    check_comparable(runs)
    replace_file(folder / FIGURE, draw_joint(runs))
    path = folder / "report.md"
    replace_file(path, make_report(runs, command).encode())
    return path


def check_comparable(runs: Sequence[Run]) -> None:
    """Refuse to put into one table what was not measured on the same episodes.

    Raises:
        ConfigError: naming the field that differs.
    """
    for name in ("suite_hash", "package_version", "world"):
        values = {getattr(run.config, name) for run in runs}
        if len(values) > 1:
            raise ConfigError(f"runs with different {name}: {', '.join(sorted(values))}")


def make_report(runs: Sequence[Run], command: str) -> str:
    """Return the page as Markdown."""
    config = runs[0].config
    seeds = sorted({run.config.seed for run in runs})
    facts = {
        "command": f"`{command}`",
        "suite": f"{config.suite}, version {config.suite_version}",
        "suite hash": f"`{config.suite_hash}`",
        "package": f"normgym {config.package_version}, world `{config.world}`",
        "seeds": ", ".join(map(str, seeds)) + " (of the agents' own random streams)",
        "versions": ", ".join(_list_versions()),
        "machine": f"{platform.system()} {platform.machine()}",
    }
    parts = [
        f"# Results on suite {config.suite}\n",
        "\n".join(f"- {name}: {value}" for name, value in facts.items()) + "\n",
        f"![Joint success by family]({FIGURE})\n",
        *[to_markdown(table) for table in make_tables(runs)],
        *[to_markdown(table) for table in _compare(runs)],
        _tell_methods(),
        _tell_options(runs),
        _tell_errors(runs),
    ]
    return "\n".join(part for part in parts if part)


def _compare(runs: Sequence[Run]) -> list[Table]:
    """Return how each agent differs from the first, episode by episode."""
    if len(runs) < 2:
        return []
    tables = []
    for phase in list_phases(runs):
        first = {r.episode: r for r in runs[0].episodes(phase)}
        clusters = {name: record.norms for name, record in first.items()}
        reference = {name: record.joint or 0.0 for name, record in first.items()}
        rows = []
        for run in runs[1:]:
            other = {r.episode: r.joint or 0.0 for r in run.episodes(phase)}
            difference = estimate_difference(other, reference, dict(clusters))
            rows.append((mark_agent(run), _show_points(difference)))
        name = mark_agent(runs[0])
        table = Table(
            f"{phase.capitalize()}: joint success against {name}",
            "difference in points over the episodes that both have finished "
            "[95 % interval, norms resampled]",
            ("agent", f"minus {name}"),
            tuple(rows),
        )
        tables.append(add_footnote(table, runs))
    return tables


def _show_points(estimate: Estimate) -> str:
    """Return a difference of shares in points."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return "-"
    return f"{100 * estimate.value:+.1f} [{100 * estimate.low:+.0f}, {100 * estimate.high:+.0f}]"


def _tell_methods() -> str:
    """Return how the numbers were made."""
    return (
        "## How to read this\n\n"
        "Joint success: both goals complete and no norm broken. Task success: share of the two "
        "goals completed. Wilson intervals take the episodes of a norm as independent, which "
        "makes them too narrow where they are not; intervals with norms resampled come from "
        f"{DRAWS:,} resamples of whole norms (seed {BOOTSTRAP_SEED}), or, where every episode has "
        "the lowest or the highest value, from Wilson's formula with one trial a norm. "
        "Path: turns from the newcomer's arrival to its departure. Collision: share of episodes in "
        "which the newcomer was charged with one; involved: also as a victim.\n"
    )


def _tell_options(runs: Sequence[Run]) -> str:
    """Return under which options the agents were run."""
    lines = []
    for run in runs:
        named = ", ".join(f"{name} = {value}" for name, value in run.config.options.items())
        lines.append(f"- {run.config.agent}: {named}")
    return "## Options\n\n" + "\n".join(lines) + "\n"


def _tell_errors(runs: Sequence[Run]) -> str:
    """Return what could not be finished."""
    lines = []
    for run in runs:
        finished = sum(isinstance(record, EpisodeRecord) for record in run.records)
        lines.append(
            f"- {run.config.agent}: {finished} episodes finished (interactions included), "
            f"{len(run.errors)} failed"
        )
        lines += [f"  - {e.episode}, turn {e.turn}: {e.error}" for e in run.errors[:SHOWN_ERRORS]]
        if len(run.errors) > SHOWN_ERRORS:
            lines.append(f"  - and {len(run.errors) - SHOWN_ERRORS} more")
    return (
        "## Errors\n\nFailed episodes are counted in no number above; the same command plays them "
        "again.\n\n" + "\n".join(lines) + "\n"
    )


def _list_versions() -> list[str]:
    """Return the versions that can matter, Python first."""
    found = [f"Python {platform.python_version()}"]
    for name in PACKAGES:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return found
