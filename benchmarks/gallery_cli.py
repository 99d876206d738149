"""`normgym gallery`: the pictures of README and docs, and how fast pictures are drawn."""

from pathlib import Path
from typing import Annotated

import typer

from benchmarks.gallery import measure_renderers, write_gallery

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def gallery(
    folder: Annotated[Path, typer.Argument(help="Where to write the pictures.")] = Path(
        "results/gallery"
    ),
    width: Annotated[int, typer.Option(help="Pixels of one picture, a multiple of 15.")] = 480,
    measure: Annotated[
        bool, typer.Option("--measure", help="Only measure how fast frames are drawn.")
    ] = False,
) -> None:
    """Draw all places, a kept and a broken norm of each family, and a market run."""
    if measure:
        for name, rate in measure_renderers().items():
            typer.echo(f"{name:<34}{rate:>9,.0f} frames/s")
        return
    for path in write_gallery(folder, width):
        typer.echo(f"{path}: {path.stat().st_size / 1024:,.0f} KB")
