"""What the tests and the interactions of a suite are worth: matrix, evidence, builders."""

import numpy as np
import pytest

from benchmarks.build import HUMAN_NORMS, assign_places, build_norm, derive_suite
from benchmarks.evidence import report_evidence
from benchmarks.identification import find_turn, summarise_identification
from benchmarks.matrix import implies_in_time, play_matrix, summarise
from benchmarks.matrix import to_json as matrix_to_json
from benchmarks.records import BeliefEntry, EpisodeRecord
from benchmarks.suite import Suite, load_suite, make_suite
from normgym_envs import get_norm, load_norms
from normgym_envs.constants import FAMILIES
from normgym_envs.errors import UnknownNameError
from normgym_envs.layouts import MAIN_LAYOUTS

NORMS = ("all-exit-left", "left-door-forbidden", "right-door-forbidden", "even-turns-only")


@pytest.fixture(scope="module")
def part() -> Suite:
    specs = [spec for spec in load_suite("cafe").specs if spec.norms[0] in NORMS]
    return make_suite("part", 1, specs)


def test_the_matrix_has_a_full_diagonal_and_knows_what_implies_what(part: Suite) -> None:
    matrix = play_matrix(part)
    figures = summarise(matrix)
    assert matrix.norms == NORMS
    assert figures["diagonal_min"] == 100
    assert matrix.num_tests.tolist() == [3, 3, 3, 3]
    left, right = NORMS.index("all-exit-left"), NORMS.index("right-door-forbidden")
    assert matrix.implied[left, right], "whoever leaves by the left door avoids the right one"
    assert not matrix.implied[right, left]
    assert matrix.joint[left, right] == 100
    assert ["all-exit-left", "right-door-forbidden", True] in figures["full"]
    assert matrix.joint[NORMS.index("left-door-forbidden"), left] == 0
    values = matrix_to_json(matrix)
    assert values["norms"] == list(NORMS)
    assert np.array(values["joint"]).shape == (4, 4)


def test_norms_about_time_imply_each_other_over_time() -> None:
    def implies(first: str, second: str) -> bool:
        return implies_in_time(get_norm(first), get_norm(second))

    assert implies("even-turns-only", "move-1-wait-1")
    assert implies("no-turns-1-mod-3", "move-2-wait-1")
    assert not implies("no-turns-1-mod-3", "move-1-wait-1")
    assert implies("move-2-wait-1", "move-3-wait-1")
    assert not implies("move-3-wait-1", "move-2-wait-1")
    assert not implies("move-1-wait-1", "even-turns-only")
    assert not implies("even-turns-only", "odd-turns-only")


def test_the_matrix_does_not_depend_on_the_batch(
    part: Suite, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = play_matrix(part)
    monkeypatch.setattr("benchmarks.matrix.CHUNK", 7)
    assert (play_matrix(part).joint == whole.joint).all()


def test_evidence_of_an_interaction(part: Suite) -> None:
    found = report_evidence(part)
    assert [entry.norm for entry in found] == list(NORMS)
    for entry in found:
        assert entry.equivalent == (entry.norm,)
        assert entry.sanctioned >= 3
        assert entry.informative >= 5
        assert 0 < entry.settled_by_all <= 200
        assert entry.left_by_all == ()
        assert entry.own_violations == 0
        by_others = entry.settled_by_others
        assert by_others < 0 or by_others >= entry.settled_by_all


def test_building_gives_the_shipped_bytes() -> None:
    library = load_norms()
    shipped = {spec.name: spec for spec in load_suite("cafe").specs}
    norm = get_norm("move-3-wait-1")
    row = [known.id for known in library].index(norm.id)
    for built in build_norm(norm, row):
        stored = shipped[built.spec.name]
        assert built.spec.seed == stored.seed
        assert (built.spec.persons == stored.persons).all()
        assert built.spec.priority == stored.priority


def test_places_cover_all_nine_and_go_round_in_each_family() -> None:
    places = assign_places()
    assert set(places) == set(MAIN_LAYOUTS[1:])
    for family in FAMILIES:
        own = [p for p, norm in zip(places, load_norms(), strict=True) if norm.family == family]
        assert own[: min(9, len(own))] == list(MAIN_LAYOUTS[1 : 1 + min(9, len(own))])


def test_parts_of_main_are_what_they_say() -> None:
    main = load_suite("main")
    assert len(main.specs) == 350
    assert len(main.groups) == 50
    human = derive_suite("human", main)
    counts = [sum(norm.family == family for norm in human.norms) for family in FAMILIES]
    assert tuple(counts) == HUMAN_NORMS
    assert len(derive_suite("finetune", main).norms) == 17
    lite = derive_suite("lite", main)
    assert len(lite.norms) == 12
    assert len(lite.specs) == 36
    known = {spec.name for spec in main.specs}
    assert {spec.name for spec in lite.specs} <= known
    for name in ("lite", "smoke", "human", "finetune"):
        assert derive_suite(name, main).sha256 == load_suite(name).sha256
    with pytest.raises(UnknownNameError, match="did you mean 'lite'"):
        derive_suite("light", main)


def test_identification_is_the_turn_from_which_the_right_belief_is_held() -> None:
    def record(*beliefs: tuple[int, str]) -> EpisodeRecord:
        entries = tuple(
            BeliefEntry(turn=turn, text=text, confidence=1.0, details={}) for turn, text in beliefs
        )
        return EpisodeRecord.model_construct(
            phase="interaction", family="access", norms=("n",), beliefs=entries
        )

    assert find_turn(record((0, "x"), (5, "right"), (9, "x"), (12, "right")), "right") == 12
    assert find_turn(record((3, "right"), (7, "right")), "right") == 3
    assert find_turn(record((3, "right"), (7, "x")), "right") is None
    entries = [record((4, "right")), record((10, "right")), record((0, "x"))]
    (found,) = summarise_identification(entries, {"n": "right"})
    assert (found.family, found.num, found.num_right, found.median_turn) == ("access", 3, 2, 10)
    (never,) = summarise_identification([record((0, "x"))], {"n": "right"})
    assert never.median_turn is None
