"""`normgym train trials`: train the recurrent learner, or measure a frozen one."""

import json
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich import box
from rich.console import Console
from rich.table import Table

from normgym_envs.constants import INTERACTION_STEPS
from normgym_envs.errors import ConfigError, MissingExtraError, UnknownNameError
from normgym_envs.norms.library import load_norms
from normgym_envs.protocol.generator import list_possible_norms
from normgym_envs.types import Norm
from training.progress import draw_bar

if TYPE_CHECKING:
    from training.recurrent_ppo import TrialSettings

PARTS = ("held-out", "train", "library")
WIDTH = 118


def train_on_trials(
    out: Annotated[Path | None, typer.Option(help="Folder of the run.")] = None,
    steps: Annotated[int | None, typer.Option(help="Turns of all trials together.")] = None,
    seed: Annotated[int, typer.Option(help="Of weights, trials and actions, 0 to 200.")] = 0,
    num_envs: Annotated[int | None, typer.Option(help="Trials side by side.")] = None,
    kind: Annotated[
        list[str] | None, typer.Option(help="Only norms of this kind; may be repeated.")
    ] = None,
    evaluate: Annotated[
        Path | None, typer.Option(help="Measure this checkpoint, or that of this run's folder.")
    ] = None,
    norms: Annotated[
        str, typer.Option(help=f"Norms to measure it on: {', '.join(PARTS)}.")
    ] = "held-out",
    trials: Annotated[int, typer.Option(help="Trials of each norm that is measured.")] = 64,
    greedy: Annotated[
        bool, typer.Option("--greedy", help="Take the likeliest action when measuring.")
    ] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="Write the measured numbers to this file.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw them to this picture.")] = None,
) -> None:
    """Train a recurrent PPO on trials with a hidden norm, or measure one with frozen weights.

    The same command goes on after an interruption.
    """
    if (out is None) == (evaluate is None):
        raise ConfigError("give either --out, to train, or --evaluate, to measure a checkpoint")
    if find_spec("torch") is None:
        raise MissingExtraError("training needs torch; install it with: pip install 'normgym[rl]'")
    if evaluate is not None:
        results = _evaluate(evaluate, norms, trials, greedy, json_file)
        if plot is not None:
            from training.trial_plots import plot_trials

            folder = evaluate if evaluate.is_dir() else evaluate.parent
            plot_trials(results, INTERACTION_STEPS, folder / "log.jsonl", plot)
        return
    assert out is not None
    from training.recurrent_ppo import TrialSettings
    from training.trial_run import train_trials

    given: dict[str, Any] = {"seed": seed, "steps": steps, "num_envs": num_envs}
    if kind:
        given["kinds"] = tuple(dict.fromkeys(kind))
        possible = sum(len(list_possible_norms(name)) for name in given["kinds"])
        given["num_tasks"] = min(possible, TrialSettings.num_tasks)
    settings = TrialSettings(**{key: value for key, value in given.items() if value is not None})
    with draw_bar("trials", settings.steps) as report:
        learner = train_trials(settings, out, report)
    typer.echo(
        f"{learner.steps:,} turns done; measure it with: normgym train trials --evaluate {out}"
    )


def _evaluate(
    path: Path, part: str, trials: int, greedy: bool, json_file: Path | None
) -> dict[str, Any]:
    """Measure a checkpoint and the yardsticks, print a table, and return all results."""
    from training.recurrent_ppo import count_updates, split_tasks
    from training.trial_evaluation import PLAYERS, count_trials, summarise
    from training.trial_run import check_tasks, load_checkpoint, load_model, restore_settings

    if part not in PARTS:
        raise UnknownNameError("--norms", part, PARTS)
    state = load_checkpoint(path)
    settings, model = restore_settings(state), load_model(state)
    check_tasks(state, split_tasks(settings))
    chosen = list_norms_of(part, settings)
    told = _describe(part, len(chosen), trials, settings.turns)
    batch = settings.num_envs * settings.turns
    done, wanted = state["updates"] * batch, count_updates(settings) * batch
    if done < wanted:
        told += f"; the run has not finished: checkpoint at turn {done:,} of {wanted:,}"
    results: dict[str, Any] = {}
    table = Table(box=box.SIMPLE, caption=told)
    table.add_column("player")
    table.add_column("violations per 100 own turns\nby quarter", justify="right")
    table.add_column("last / first\n95% interval", justify="right")
    table.add_column("per door or zone\nmove", justify="right")
    table.add_column("goals per 100\nfirst, last", justify="right")
    table.add_column("WAIT %\nfirst, last", justify="right")
    for player in PLAYERS:
        counts = count_trials(
            player,
            chosen,
            model=model,
            greedy=greedy and player in ("learner", "forgetful"),
            trials=trials,
            turns=settings.turns,
            layout=settings.layout,
        )
        result = results[player] = summarise(counts)
        result["by_norm"] = {
            norm.id: own.tolist() for norm, own in zip(chosen, counts, strict=True)
        }
        table.add_row(player, *_list_cells(result))
    Console(width=WIDTH).print(table)
    if json_file is not None:
        from agents.dqn.runs import list_versions

        header = {
            "checkpoint_updates": state["updates"],
            "checkpoint_turns": done,
            "run_turns": wanted,
            "settings": state["settings"],
            "norms": part,
            "trials": trials,
            "greedy": greedy,
            "versions": list_versions(),
        }
        try:
            json_file.write_text(json.dumps({**header, "players": results}, indent=1) + "\n")
        except OSError as error:
            raise ConfigError(f"--json: {json_file} cannot be written: {error.strerror}") from None
    return results


def list_norms_of(part: str, settings: "TrialSettings") -> tuple[Norm, ...]:
    """Return the norms of a part: drawn ones, or the library's own of the same kinds."""
    from training.recurrent_ppo import split_tasks

    if part == "library":
        return tuple(norm for norm in load_norms() if norm.kind in settings.kinds)
    tasks = split_tasks(settings)
    return tasks.train if part == "train" else tasks.held_out


def _list_cells(result: dict[str, Any]) -> list[str]:
    """Return one row of the table."""
    ratio = result["late_over_early"]["turns"]
    moves = result["violations_per_marked_move"]
    goals, waits = result["goals_per_100_turns"], result["wait_share"]
    told = "-"
    if ratio["value"] is not None:
        told = f"{ratio['value']:.2f} ({ratio['low']:.2f} to {ratio['high']:.2f})"
    return [
        " ".join(f"{rate:5.2f}" for rate in result["violations_per_100_turns"]),
        told,
        f"{100 * moves[0]:.1f}%, {100 * moves[-1]:.1f}%",
        f"{goals[0]:.1f}, {goals[-1]:.1f}",
        f"{100 * waits[0]:.0f}, {100 * waits[-1]:.0f}",
    ]


def _describe(part: str, number: int, trials: int, turns: int) -> str:
    return f"{number} {part} norms, {trials} trials of {turns} turns each, frozen weights"
