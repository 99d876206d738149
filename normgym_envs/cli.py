"""The `normgym` command.

`norms`, `layouts` and `show` are here; every other subcommand is a line of `SUBCOMMANDS` and is
imported when it is called, so that a missing package only turns its own subcommand into a message.
"""

import sys
from importlib import import_module
from typing import Annotated, Final

import typer

from normgym_envs import __version__, cli_show
from normgym_envs.constants import FAMILIES
from normgym_envs.errors import MissingExtraError, NormGymError
from normgym_envs.layouts import get_layout, list_layouts
from normgym_envs.norms.library import SPLITS, get_norm, list_norms

SUBCOMMANDS: Final[dict[str, tuple[str, str]]] = {
    "bench": ("benchmarks.cli:app", "Run agents on a suite and report the results."),
    "play": ("benchmarks.play_cli:app", "Play with the keyboard, freely or the protocol."),
    "humans": ("benchmarks.play_cli:humans_app", "Report what people reached."),
    "replay": ("benchmarks.replay_cli:app", "Show a trace: window, film or page."),
    "gallery": ("benchmarks.gallery_cli:app", "Draw the pictures of README and docs."),
    "train": ("training.cli:app", "Train the learning baselines."),
    "agents": ("benchmarks.cli:agents_app", "List the built-in agents."),
    "suites": ("benchmarks.suites_cli:app", "List the suites that ship, or build them again."),
}
"""Name -> where its Typer application is, and its line in the help."""

app = typer.Typer(
    help="Grid worlds whose communities follow hidden norms.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


def main() -> None:
    """Run the command; an error of the project is one line on stderr and exit status 2."""
    try:
        app(prog_name="normgym")
    except NormGymError as error:
        print(f"normgym: {error}", file=sys.stderr)
        sys.exit(2)


def _show_version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        typer.echo(f"normgym {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show version.")
    ] = False,
) -> None:
    """Take the options that stand before the subcommand."""


@app.command("norms")
def print_norms(
    family: Annotated[
        str | None, typer.Option(help=f"Only one family: {', '.join(FAMILIES)}.")
    ] = None,
    split: Annotated[str | None, typer.Option(help=f"Only one part: {', '.join(SPLITS)}.")] = None,
    kind: Annotated[str | None, typer.Option(help="Only one kind, e.g. queue_path.")] = None,
    sentences: Annotated[bool, typer.Option(help="Print each norm as a sentence.")] = False,
) -> None:
    """List the norm library."""
    norms = [get_norm(norm_id) for norm_id in list_norms(family, split)]
    cli_show.print_norms(norms, kind, sentences)


@app.command("layouts")
def print_layouts(
    name: Annotated[str | None, typer.Argument(help="Draw this one; without it, list all.")] = None,
    check: Annotated[bool, typer.Option(help="Hold maps against every condition.")] = False,
) -> None:
    """List the places, or draw one of them."""
    if name is None:
        cli_show.print_layouts([get_layout(place) for place in list_layouts()])
    else:
        cli_show.print_layout(get_layout(name))
    if check:
        cli_show.check_layouts(
            [get_layout(place) for place in ([name] if name else list_layouts())]
        )


@app.command("show")
def print_norm(
    norm: Annotated[str, typer.Argument(help="Id of the norm, e.g. zigzag-left-2.")],
    layout: Annotated[str, typer.Option(help="Place to draw it on.")] = "cafe",
) -> None:
    """Explain one norm and draw it on a place."""
    cli_show.print_norm(get_norm(norm), get_layout(layout))


def _add_subcommand(name: str, target: str, help_text: str) -> None:
    """Register a subcommand that loads its application when it is called."""

    @app.command(
        name,
        help=help_text,
        context_settings={
            "allow_extra_args": True,
            "ignore_unknown_options": True,
            "help_option_names": [],  # --help belongs to the application behind it
        },
    )
    def run(context: typer.Context) -> None:
        module_name, _, attribute = target.partition(":")
        try:
            application = getattr(import_module(module_name), attribute)
        except ModuleNotFoundError as error:
            raise MissingExtraError(
                f"`normgym {name}` needs the package {error.name!r}, which is not installed"
            ) from None
        application(args=context.args, prog_name=f"normgym {name}")


for _name, (_target, _help) in SUBCOMMANDS.items():
    _add_subcommand(_name, _target, _help)


if __name__ == "__main__":
    main()
