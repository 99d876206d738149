"""The runner: what is played and recorded, and that neither batch nor errors change a record."""

import json
from pathlib import Path

import naive
import pytest

from agents import AgentContext, AgentSource, Belief, Observation
from agents.random_agent import RandomAgent, WaitAgent
from benchmarks.records import EpisodeRecord, ErrorRecord, to_line
from benchmarks.runner import Run, make_slug, run
from benchmarks.suite import Suite, load_suite
from normgym_envs.constants import Driver
from normgym_envs.errors import ActionError, ConfigError, SeedError, UnknownNameError
from normgym_envs.layouts import get_layout

PACKAGE = Path(__file__).parents[2] / "normgym_envs"


def source(agent: type) -> AgentSource:
    """Return where instances of a class come from."""
    return AgentSource(agent.__name__.lower(), agent)


@pytest.fixture(scope="module")
def cafe() -> Suite:
    return load_suite("cafe")


@pytest.fixture(scope="module")
def oracle(cafe: Suite) -> Run:
    return run("oracle", cafe)


def test_the_oracle_passes_every_test(oracle: Run) -> None:
    tests = oracle.episodes("seen")
    assert len(tests) == 150
    assert all(record.joint == record.task == 1.0 for record in tests)


def test_the_norm_blind_planner_finishes_and_breaks_every_norm(cafe: Suite) -> None:
    blind = run("norm_blind", cafe)
    tests = blind.episodes("seen")
    assert len(tests) == 150
    assert all(record.task == 1.0 and record.joint == 0.0 for record in tests)
    assert blind.config.options == {"predict_newcomer": "norm_blind"}


@pytest.mark.parametrize("agent", ["random", "wait"])
def test_floors_stay_low(cafe: Suite, agent: str) -> None:
    tests = run(agent, cafe).episodes("seen")
    assert sum(record.joint or 0 for record in tests) / len(tests) <= 0.15


def test_records_match_the_plain_world(cafe: Suite, oracle: Run) -> None:
    """The same episodes in the slow restatement give the same record, returns to 4 decimals."""
    layout = naive.load_map(PACKAGE / "layouts" / "maps" / "cafe.toml")
    rows = naive.load_norms(PACKAGE / "norms" / "library.toml")
    by_name = {record.episode: record for record in oracle.records}
    for index in (1, 62, 105, 170):
        spec = cafe.specs[index]
        world = naive.load_episode(spec, layout, rows)
        world.slots[0].driver = world.slots[0].predicted = int(Driver.NORM_AWARE)
        returns, violations, charges, actions = [0.0] * spec.num_slots, 0, 0, ""
        while world.ended == naive.RUNNING:
            rewards = naive.step(world, {})
            returns = [a + b for a, b in zip(returns, rewards, strict=True)]
            violations += sum(person.violated for person in world.slots[1:])
            charges += world.slots[0].collided
            actions += "." if world.slots[0].auto else str(world.slots[0].action)
        record = by_name[spec.name]
        assert isinstance(record, EpisodeRecord)
        assert record.returns == pytest.approx(returns, abs=1e-3)
        assert (record.turns, record.collisions) == (world.turn, charges)
        assert record.background_violations == violations
        assert record.actions == actions
        assert record.path_length == record.turns  # the newcomer is there from turn 0


def test_neither_batch_nor_selection_changes_a_record(suite: Suite) -> None:
    whole = run("random", suite)
    for rows in (1, 5):
        assert run("random", suite, max_rows=rows).records == whole.records
    part = run("random", suite, families=["coordination"])
    assert part.records == tuple(r for r in whole.records if r.family == "coordination")


def test_seeds_move_the_agents_and_not_the_world(suite: Suite) -> None:
    assert run("random", suite, seed=1).records != run("random", suite).records
    first, second = run("wait", suite, seed=1), run("wait", suite)
    assert [r.state_hash for r in first.records if isinstance(r, EpisodeRecord)] == [
        r.state_hash for r in second.records if isinstance(r, EpisodeRecord)
    ]
    for seed in (0, 2**63):
        assert run("random", suite, seed=seed, norms=["bend-right-1"]).records
    for wrong in (-1, 2**63 + 1, True, 1.0, "1"):
        with pytest.raises(SeedError):
            run("random", suite, seed=wrong)  # type: ignore[arg-type]


class _Believer(WaitAgent):
    """Believes in how much it has seen; keeps what it was told."""

    told: dict[str, AgentContext] = {}  # noqa: RUF012 - read by the test

    def reset(self, context: AgentContext) -> None:
        _Believer.told[context.token] = context
        self.turns: list[int] = []

    def act(self, observation: Observation) -> int:
        self.turns.append(int(observation["turn"][0]))
        return 4

    def observe(self, observation: Observation) -> None:
        self.turns.append(int(observation["turn"][0]))

    def belief(self) -> Belief | None:
        return (
            Belief(str(self.turns[-1] // 20), 0.25, {"turns": self.turns}) if self.turns else None
        )


def test_beliefs_are_carried_and_fixed(suite: Suite) -> None:
    result = run(source(_Believer), suite)
    by_name = {record.episode: record for record in result.records}
    for group in suite.groups:
        assert group.interaction is not None
        learnt = by_name[suite.specs[group.interaction].name]
        assert isinstance(learnt, EpisodeRecord)
        assert learnt.belief is not None
        assert learnt.belief.details == {"turns": list(range(41))}  # every turn, and the end
        assert learnt.beliefs[-1] == learnt.belief
        for index in group.tests:
            record = by_name[suite.specs[index].name]
            assert isinstance(record, EpisodeRecord)
            assert record.belief == learnt.belief
            assert record.beliefs == ()
            context = _Believer.told[suite.token(index)]
            assert context.belief == learnt.belief.to_belief()
            assert (context.phase, context.limit, context.known_norm) == ("seen", 40, None)


def test_only_changes_of_belief_are_kept(suite: Suite) -> None:
    class Plain(_Believer):
        def belief(self) -> Belief | None:
            return Belief(str(self.turns[-1] // 20), 0.25) if self.turns else None

    record = run(source(Plain), suite, norms=["all-exit-left"]).records[0]
    assert isinstance(record, EpisodeRecord)
    assert [(entry.turn, entry.text) for entry in record.beliefs] == [
        (0, "0"),
        (20, "1"),
        (40, "2"),
    ]


@pytest.mark.parametrize("answer", [5, -1, 1.0, "UP", None, True, [1]])
def test_wrong_actions_name_agent_and_value(suite: Suite, answer: object) -> None:
    class Wrong(WaitAgent):
        def act(self, observation: Observation) -> int:
            return answer  # type: ignore[return-value]

    with pytest.raises(ActionError) as caught:
        run(source(Wrong), suite)
    assert f"agent 'wrong': action {answer!r}" in str(caught.value)


def test_masked_actions_are_waits(suite: Suite) -> None:
    class Headlong(WaitAgent):
        def act(self, observation: Observation) -> int:
            return int(observation["action_mask"].argmin())

    walls = run(source(Headlong), suite, norms=["all-exit-left"]).episodes("seen")
    assert all(record.violations == () for record in walls)


@pytest.mark.parametrize("place", ["reset", "act", "observe", "belief"])
def test_what_an_agent_raises_is_recorded(suite: Suite, place: str) -> None:
    class Broken(RandomAgent):
        def observe(self, observation: Observation) -> None:
            pass

        def belief(self) -> Belief | None:
            return None

    def fail(*_: object) -> None:
        raise ValueError(f"in {place}")

    setattr(Broken, place, fail)
    result = run(source(Broken), suite, norms=["even-turns-only"])
    assert len(result.records) == 3
    assert result.records[0].kind == "error"
    assert isinstance(result.records[0], ErrorRecord)
    assert result.records[0].error == f"ValueError: in {place}"
    assert result.episodes("seen") == ()  # no belief, no test
    assert all("even-turns-only/interaction-1 failed" in e.error for e in result.errors[1:])


@pytest.mark.parametrize("belief", ["a text", Belief("x", 1.0, {"p": float("nan")}), 0.5])
def test_beliefs_that_cannot_be_stored_are_errors(suite: Suite, belief: object) -> None:
    class Odd(WaitAgent):
        def belief(self) -> object:
            return belief

    assert run(source(Odd), suite, norms=["bend-right-1"]).errors


def test_secrets_are_kept_out_of_records(suite: Suite, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "canary-0123456789")

    class Leaky(WaitAgent):
        def act(self, observation: Observation) -> int:
            raise RuntimeError("401 for canary-0123456789\ud800")

    result = run(source(Leaky), suite, norms=["bend-right-1"])
    text = b"".join(to_line(record) for record in result.records)
    assert b"canary" not in text
    assert b"[SOME_API_KEY]" in text


def test_records_are_strict_json(suite: Suite) -> None:
    for record in run("random", suite).records:
        line = to_line(record)
        assert line.isascii()
        json.loads(line, parse_constant=lambda name: pytest.fail(name))


def test_unknown_names(suite: Suite) -> None:
    with pytest.raises(UnknownNameError, match="norm 'even-turns'; did you mean 'even-turns-only'"):
        run("wait", suite, norms=["even-turns"])
    with pytest.raises(UnknownNameError, match="family 'acces'; did you mean 'access'"):
        run("wait", suite, families=["acces"])
    with pytest.raises(UnknownNameError, match="condition 'sen'; did you mean 'seen'"):
        run("wait", suite, condition="sen")
    with pytest.raises(ConfigError, match="no test episode for condition 'unseen'"):
        run("wait", suite, condition="unseen")
    with pytest.raises(ConfigError, match="families access"):
        run("wait", suite, norms=["even-turns-only"], families=["access"])


def test_privileges_cannot_be_claimed(suite: Suite) -> None:
    class Pushy(WaitAgent):
        privileged = True

    with pytest.raises(ConfigError, match="'pushy' asks for privileges"):
        run(source(Pushy), suite)


def test_file_names_of_agents_differ() -> None:
    names = ["random", "a.b:c", "a-b:c", "a/b:c", "A.b:c", "../x:y"]
    slugs = [make_slug(name) for name in names]
    assert len(set(slugs)) == len(names)
    assert slugs[0] == "random"
    assert not any("/" in slug or "." in slug for slug in slugs)


def test_the_layout_of_the_suite_is_the_shipped_one(cafe: Suite) -> None:
    assert cafe.layouts() == (get_layout("cafe"),)
