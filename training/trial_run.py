"""The folder of a run of `recurrent_ppo`: its checkpoint, its log, and how it goes on."""

import json
from collections.abc import Callable
from dataclasses import asdict
from io import BytesIO
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

import torch

from normgym_envs.envs.trials import Tasks
from normgym_envs.errors import ConfigError
from normgym_envs.files import replace_file
from training.recurrent_ppo import RecurrentActorCritic, TrialLearner, TrialSettings

CHECKPOINT: Final = "learner.pt"
FORMAT: Final = 1


def save_checkpoint(learner: TrialLearner, path: Path) -> None:
    """Replace a checkpoint in one piece; the last one of a run has the weights alone."""
    buffer = BytesIO()
    torch.save(
        {
            "format": FORMAT,
            "settings": asdict(learner.settings),
            "tasks": describe_tasks(learner.tasks),
            **learner.state(),
        },
        buffer,
    )
    replace_file(path, buffer.getvalue())


def describe_tasks(tasks: Tasks) -> dict[str, list[str]]:
    """Return the norms of each part as text: ids, kinds, parameters and scopes."""
    return {
        part: [
            f"{n.id}: {n.kind} {json.dumps(dict(n.parameters), sort_keys=True)} {n.scope}"
            for n in norms
        ]
        for part, norms in tasks._asdict().items()
    }


def check_tasks(state: dict[str, Any], tasks: Tasks) -> None:
    """Refuse a checkpoint that has learnt from other norms than are drawn today.

    Checkpoints in which no norms are noted pass.

    Raises:
        ConfigError: naming the first norm that differs.
    """
    then, now = state.get("tasks"), describe_tasks(tasks)
    if then is None or then == now:
        return
    for part, norms in now.items():
        for was, drawn in zip_longest(then.get(part, []), norms, fillvalue="none"):
            if was != drawn:
                raise ConfigError(
                    f"the checkpoint's {part} norms are not those drawn today: {was} there, "
                    f"{drawn} now; measure it with the sources it was trained with, or train anew"
                )


def load_checkpoint(path: Path) -> dict[str, Any]:
    """Read a checkpoint; `path` is the file or the folder of its run.

    Raises:
        ConfigError: there is none, or it is damaged or of another version.
    """
    file = path / CHECKPOINT if path.is_dir() else path
    if not file.exists():
        raise ConfigError(f"{file} does not exist; expected a checkpoint of `normgym train trials`")
    try:
        state: dict[str, Any] = torch.load(file, map_location="cpu", weights_only=True)
        found = state["format"]
        if found != FORMAT:
            raise ConfigError(f"{file} has format {found}; expected {FORMAT}")
        TrialSettings(**{**state["settings"], "kinds": tuple(state["settings"]["kinds"])})
    except ConfigError:
        raise
    except Exception as error:  # torch names a dozen of its own
        raise ConfigError(f"{file} is no checkpoint of a trial learner: {error!r:.200}") from None
    return state


def restore_settings(state: dict[str, Any]) -> TrialSettings:
    """Return the settings of a checkpoint."""
    return TrialSettings(**{**state["settings"], "kinds": tuple(state["settings"]["kinds"])})


def load_model(state: dict[str, Any]) -> RecurrentActorCritic:
    """Return the frozen network of a checkpoint."""
    weights = state["model"]
    hidden, size = weights["encoder.weight"].shape
    memory = weights["reader.weight"].shape[1]
    model = RecurrentActorCritic(size, hidden, memory).requires_grad_(False)
    model.load_state_dict(weights)
    return model


def train_trials(
    settings: TrialSettings, out: Path, report: Callable[[int], None] = lambda steps: None
) -> TrialLearner:
    """Train, or go on with what an interrupted run has left in the folder; equal to one in a go.

    Args:
        settings: of the run.
        out: folder, made when missing: `learner.pt` and `log.jsonl`, one line an update.
        report: told the turns done after each update.

    Raises:
        ConfigError: the folder holds a run with other settings, or cannot be read or written.
    """
    torch.set_num_threads(1)
    learner, file, log = TrialLearner(settings), out / CHECKPOINT, out / "log.jsonl"
    try:
        out.mkdir(parents=True, exist_ok=True)
        if file.exists():
            state = load_checkpoint(file)
            found = restore_settings(state)
            if found != settings:
                raise ConfigError(
                    f"{out} holds a run with other settings: {_differ(found, settings)}"
                )
            check_tasks(state, learner.tasks)
            learner.restore(state)
        kept = log.read_text().splitlines()[: learner.updates] if log.exists() else []
        log.write_text("".join(f"{line}\n" for line in kept))
        while learner.updates < learner.num_updates:
            line = learner.improve()
            with log.open("a") as lines:
                lines.write(json.dumps(line) + "\n")
            ends = learner.updates == learner.num_updates
            if ends or learner.updates % settings.checkpoint_every == 0:
                save_checkpoint(learner, file)
            report(learner.steps)
    except OSError as error:
        raise ConfigError(f"{out} cannot be read or written: {error}") from None
    return learner


def _differ(found: TrialSettings, wanted: TrialSettings) -> str:
    """Return in words what differs."""
    pairs = zip(asdict(found).items(), asdict(wanted).values(), strict=True)
    return ", ".join(f"{name} {was}, not {now}" for (name, was), now in pairs if was != now)
