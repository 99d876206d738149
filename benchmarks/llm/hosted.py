"""Plays a session with a model that inspect reaches; its logs lie beside the records."""

import os
import sys
from pathlib import Path
from typing import Any, Literal

from agents.llm import Backend
from agents.llm.backends.inspect_models import InspectBackend
from benchmarks.llm.pricing import Price
from benchmarks.llm.session import Session
from benchmarks.llm.task import make_task
from benchmarks.runner import Run
from normgym_envs.errors import ConfigError, MissingExtraError

try:
    from inspect_ai import eval as evaluate
    from inspect_ai.log import EvalLog
    from inspect_ai.model import (
        GenerateConfig,
        ModelCost,
        ModelInfo,
        get_model_info,
        set_model_cost,
        set_model_info,
    )
except ImportError as error:
    raise MissingExtraError(
        f'hosted models need inspect_ai ({error}); install it with: pip install "normgym[llm]"'
    ) from None

MAX_SAMPLES = 64
"""Groups in flight, so at least as many episodes."""


def play_hosted(
    session: Session,
    backend: Backend,
    *,
    logs: Path,
    price: Price | None,
    max_connections: int | None,
    log_images: bool,
    retries: int = 1,
) -> Run:
    """Play an open session through inspect and return what came of it.

    Args:
        session: open, with its groups.
        backend: an `InspectBackend`.
        logs: folder of inspect's logs.
        price: of the model's tokens; inspect shows costs then too.
        max_connections: most requests in flight; None lets inspect adapt.
        log_images: keep the pictures in the logs, which makes them large.
        retries: how often a sample whose episodes broke off is tried again; what was decided is
            replayed, not asked again.

    Raises:
        NormGymError: the set-up is at fault or the money is spent.
    """
    if not isinstance(backend, InspectBackend):
        raise ConfigError(f"model {backend.name!r} is not one of inspect's")

    def open_session(epoch: int) -> tuple[Session, Backend]:
        return session, backend

    if price is not None:
        tell_price(str(backend.model), price)
    options: dict[str, Any] = {**session.setup.sampling(), **dict(session.setup.extra)}
    if max_connections is not None:
        options["max_connections"] = max_connections
    done: list[EvalLog] = evaluate(
        make_task(
            session.suite, session.groups, open_session, session.setup.newcomer, GenerateConfig()
        ),
        model=backend.model,
        log_dir=str(logs),
        display=choose_display(),
        log_images=log_images,
        log_level="error",
        max_samples=MAX_SAMPLES,
        fail_on_error=False,
        retry_on_error=retries,
        score_display=False,
        **options,
    )
    if session.fault is not None:
        raise session.fault
    problems = [sample.error for sample in done[0].samples or [] if sample.error is not None]
    first = done[0].error or next(iter(problems), None)
    if first is not None and not session.records:
        raise ConfigError(f"inspect gave up: {first.message}")
    return session.finish()


def choose_display() -> Literal["rich", "none"]:
    """Return how inspect shows its progress: not at all where nobody watches."""
    return "rich" if sys.stderr.isatty() and "CI" not in os.environ else "none"


def tell_price(model: str, price: Price) -> None:
    """Let inspect know what a model's tokens cost, also of a model that it does not know.

    Args:
        model: as inspect names it.
        price: writing to a cache is taken to cost what other input costs.
    """
    cached = price.input if price.cached is None else price.cached
    cost = ModelCost(
        input=price.input,
        output=price.output,
        input_cache_write=price.input,
        input_cache_read=cached,
    )
    if get_model_info(model) is None:
        set_model_info(model, ModelInfo(cost=cost))
    else:
        set_model_cost(model, cost)
