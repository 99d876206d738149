"""`normgym replay`: a trace in a window, as a film, or as a page."""

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from benchmarks.replay import open_trace
from normgym_envs.files import check_writable, replace_file
from normgym_envs.protocol.tracefile import Recording
from normgym_envs.rendering.film import check_rate, write_gif, write_mp4
from normgym_envs.rendering.rasterise import Image
from normgym_envs.rendering.renderer import DEFAULT_WIDTH, STYLES, Renderer, make_renderer

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@app.command()
def replay(
    file: Annotated[Path, typer.Argument(help="A trace (.jsonl).")],
    gif: Annotated[Path | None, typer.Option(help="Write a GIF to this file.")] = None,
    mp4: Annotated[Path | None, typer.Option(help="Write a film to this file.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write a page to this file.")] = None,
    score: Annotated[bool, typer.Option(help="Print the score, computed from the trace.")] = False,
    style: Annotated[str, typer.Option(help=f"View: {', '.join(STYLES)}.")] = "flat",
    width: Annotated[int, typer.Option(help="Pixels, a multiple of 15.")] = DEFAULT_WIDTH,
    fps: Annotated[int, typer.Option(help="Turns a second.")] = 6,
    numbers: Annotated[bool, typer.Option(help="Row and column numbers.")] = False,
    any_version: Annotated[
        bool, typer.Option(help="Show traces of other versions of a suite too.")
    ] = False,
) -> None:
    """Show a trace: in a window, or in the files that are asked for."""
    for path, option in ((gif, "--gif"), (mp4, "--mp4"), (html, "--html")):
        if path is not None:
            check_writable(path, option)
    check_rate(fps)
    renderer = make_renderer(style, width, numbers=numbers)
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: typer.echo(f"warning: {message}", err=True)
        recording = open_trace(file, any_version=any_version)
    if gif is not None:
        write_gif(gif, _draw(recording, renderer), fps)
    if mp4 is not None:
        write_mp4(mp4, _draw(recording, renderer), fps)
    if html is not None:
        from benchmarks.replay_page import make_page

        replace_file(html, make_page(recording).encode())
    for path in (gif, mp4, html):
        if path is not None:
            typer.echo(f"{path}: {path.stat().st_size / 1024:,.0f} KB")
    if score:
        for name, value in recording.measure()._asdict().items():
            typer.echo(f"{name:<24}{value}")
    if not score and gif is None and mp4 is None and html is None:
        _show(recording, renderer, fps)


def _draw(recording: Recording, renderer: Renderer) -> Iterator[Image]:
    """Yield the frames of a trace."""
    for state in recording.states:
        yield renderer.draw(state, recording.layout, goal=True)


def _show(recording: Recording, renderer: Renderer, rate: int) -> None:
    """Play a trace in a window: space pauses, arrows step, escape closes."""
    from normgym_envs.rendering.window import Window

    window = Window(f"NormGym replay: {recording.spec.name}", 0)
    turn, is_running, last = 0, True, len(recording.states) - 1
    try:
        while True:
            window.show(renderer.draw(recording.states[turn], recording.layout, goal=True))
            key = window.wait_for_key(1000 // rate if is_running and turn < last else None)
            if key in ("escape", "q", "closed"):
                return
            if key in ("right", "left"):
                is_running = False
                turn = min(max(turn + (1 if key == "right" else -1), 0), last)
            elif key == "space":
                is_running = not is_running
                turn = 0 if turn == last else turn
            elif key is None and is_running:
                turn = min(turn + 1, last)
    finally:
        window.close()
