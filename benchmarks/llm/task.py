"""The two-phase protocol as an inspect task: one sample a norm, played by inspect's models.

    inspect eval benchmarks/llm/task.py --model openai/gpt-5-mini -T suite=lite -T out=results/lite

Sample ids are opaque: nothing that a model, a log or a file name shows says which norm is played.
"""

import atexit
import hashlib
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

from agents.llm import Backend, NewcomerSettings
from agents.llm.backends.inspect_models import InspectBackend
from benchmarks.build import open_suite
from benchmarks.llm.session import Session
from benchmarks.llm.setup import MAX_TOKENS, TEMPERATURE, LLMSetup
from benchmarks.llm.turns import shorten
from benchmarks.records import EpisodeRecord, ErrorRecord
from benchmarks.runner import select_groups
from benchmarks.suite import Group, Suite
from normgym_envs.constants import TEST_PHASES
from normgym_envs.errors import MissingExtraError, NormGymError

try:
    from inspect_ai import Task, task
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import GenerateConfig, ModelOutput, get_model
    from inspect_ai.model._generate_config import active_generate_config
    from inspect_ai.scorer import Score, Scorer, Target, ci, mean, scorer, stderr
    from inspect_ai.solver import Generate, Solver, TaskState, solver
except ImportError as error:
    raise MissingExtraError(
        f'the task needs inspect_ai ({error}); install it with: pip install "normgym[llm]"'
    ) from None

VERSION = 1
"""Moves when samples, prompts' order or scores change; suites and prompts have versions too."""
INPUT = "An episode of interaction with a community, then tests in it."
"""What logs show as the input of every sample; models get the prompts of `agents.llm.grid`."""
SCORES = tuple(
    f"{name}{condition}"
    for condition in ("", *(f"_{phase}" for phase in TEST_PHASES))
    for name in ("joint", "task")
)
"""Scores of a sample, each the mean over its tests, [0, 1]."""

Open = Callable[[int], tuple[Session, Backend]]
"""Returns the open session and model of an epoch, from 1."""
Find = Callable[[TaskState], tuple[Session, Backend, Group]]
"""Returns who plays what in a sample. Logs keep the arguments of solvers: this tells nothing."""


class EpisodeError(NormGymError, RuntimeError):
    """Episodes of a sample could not be finished; inspect may try the sample again."""


@task
def normgym(
    suite: str = "main",
    out: str | None = None,
    prompts: str = "full",
    modality: Literal["image+text", "text", "image"] = "image+text",
    known_norm: bool = False,
    interaction: bool = True,
    norm: str = "",
    family: str = "",
    condition: str = "all",
    interaction_turns: int | None = None,
    test_turns: int | None = None,
) -> Task:
    """Play a suite with whatever model inspect is given.

    Args:
        suite: name of a suite, or a .jsonl file.
        out: folder that keeps records and decisions; the same command goes on from them.
        prompts: version of the prompts.
        modality: what the model is shown.
        known_norm: tell the norm, and play the tests only.
        interaction: meet the community before the tests.
        norm: only this norm.
        family: only norms of this family.
        condition: which tests: "seen", "unseen" or "all".
        interaction_turns: shorten interactions.
        test_turns: shorten tests.
    """
    played = shorten(open_suite(suite), interaction_turns, test_turns)
    settings = NewcomerSettings(
        prompts=prompts,
        modality=modality,
        known_norm=known_norm,
        interaction=interaction and not known_norm,
    )
    selected = select_groups(played, [norm] * bool(norm), [family] * bool(family), condition)
    groups = LLMSetup("", settings).choose(selected)
    sessions: dict[tuple[str, int], tuple[Session, Backend]] = {}

    def open_session(epoch: int) -> tuple[Session, Backend]:
        """Open the session of the active model once, with the parameters it really gets."""
        model = get_model()
        key = (str(model), epoch)
        if key not in sessions:
            config = model.config.merge(active_generate_config())
            setup = LLMSetup(
                str(model),
                settings,
                config.temperature,
                config.max_tokens or MAX_TOKENS,
                seed=epoch - 1,
                extra=_list_parameters(config),
                model_args=tuple(sorted(model.model_args.items())),
                base_url=model.api.base_url,
            )
            folder = None if out is None else Path(out)
            session = Session(setup, played, groups, folder=folder, max_episodes=1_000)
            session.__enter__()
            atexit.register(session.__exit__, None, None, None)
            sessions[key] = session, InspectBackend(model, max_tokens=setup.max_tokens)
        return sessions[key]

    config = GenerateConfig(temperature=TEMPERATURE, max_tokens=MAX_TOKENS)
    return make_task(played, groups, open_session, settings, config)


def _list_parameters(config: GenerateConfig) -> tuple[tuple[str, Any], ...]:
    """Return the parameters of requests that have no field of their own in a setup, by name."""
    given = config.model_dump(exclude_none=True, exclude={"temperature", "max_tokens"})
    return tuple(sorted(given.items()))


def make_task(
    suite: Suite,
    groups: Sequence[Group],
    open_session: Open,
    settings: NewcomerSettings,
    config: GenerateConfig,
) -> Task:
    """Return a task over some groups of a suite.

    Args:
        suite: what is played.
        groups: one becomes a sample each.
        open_session: says who plays.
        settings: of the newcomer; written into the log.
        config: parameters of requests.
    """
    named = {name_group(suite, group): group for group in groups}

    def find(state: TaskState) -> tuple[Session, Backend, Group]:
        return *open_session(state.epoch), named[str(state.sample_id)]

    return Task(
        dataset=MemoryDataset(
            [Sample(input=INPUT, id=name, metadata={"group": name}) for name in named],
            name=f"{suite.name}-{suite.version}",
        ),
        solver=play_sample(find),
        scorer=score_records(find),
        config=config,
        fail_on_error=False,
        name="normgym",
        version=VERSION,
        metadata={
            "suite": suite.name,
            "suite_version": suite.version,
            "suite_hash": suite.sha256,
            "prompts": settings.prompts,
            "modality": settings.modality,
        },
        headline_metric="score_records.joint",
    )


def name_group(suite: Suite, group: Group) -> str:
    """Return the sample id of a group; it tells nothing about it, and stays the same."""
    first = Session.members(group)[0] if group.interaction is not None else group.tests[0]
    return hashlib.sha256(f"group {suite.token(first)}".encode()).hexdigest()[:16]


@solver
def play_sample(find: Find) -> Solver:
    """Return a solver that plays a group to its end."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        session, backend, group = find(state)
        records = await session.play_group(group, backend)
        failed = [record for record in records if isinstance(record, ErrorRecord)]
        if failed:
            raise EpisodeError(
                f"{len(failed)} of {len(records)} episodes broke off, the first on turn "
                f"{failed[0].turn}: {failed[0].error}"
            )
        carried = records[0].belief if isinstance(records[0], EpisodeRecord) else None
        text = "" if carried is None else carried.text
        state.output = ModelOutput.from_content(session.setup.model, text)
        state.completed = True
        return state

    return solve


@scorer(metrics={"*": [mean(), stderr(cluster="group"), ci(cluster="group")]})
def score_records(find: Find) -> Scorer:
    """Return a scorer that reads the records of a sample's tests, as many as there are."""

    async def score(state: TaskState, target: Target) -> Score:
        session, _, group = find(state)
        tests = [
            record
            for record in session.group_records(group)
            if isinstance(record, EpisodeRecord) and record.phase in TEST_PHASES
        ]
        if not tests:
            return Score.unscored(explanation="no test of this sample was finished")
        values = {}
        for name in SCORES:
            measure, _, phase = name.partition("_")
            found = [
                float(getattr(record, measure) or 0.0)
                for record in tests
                if phase in ("", record.phase)
            ]
            values[name] = sum(found) / len(found) if found else math.nan
        return Score(value=values, explanation=f"{len(tests)} tests finished")

    return score
