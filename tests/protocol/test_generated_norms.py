"""400 generated norms in ten places: the norm can be kept, and ignoring it breaks it."""

import pytest

from normgym_envs import get_layout
from normgym_envs.engine import BatchEngine
from normgym_envs.layouts import MAIN_LAYOUTS
from normgym_envs.norms.library import bound_groups
from normgym_envs.protocol.generator import generate_norms
from normgym_envs.protocol.newcomers import play_newcomers
from normgym_envs.protocol.scenarios import TestBuilder as ScenarioBuilder

CHUNKS = 8


@pytest.mark.slow
@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_generated_norms_are_kept_by_the_oracle_and_broken_by_the_blind(chunk: int) -> None:
    norms = generate_norms(20, 400)[chunk::CHUNKS]
    for index, norm in enumerate(norms):
        layout = get_layout(MAIN_LAYOUTS[(chunk + index) % len(MAIN_LAYOUTS)])
        group = bound_groups(norm)[index % len(bound_groups(norm))]
        builder = ScenarioBuilder(layout, norm, [])
        spec = builder.build("seen", 1, group, 40 + index, compare=False).spec
        engine = BatchEngine([layout], [norm], 2)
        others = spec.drivers[1:]
        engine.load(0, spec, drivers=(1, *others))
        engine.load(1, spec, drivers=(2, *others))
        engine.states["predicted"][1, 0] = 2
        outcome = play_newcomers(engine)
        assert outcome.finished[0], norm.id
        assert not outcome.violations[0], norm.id
        assert outcome.finished[1], norm.id
        assert outcome.violations[1], norm.id
