"""What decides every byte of a run: the model, its prompts, its condition, its parameters."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import normgym_envs
from agents.llm import Backend, NewcomerSettings, make_backend
from agents.llm.agent import digest_code
from agents.llm.backend import BACKENDS, BackendKind, digest_backend, split_backend
from agents.llm.grid.writing import Writer
from benchmarks.records import RunConfig
from benchmarks.suite import Group, Suite
from normgym_envs import rendering
from normgym_envs.errors import ConfigError, check_seed
from normgym_envs.versions import hash_world

TEMPERATURE: Final = 0.7
"""Source: NG "LLM Agents"."""
MAX_TOKENS: Final = 4048
"""Tokens of an answer. Source: NG "LLM Agents"."""
OPERATIONAL: Final = (
    "adaptive_connections",
    "attempt_timeout",
    "batch",
    "cache",
    "cache_prompt",
    "max_connections",
    "max_retries",
    "stream_idle_timeout",
    "timeout",
)
"""Parameters that change when an answer comes, not what it says; a run may go on with others."""
_SECRET: Final = re.compile(
    r"(^|[_-])(api)?(keys?|token|secrets?|password|credentials?|authorization)($|[_-])",
    re.IGNORECASE,
)


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
            ConfigError: a number out of its range, or a key among the parameters.
            SeedError: the seed is no integer in [0, 2**63].
        """
        check_seed(self.seed)
        if self.temperature is not None and not 0 <= self.temperature <= 2:
            raise ConfigError(f"--temperature is {self.temperature}; expected 0 to 2, or none")
        if self.max_tokens < 1:
            raise ConfigError(f"--max-tokens is {self.max_tokens}; expected at least 1")
        found = _find_secret(dict(self.extra)) or _find_secret(dict(self.model_args))
        if found:
            raise ConfigError(
                f"parameter {found!r} looks like a key, and parameters are written into records; "
                "give keys through the environment"
            )
        if "@" in urlsplit(self.base_url or "").netloc:
            raise ConfigError(
                "--base-url holds a user or password, and is written into records; "
                "give keys through the environment"
            )

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
        return ":".join(split_backend(self.model))

    @property
    def is_hosted(self) -> bool:
        """Whether inspect reaches the model."""
        return self.kind.is_hosted

    @property
    def kind(self) -> BackendKind:
        """What the model takes.

        Raises:
            UnknownNameError: there is no such backend.
        """
        return BACKENDS[split_backend(self.model)[0]]

    def sampling(self) -> dict[str, Any]:
        """Return the parameters of every request."""
        found: dict[str, Any] = {"max_tokens": self.max_tokens}
        if self.kind.takes_temperature and self.temperature is not None:
            found["temperature"] = self.temperature
        return found

    def open_backend(self) -> Backend:
        """Return the model.

        Raises:
            NormGymError: it cannot be had; the message says why.
        """
        options = self.sampling()
        if self.kind.takes_temperature:
            options["temperature"] = self.temperature  # None asks for the model's own
        if self.kind.takes_seed:
            options["seed"] = self.seed
        options |= dict(self.extra)
        if self.context_tokens is not None:
            options["context_tokens"] = self.context_tokens
        if self.is_hosted:
            options |= {"base_url": self.base_url, "model_args": dict(self.model_args)}
        elif self.model_args or self.base_url:
            raise ConfigError(f"--model-arg and --base-url are for hosted models, not {self.model}")
        return make_backend(self.model, **options)

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
            **({"base_url": self.base_url} if self.base_url else {}),
            **{name: str(value) for name, value in self.extra if name not in OPERATIONAL},
            **{
                f"model_arg.{name}": str(value)
                for name, value in self.model_args
                if name not in OPERATIONAL
            },
        }
        # what decides the answers beside the options: the model's files, and what makes prompts
        parts = [digest_backend(self.model, dict(self.extra)), digest_code()]
        if settings.modality != "text":
            parts.append(digest_pictures())
        return RunConfig(
            suite=suite.name,
            suite_version=suite.version,
            suite_hash=suite.sha256,
            package_version=normgym_envs.__version__,
            world=hash_world(),
            agent=self.label,
            agent_digest=hashlib.sha256(" ".join(parts).encode()).hexdigest()[:16],
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


def _find_secret(value: Any) -> str:
    """Return the first name in a parameter's value that looks like a key's, "" for none."""
    if not isinstance(value, Mapping):
        return ""
    for name, inner in value.items():
        found = str(name) if _SECRET.search(str(name)) else _find_secret(inner)
        if found:
            return found
    return ""


@cache
def digest_pictures() -> str:
    """Return a hash of the code that draws what models see, 16 hex digits."""
    folder = Path(rendering.__file__).parent
    digest = hashlib.sha256()
    for path in [*sorted(folder.rglob("*.py")), Path(__file__).with_name("pictures.py")]:
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
