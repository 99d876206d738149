"""`normgym bench llm`: any language model through a suite."""

import asyncio
import os
import shlex
import sys
import threading
from collections.abc import Coroutine, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, TypeVar, cast

import typer
from rich.console import Console

from agents.llm import Backend, NewcomerSettings
from agents.llm.backend import NotReadyError
from agents.llm.grid.prompts import list_prompts
from benchmarks.build import open_suite
from benchmarks.failures import exit_on_failures
from benchmarks.files import load_json
from benchmarks.llm.ledger import Ledger
from benchmarks.llm.presets import get_preset, list_presets
from benchmarks.llm.preview import Unopened, preview, show_prompt
from benchmarks.llm.pricing import Price, find_price, read_price
from benchmarks.llm.results import write_numbers, write_page
from benchmarks.llm.session import Session
from benchmarks.llm.setup import MAX_TOKENS, TEMPERATURE, LLMSetup
from benchmarks.llm.turns import shorten
from benchmarks.progress import draw_progress
from benchmarks.recordfile import check_config
from benchmarks.records import RunConfig, from_line
from benchmarks.runner import CONDITIONS, Run, make_slug, select_groups
from benchmarks.suite import Group, Suite
from benchmarks.tables import WIDTH, make_tables, print_tables
from normgym_envs.errors import ConfigError, MissingExtraError, UnknownNameError
from normgym_envs.files import check_writable, make_folder

MODALITIES = ("image+text", "text", "image")
T = TypeVar("T")

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)


@dataclass(frozen=True)
class _Job:
    """One model, ready to play."""

    setup: LLMSetup
    backend: Backend
    price: Price | None
    groups: tuple[Group, ...]


@app.command()
def play_models(
    model: Annotated[
        list[str] | None,
        typer.Option(
            help="PROVIDER/NAME as inspect names it, local:FOLDER, or "
            "callable:package.module:function; may be repeated."
        ),
    ] = None,
    preset: Annotated[
        str | None, typer.Option(help=f"Models under one name: {', '.join(list_presets())}.")
    ] = None,
    suite: Annotated[
        str, typer.Option(help="Name of a suite, a .jsonl file, or fresh:SEED:N.")
    ] = "main",
    norm: Annotated[list[str] | None, typer.Option(help="Only this norm; may be repeated.")] = None,
    family: Annotated[
        list[str] | None, typer.Option(help="Only this family; may be repeated.")
    ] = None,
    condition: Annotated[str, typer.Option(help=f"Tests: {', '.join(CONDITIONS)}.")] = "all",
    limit: Annotated[int | None, typer.Option(help="Only the first norms of the suite.")] = None,
    interaction_turns: Annotated[
        int | None, typer.Option(help="Shorten interactions to this many turns.")
    ] = None,
    test_turns: Annotated[
        int | None, typer.Option(help="Shorten tests to this many turns.")
    ] = None,
    modality: Annotated[
        str, typer.Option(help=f"What the model is shown: {', '.join(MODALITIES)}.")
    ] = "image+text",
    prompts: Annotated[str, typer.Option(help=f"Version: {', '.join(list_prompts())}.")] = "full",
    known_norm: Annotated[
        bool, typer.Option("--known-norm", help="Tell the norm; play the tests only.")
    ] = False,
    no_interaction: Annotated[
        bool, typer.Option("--no-interaction", help="Play the tests only, the norm hidden.")
    ] = False,
    note: Annotated[str, typer.Option(help="A sentence added to what is said of norms.")] = "",
    temperature: Annotated[
        str | None, typer.Option(help=f"0 to 2, or none for the model's own.  [{TEMPERATURE}]")
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(help=f"Most tokens of a reply.  [{MAX_TOKENS}]")
    ] = None,
    parameter: Annotated[
        list[str] | None,
        typer.Option(help="NAME=VALUE of a request, e.g. reasoning_effort=low; may be repeated."),
    ] = None,
    model_arg: Annotated[
        list[str] | None,
        typer.Option(help="NAME=VALUE for inspect's provider of the model; may be repeated."),
    ] = None,
    context_tokens: Annotated[
        int | None,
        typer.Option(help="Tokens of the model's context, where inspect does not know it."),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="Address of the server, e.g. http://localhost:8000/v1.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Tells repetitions of a run apart.")] = 0,
    max_connections: Annotated[
        int | None, typer.Option(help="Most requests in flight; by default inspect adapts.")
    ] = None,
    max_cost: Annotated[
        float | None, typer.Option(help="Dollars a model may cost; then the run stops.")
    ] = None,
    price: Annotated[
        str | None,
        typer.Option(help="INPUT,OUTPUT[,CACHED] in dollars for a million tokens."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the first prompt and an estimate; ask nothing.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(help="Keep records, decisions and logs here, resume from them."),
    ] = None,
    json: Annotated[Path | None, typer.Option(help="Write the numbers to this file.")] = None,
    log_images: Annotated[
        bool, typer.Option("--log-images", help="Keep the pictures in inspect's logs.")
    ] = False,
) -> None:
    """Play a suite with language models and print tables, failures, tokens and cost."""
    command = "normgym bench " + shlex.join(["llm", *_list_arguments()])
    if os.getcwd() not in sys.path and "" not in sys.path:
        sys.path.append(os.getcwd())  # functions are found here, as `python -m` would find them
    # everything that can be wrong is looked at before anything is asked
    names, warmth, tokens = _choose_models(model, preset, temperature, max_tokens)
    settings = _make_settings(prompts, modality, known_norm, no_interaction, note)
    played = shorten(open_suite(suite), interaction_turns, test_turns)
    selected = select_groups(played, norm or [], family or [], condition)
    if max_connections is not None and max_connections < 1:
        raise ConfigError(f"--max-connections is {max_connections}; expected at least 1")
    given = None if price is None else read_price(price)
    extra = _read_pairs("--parameter", parameter)
    arguments = _read_pairs("--model-arg", model_arg)
    setups = [
        LLMSetup(name, settings, warmth, tokens, seed, extra, arguments, base_url, context_tokens)
        for name in names
    ]
    groups = setups[0].choose(selected, limit)
    if json is not None:
        check_writable(json, "--json")
    if out is not None:
        make_folder(out, "--out")
    jobs = []
    for setup in setups:
        _check_folder(out, setup, played)
        cost = given or find_price(setup.model)
        if max_cost is not None and cost is None:
            raise ConfigError(
                f"--max-cost needs the price of {setup.model!r}, which is unknown; give --price"
            )
        jobs.append(_Job(setup, _open(setup, dry_run), cost, groups))
    for job in jobs:
        # a run is only tried on its first turns; an estimate plays whole episodes
        tried = played if dry_run else shorten(played, 1, 1)
        prompt, estimate = run_async(preview(job.setup, tried, groups, job.backend, job.price))
        if dry_run:
            typer.echo(f"=== {job.setup.label}: the first prompt ===\n{show_prompt(prompt)}\n")
            typer.echo(f"=== {job.setup.label}: estimate for suite {played.name} ===")
            for name, value in estimate.rows():
                typer.echo(f"{name:<14} {value}")
            if job.price is not None and job.price.as_of:
                typer.echo(f"{'prices':<14} of {job.price.as_of}")
            typer.echo()
    if dry_run:
        return
    _play_all(jobs, played, out, json, command, max_cost, max_connections, log_images)


def _open(setup: LLMSetup, is_dry: bool) -> Backend:
    """Return the model; for a dry run something in its place when it cannot be asked yet."""
    try:
        return setup.open_backend()
    except (NotReadyError, MissingExtraError) as error:
        if not (is_dry and setup.is_hosted) or find_spec("inspect_ai") is None:
            raise
        from agents.llm.backends.inspect_models import find_context

        typer.echo(f"note: {error}; the dry run goes on without it", err=True)
        context = setup.context_tokens or find_context(setup.model)
        return Unopened(setup.model, setup.max_tokens, context, str(error))


def _play_all(
    jobs: Sequence[_Job],
    suite: Suite,
    out: Path | None,
    json: Path | None,
    command: str,
    max_cost: float | None,
    max_connections: int | None,
    log_images: bool,
) -> None:
    """Play, print and write."""
    runs: list[Run] = []
    ledgers: dict[str, Ledger] = {}
    with TemporaryDirectory() if out is None else nullcontext(str(out)) as place:
        for job in jobs:
            ledger = Ledger(job.price, max_cost)
            ledgers[job.setup.label] = ledger
            runs.append(_play_one(job, suite, Path(place), ledger, max_connections, log_images))
    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDTH)
    print_tables(make_tables(runs), console)
    for label, ledger in ledgers.items():
        console.print(f"{label}: calls, tokens, cost", markup=False)
        for name, value in ledger.rows():
            console.print(f"  {name:<18} {value}", markup=False, highlight=False)
    if json is not None:
        write_numbers(json, runs, ledgers)
    if out is not None:
        path = write_page(out, runs, ledgers, command)
        console.print(f"report: {path}", markup=False, soft_wrap=True)
    again = "the same command goes on where they broke off" if out is not None else ""
    exit_on_failures(runs, again)


def _play_one(
    job: _Job,
    suite: Suite,
    folder: Path,
    ledger: Ledger,
    max_connections: int | None,
    log_images: bool,
) -> Run:
    """Play one model."""
    steps = sum(suite.specs[i].limit for group in job.groups for i in Session.members(group))
    hosted = job.setup.is_hosted
    with (
        draw_progress(job.setup.label, steps, not hosted) as on_step,
        Session(
            job.setup,
            suite,
            job.groups,
            folder=folder,
            ledger=ledger,
            max_episodes=1_000 if hosted else max_connections or 64,
            on_step=on_step,
        ) as session,
    ):
        if not hosted:
            return run_async(session.play(job.backend))
        from benchmarks.llm.hosted import play_hosted

        return play_hosted(
            session,
            job.backend,
            logs=folder / "logs",
            price=job.price,
            max_connections=max_connections,
            log_images=log_images,
        )


def run_async(work: Coroutine[Any, Any, T]) -> T:
    """Return what a coroutine returns, also where a loop is running already, as in notebooks."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    found: list[T] = []
    errors: list[BaseException] = []

    def call() -> None:
        try:
            found.append(asyncio.run(work))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=call)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return found[0]


def _choose_models(
    models: list[str] | None, preset: str | None, temperature: str | None, max_tokens: int | None
) -> tuple[list[str], float | None, int]:
    """Return the models and the parameters of their requests."""
    warmth: float | None = TEMPERATURE
    tokens = MAX_TOKENS
    names = list(dict.fromkeys(models or []))
    if preset is not None:
        chosen = get_preset(preset)
        names = names or list(chosen.models)
        warmth, tokens = chosen.temperature, chosen.max_tokens
    if not names:
        raise ConfigError("no model is named; give --model PROVIDER/NAME, or --preset paper")
    if temperature is not None:
        try:
            warmth = None if temperature == "none" else float(temperature)
        except ValueError:
            raise ConfigError(
                f"--temperature is {temperature!r}; expected a number from 0 to 2, or none"
            ) from None
    return names, warmth, tokens if max_tokens is None else max_tokens


def _read_pairs(option: str, pairs: list[str] | None) -> tuple[tuple[str, Any], ...]:
    """Return names and values; what is JSON is read as such, all else is text."""
    found = []
    for pair in pairs or []:
        name, sign, text = pair.partition("=")
        if not sign or not name.isidentifier():
            raise ConfigError(f"{option} is {pair!r}; expected NAME=VALUE")
        if name in ("temperature", "max_tokens"):
            raise ConfigError(f"{option} is {pair!r}; there is --{name.replace('_', '-')} for it")
        try:
            value = load_json(text)
        except ValueError:
            value = text
        found.append((name, value))
    return tuple(found)


def _make_settings(
    prompts: str, modality: str, known_norm: bool, no_interaction: bool, note: str
) -> NewcomerSettings:
    """Return what decides the prompts."""
    if prompts not in list_prompts():
        raise UnknownNameError("prompts", prompts, list_prompts())
    if modality not in MODALITIES:
        raise UnknownNameError("modality", modality, MODALITIES)
    if known_norm and no_interaction:
        raise ConfigError("--known-norm plays the tests only already; leave out --no-interaction")
    return NewcomerSettings(
        prompts=prompts,
        modality=cast(Any, modality),
        known_norm=known_norm,
        interaction=not (known_norm or no_interaction),
        note=note,
    )


def _check_folder(out: Path | None, setup: LLMSetup, suite: Suite) -> None:
    """Refuse a folder with records of another suite, or of this model under other settings.

    Nothing has been asked or written at that point.
    """
    config = setup.make_config(suite)
    own = f"{make_slug(config.agent)}.jsonl"
    for path in sorted((out / "records").glob("*.jsonl")) if out is not None else []:
        line = path.read_bytes().split(b"\n", 1)[0]
        found = from_line(line, f"{path}: line 1") if line else None
        if isinstance(found, RunConfig) and found.suite_hash != suite.sha256:
            raise ConfigError(
                f"--out {out} holds a run of suite {found.suite!r} version {found.suite_version} "
                f"(hash {found.suite_hash[:8]}); this is {suite.name!r} version {suite.version} "
                f"({suite.sha256[:8]}); give another folder"
            )
        if path.name == own and isinstance(found, RunConfig):
            check_config(path, found, config)


def _list_arguments() -> list[str]:
    """Return what was typed behind `bench llm`."""
    typed = sys.argv[1:]
    return typed[typed.index("llm") + 1 :] if "llm" in typed else typed
