"""What decides every byte of a run: the model, its prompts, its condition, its parameters."""

import hashlib
import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import normgym_envs
from agents.llm import Backend, NewcomerSettings, make_backend
from agents.llm.grid.writing import Writer
from benchmarks.records import RunConfig
from benchmarks.suite import Group, Suite
from normgym_envs.errors import ConfigError, check_seed
from normgym_envs.versions import hash_world

TEMPERATURE: Final = 0.7
"""Source: NG "LLM Agents"."""
MAX_TOKENS: Final = 4048
"""Tokens of an answer. Source: NG "LLM Agents"."""
OPERATIONAL: Final = ("attempt_timeout", "max_retries", "timeout", "cache_prompt", "batch")
"""Parameters that change when an answer comes, not what it says; a run may go on with others."""
ALIASES: Final = {"local": "transformers_local"}
"""Short names of backends in `--model`."""


@dataclass(frozen=True)
class LLMSetup:
    """One model under one condition."""

    model: str  # as the user named it
    newcomer: NewcomerSettings = field(default_factory=NewcomerSettings)
    temperature: float | None = TEMPERATURE  # None: the model's own
    max_tokens: int = MAX_TOKENS
    seed: int = 0  # of the agents' own random streams; tells repetitions of a run apart
    extra: tuple[tuple[str, Any], ...] = ()  # further parameters of requests
    model_args: tuple[tuple[str, Any], ...] = ()  # of inspect's provider
    base_url: str | None = None  # of the server, where it is not the provider's own
    context_tokens: int | None = None  # of prompt and answer; None: what the backend knows

    def __post_init__(self) -> None:
        """Refuse parameters that no model takes.

        Raises:
            ConfigError: a number out of its range.
            SeedError: the seed is no integer in [0, 2**63].
        """
        check_seed(self.seed)
        if self.temperature is not None and not 0 <= self.temperature <= 2:
            raise ConfigError(f"--temperature is {self.temperature}; expected 0 to 2, or none")
        if self.max_tokens < 1:
            raise ConfigError(f"--max-tokens is {self.max_tokens}; expected at least 1")

    @property
    def meets(self) -> bool:
        """Whether the newcomer meets the community before its tests."""
        return self.newcomer.interaction and not self.newcomer.known_norm

    @property
    def label(self) -> str:
        """Name under which results are filed: the model and what is not the default."""
        marks = []
        if self.newcomer.known_norm:
            marks.append("known norm")
        elif not self.newcomer.interaction:
            marks.append("no interaction")
        if self.newcomer.modality != "image+text":
            marks.append(f"{self.newcomer.modality} only")
        if self.newcomer.prompts != "full":
            marks.append(f"{self.newcomer.prompts} prompts")
        if self.newcomer.note:
            marks.append("with a note")
        if self.seed:
            marks.append(f"seed {self.seed}")
        return self.model + (f" ({', '.join(marks)})" if marks else "")

    @property
    def backend_name(self) -> str:
        """Name as `agents.llm.make_backend` takes it."""
        prefix, colon, rest = self.model.partition(":")
        return f"{ALIASES.get(prefix, prefix)}:{rest}" if colon else self.model

    @property
    def is_hosted(self) -> bool:
        """Whether inspect reaches the model."""
        prefix, colon, _ = self.backend_name.partition(":")
        return prefix == "inspect_models" if colon and "/" not in prefix else "/" in prefix

    @property
    def samples(self) -> bool:
        """Whether the model takes a temperature; functions and scripts do not."""
        return self.is_hosted or self.backend_name.startswith("transformers_local:")

    def sampling(self) -> dict[str, Any]:
        """Return the parameters of every request."""
        found: dict[str, Any] = {"max_tokens": self.max_tokens}
        if self.samples and self.temperature is not None:
            found["temperature"] = self.temperature
        return found

    def open_backend(self) -> Backend:
        """Return the model.

        Raises:
            NormGymError: it cannot be had; the message says why.
        """
        options = {**self.sampling(), **dict(self.extra)}
        if self.context_tokens is not None:
            options["context_tokens"] = self.context_tokens
        if self.is_hosted:
            options |= {"base_url": self.base_url, "model_args": dict(self.model_args)}
        elif self.model_args or self.base_url:
            raise ConfigError(f"--model-arg and --base-url are for hosted models, not {self.model}")
        return make_backend(self.backend_name, **options)

    def make_config(self, suite: Suite) -> RunConfig:
        """Return what the records of this run carry."""
        settings = self.newcomer
        condition = "hidden norm" if self.meets else "no interaction"
        options = {
            "predict_newcomer": "norm_aware",
            "model": self.model,
            "prompts": Writer(settings.prompts, settings.modality, settings.note).version,
            "modality": settings.modality,
            "condition": "known norm" if settings.known_norm else condition,
            "temperature": f"{self.sampling().get('temperature', 'its own')}",
            "max_tokens": str(self.max_tokens),
            **({"note": settings.note} if settings.note else {}),
            **({"context_tokens": str(self.context_tokens)} if self.context_tokens else {}),
            **{name: str(value) for name, value in self.extra if name not in OPERATIONAL},
        }
        return RunConfig(
            suite=suite.name,
            suite_version=suite.version,
            suite_hash=suite.sha256,
            package_version=normgym_envs.__version__,
            world=hash_world(),
            agent=self.label,
            agent_digest=_digest(self.backend_name),
            options=options,
            seed=self.seed,
        )

    def choose(self, groups: Sequence[Group], limit: int | None = None) -> tuple[Group, ...]:
        """Return what this condition plays of some groups.

        Args:
            groups: as `benchmarks.runner.select_groups` returns them.
            limit: most groups, None for all.

        Raises:
            ConfigError: the limit is below 1.
        """
        if limit is not None and limit < 1:
            raise ConfigError(f"--limit is {limit}; expected at least 1")
        if self.meets:
            return tuple(groups[:limit])
        return tuple(
            Group(group.norms, group.family, None, group.tests) for group in groups[:limit]
        )


def _digest(backend: str) -> str:
    """Return a hash of the file behind a callable or of a local model, "" for what is elsewhere."""
    prefix, _, rest = backend.partition(":")
    digest = hashlib.sha256()
    if prefix == "callable":
        try:
            found = importlib.util.find_spec(rest.partition(":")[0])
        except (ImportError, ValueError):
            found = None
        if found is None or not found.origin or not Path(found.origin).is_file():
            return ""
        digest.update(Path(found.origin).read_bytes())
    elif prefix == "transformers_local" and Path(rest).is_dir():
        for path in sorted(Path(rest).iterdir()):
            if path.is_file():
                digest.update(f"{path.name} {path.stat().st_size}\n".encode())
                if path.suffix == ".json" and path.stat().st_size < 1_000_000:
                    digest.update(path.read_bytes())
    else:
        return ""
    return digest.hexdigest()[:16]
