"""`normgym play`: a person plays freely or through the protocol; `normgym humans`: the results."""

from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from rich.console import Console

from benchmarks.human import best_per_norm, draw_norm, load_people, play_protocol
from benchmarks.suite import load_suite
from benchmarks.tables import make_tables, print_tables
from normgym_envs.errors import ConfigError, check_seed
from normgym_envs.layouts import get_layout
from normgym_envs.norms.library import get_norm, list_norms
from normgym_envs.play import Quit, make_face, play_freely
from normgym_envs.protocol.episodes import draw_episode
from normgym_envs.rendering.renderer import STYLES

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
humans_app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def play(
    norm: Annotated[
        str | None, typer.Option(help="Id of the norm; by default one is drawn and not told.")
    ] = None,
    layout: Annotated[str, typer.Option(help="Place of free play.")] = "cafe",
    protocol: Annotated[
        bool, typer.Option("--protocol", help="Interaction, questions, tests; keeps records.")
    ] = False,
    terminal: Annotated[
        bool, typer.Option("--terminal", help="Play in the terminal instead of a window.")
    ] = False,
    suite: Annotated[str, typer.Option(help="Suite of the protocol.")] = "human",
    name: Annotated[str, typer.Option(help="Name or number of the person, for records.")] = "1",
    out: Annotated[Path, typer.Option(help="Folder of the protocol's records and traces.")] = Path(
        "results/human"
    ),
    steps: Annotated[int, typer.Option(help="Turns of free play.")] = 200,
    seed: Annotated[int, typer.Option(help="Of what is drawn.")] = 0,
    trace: Annotated[
        Path | None, typer.Option(help="Write a trace of free play to this file.")
    ] = None,
    style: Annotated[str, typer.Option(help=f"View: {', '.join(STYLES)}.")] = "flat",
    width: Annotated[int, typer.Option(help="Pixels of the picture, a multiple of 15.")] = 900,
) -> None:
    """Play with the keyboard: arrows or w a s d to move, space to wait, q to leave."""
    check_seed(seed)
    if protocol:
        if not name.isidentifier() and not name.isalnum():
            raise ConfigError(f"--name is {name!r}; expected letters, digits and underscores")
        loaded = load_suite(suite)
        chosen = norm or draw_norm(loaded, seed)
        face = make_face(terminal, style, width)
        try:
            run = play_protocol(face, loaded, chosen, person=name, seed=seed, folder=out)
        except Quit:
            typer.echo(f"Left. What is complete is in {out}; the same command goes on.")
            raise typer.Exit(1) from None
        finally:
            face.close()
        print_tables(make_tables([run]), Console())
        typer.echo(f"The rule was: {get_norm(chosen).sentence}")
        typer.echo(f"records and traces: {out}")
        return
    place = get_layout(layout)
    drawn = list_norms()[int(np.random.default_rng(seed).integers(len(list_norms())))]
    rule = get_norm(norm or drawn)
    spec = draw_episode(place, rule, seed, num_norm_blind=1, limit=steps)
    face = make_face(terminal, style, width)
    try:
        score = play_freely(face, spec, place, trace)
    finally:
        face.close()
    typer.echo(", ".join(f"{key} {value}" for key, value in score.items()))
    typer.echo(f"The rule was: {rule.sentence}")


@humans_app.command()
def report_people(
    folder: Annotated[Path, typer.Argument(help="Folder that `normgym play --protocol` wrote to.")],
    suite: Annotated[str, typer.Option(help="Suite that was played.")] = "human",
) -> None:
    """Print what people reached, and the row that takes each norm's best person."""
    runs = load_people(folder / "records", load_suite(suite))
    print_tables(make_tables([*runs, best_per_norm(runs)]), Console())
