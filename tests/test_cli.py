"""The `normgym` command: what it prints, and that errors are one line."""

import sys
from types import ModuleType

import pytest
import typer

from normgym_envs import __version__, cli
from normgym_envs.cli_show import mark_norm
from normgym_envs.layouts import get_layout, list_layouts
from normgym_envs.norms.library import list_norms, load_norms


def call(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> tuple[int, str, str]:
    """Run the command in this process; return exit status, output and error output."""
    monkeypatch.setattr(sys, "argv", ["normgym", *arguments])
    monkeypatch.setenv("COLUMNS", "88")
    with pytest.raises(SystemExit) as stop:
        cli.main()
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


@pytest.fixture
def normgym(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Return a function that runs the command."""
    return lambda *arguments: call(list(arguments), monkeypatch, capsys)


def test_help_lists_every_subcommand(normgym) -> None:
    status, out, _ = normgym("--help")
    assert status == 0
    for name in ("norms", "layouts", "show", *cli.SUBCOMMANDS):
        assert name in out


def test_version(normgym) -> None:
    assert normgym("--version")[1] == f"normgym {__version__}\n"


def test_norms_are_listed_and_filtered(normgym) -> None:
    status, out, _ = normgym("norms")
    assert status == 0
    assert all(norm_id in out for norm_id in list_norms())
    _, out, _ = normgym("norms", "--family", "allocation", "--split", "held-out")
    assert out.splitlines()[-1].startswith("4 norms.")
    _, out, _ = normgym("norms", "--kind", "visit_first", "--sentences")
    assert "before having stood on the marked zone Q" in " ".join(out.split())
    assert "1 norm." in out


def test_layouts_are_listed_drawn_and_checked(normgym) -> None:
    _, out, _ = normgym("layouts")
    assert all(name in out for name in list_layouts())
    status, out, _ = normgym("layouts", "cafe", "--check")
    assert status == 0
    assert "S service counter" in out
    assert out.endswith("cafe: sound\n")


@pytest.mark.parametrize("norm_id", list_norms())
def test_show_explains_every_norm_in_88_columns(normgym, norm_id: str) -> None:
    status, out, _ = normgym("show", norm_id)
    assert status == 0
    assert max(len(line) for line in out.splitlines()) <= 88
    for word in ("kind", "parameters", "condition", "everybody, always", "goals", "agents"):
        assert word in out


def test_marks_stand_on_the_map() -> None:
    cafe = get_layout("cafe")
    marked = {norm.kind for norm in load_norms() if mark_norm(norm, cafe)[0]}
    assert marked == {
        *("exit_doors", "group_doors", "group_seats", "queue_path"),
        *("ring_direction", "seat_order", "seat_regions"),
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "bend-lft-1"], "unknown norm 'bend-lft-1'; did you mean 'bend-left-1'"),
        (["show", "bend-left-1", "--layout", "cave"], "unknown layout 'cave'; did you mean 'cafe'"),
        (["norms", "--family", "x"], "unknown family 'x'; expected one of: access, procedure"),
        (["norms", "--kind", "exit_door"], "unknown kind 'exit_door'; did you mean 'exit_doors'"),
    ],
)
def test_errors_are_one_line(normgym, arguments: list[str], message: str) -> None:
    status, out, err = normgym(*arguments)
    assert (status, out) == (2, "")
    assert err.startswith(f"normgym: {message}")
    assert err.count("\n") == 1


def test_subcommands_are_loaded_when_called(normgym, monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("stand_in")
    application = typer.Typer()

    @application.callback()
    def group() -> None:
        """Stand in for a subcommand's application."""

    @application.command()
    def run(suite: str = "cafe") -> None:
        typer.echo(f"ran {suite}")

    module.app = application  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "benchmarks.cli", module)
    assert normgym("bench", "run", "--suite", "lite")[1] == "ran lite\n"
    assert "normgym bench" in normgym("bench", "--help")[1]


def test_a_missing_package_is_named(normgym, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "benchmarks.cli", None)
    status, _, err = normgym("bench")
    assert status == 2
    assert "`normgym bench` needs the package 'benchmarks.cli', which is not installed" in err
