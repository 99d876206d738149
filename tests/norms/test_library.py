"""Norm rows: what sound ones become, and the message for each way to break one."""

from pathlib import Path

import pytest

from normgym_envs.constants import FAMILIES, Goal1
from normgym_envs.errors import NormError, UnknownNameError
from normgym_envs.norms.library import (
    KINDS,
    describe_condition,
    get_norm,
    goal_kinds,
    list_norms,
    load_norms,
    num_slots,
    read_norm,
)
from normgym_envs.norms.parameters import Kind
from normgym_envs.types import Norm, Scope

ROW = """
[[norm]]
id = "blue-right"
family = "access"
kind = "exit_doors"
sentence = "Blue people leave by the right door."
parameters = { doors = ["C"] }
scope = { groups = ["blue"], turns = [10, 50] }
"""


def test_ids_are_unique_and_sentences_say_more_than_ids() -> None:
    norms = load_norms()
    assert len({norm.id for norm in norms}) == len({norm.sentence for norm in norms}) == len(norms)
    for norm in norms:
        assert norm.sentence.endswith(".")
        assert norm.id not in norm.sentence
        assert norm.sentence.lower().replace(" ", "-").rstrip(".") != norm.id


@pytest.mark.parametrize("norm", load_norms(), ids=lambda norm: norm.id)
def test_conditions_read_as_sentences(norm: Norm) -> None:
    words = describe_condition(norm)
    assert words.endswith(".")
    assert "{" not in words


@pytest.mark.parametrize("norm", load_norms(), ids=lambda norm: norm.id)
def test_queue_sentences_say_the_shape_and_how_to_join(norm: Norm) -> None:
    if norm.kind == "queue_path":
        for leg in norm.parameters["legs"]:
            assert leg.split("-")[0].split()[0] in norm.sentence
        assert "joins at the tail" in norm.sentence
        assert "cell by cell" in norm.sentence


def test_lookup_and_filters() -> None:
    assert get_norm("all-exit-bottom").parameters == {"doors": ("B",)}
    assert list_norms() == tuple(norm.id for norm in load_norms())
    assert [len(list_norms(family)) for family in FAMILIES] == [12, 11, 16, 11]
    assert len(list_norms(split="train")) == 33
    assert len(list_norms("procedure", "held-out")) == 4
    with pytest.raises(UnknownNameError, match="did you mean 'all-exit-bottom'"):
        get_norm("all-exits-bottom")
    with pytest.raises(UnknownNameError, match="unknown family 'acces'; did you mean 'access'"):
        list_norms("acces")
    with pytest.raises(UnknownNameError, match="unknown split 'test'; expected one of: train"):
        list_norms(split="test")


def test_goals_and_slots() -> None:
    assert goal_kinds(get_norm("bend-left-1")) == (Goal1.COUNTER, False)
    assert goal_kinds(get_norm("group-doors-abc")) == (Goal1.PLACE, True)
    assert [num_slots(get_norm(name)) for name in ("square-left", "no-bottom-left-seats")] == [
        10,
        8,
    ]
    assert num_slots(get_norm("forbidden-zone-q")) == 6


def test_defaults_of_a_kind_are_filled_in() -> None:
    assert get_norm("bend-left-1").parameters == {
        "legs": ("left 1", "away *"),
        "repeat": False,
        "length": 0,
    }
    assert get_norm("bend-left-1").scope == Scope()


def test_every_kind_has_a_norm_of_its_own() -> None:
    assert {norm.kind for norm in load_norms()} == set(KINDS)
    assert all(isinstance(kind, Kind) for kind in KINDS.values())


def test_a_file_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text(ROW, encoding="utf-8")
    (norm,) = load_norms(file)
    assert norm.split == "train"
    assert norm.scope == Scope(groups=("blue",), turns=(10, 50))


BREACHES = [
    ('kind = "exit_doors"', 'kind = "exit_door"', "unknown kind 'exit_door'; did you mean 'exit_d"),
    ('kind = "exit_doors"', "", "kind is missing; expected one of: zone_forbidden"),
    ('family = "access"', 'family = "acess"', "unknown family 'acess'; did you mean 'access'"),
    (
        'family = "access"',
        'split = "test"\nfamily = "access"',
        "unknown split 'test'; expected one",
    ),
    ('id = "blue-right"', 'id = "Blue right"', "id is 'Blue right'; expected lower-case words"),
    ("sentence =", "sentense =", "unknown field 'sentense'; did you mean 'sentence'"),
    ('"Blue people leave by the right door."', '""', "sentence is ''; expected the norm as a"),
    ("doors =", "dors =", "parameter 'doors' is missing; expected a list of permitted doors"),
    ('{ doors = ["C"] }', '{ doors = ["C"], dors = 1 }', "unknown parameter 'dors'; did you mean"),
    ('["C"]', '["D"]', "parameter 'doors' has 'D'; expected a list of permitted doors out of"),
    ('["C"]', '"C"', "parameter 'doors' has 'C'; expected a list of permitted doors out of"),
    ('["C"]', "[]", r"parameter 'doors' has \[\]; expected a list of permitted doors out of"),
    ('{ doors = ["C"] }', "3", "parameters is 3; expected a table"),
    ('["blue"]', '["bleu"]', "scope.groups: unknown group 'bleu'; did you mean 'blue'"),
    ('["blue"]', "[]", r"scope.groups is \[\]; expected a list of groups"),
    ("[10, 50]", "[50, 10]", r"scope.turns is \[50, 10\]; expected \[first, end\] with 0 <="),
    ("turns =", "turn =", "scope: unknown field 'turn'; expected groups or turns"),
]


@pytest.mark.parametrize(("old", "new", "message"), BREACHES)
def test_broken_rows_say_what_was_expected(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    file = tmp_path / "own.toml"
    file.write_text(ROW.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(NormError, match=message) as caught:
        load_norms(file)
    assert str(caught.value).startswith("own.toml: row 1")


@pytest.mark.parametrize(
    ("kind", "parameters", "message"),
    [
        ("turn_residues", {"modulus": 3, "residues": [3]}, r"residues \[3\]; expected whole numb"),
        ("turn_residues", {"modulus": 3, "residues": [1, 1]}, "expected each number once"),
        ("turn_residues", {"modulus": True, "residues": [0]}, "'modulus' has True; expected a wh"),
        ("move_wait", {"moves": 0}, "parameter 'moves' has 0; expected a whole number from 1"),
        ("move_wait", {"moves": "2"}, "parameter 'moves' has '2'; expected a whole number"),
        ("queue_path", {"legs": ["rigt 1"]}, "direction 'rigt'; .* did you mean 'right'"),
        ("queue_path", {"legs": ["right x"]}, "count 'x'; expected a number from 1, or *"),
        ("queue_path", {"legs": ["right"]}, "count ''; expected a number from 1, or *"),
        ("queue_path", {"legs": ["away *"], "length": 11}, "'length' has 11; expected a whole"),
        ("ring_direction", {"direction": "clockwize"}, "did you mean 'clockwise'"),
        ("exit_doors", {"doors": ["A", "A"]}, "expected each once"),
        ("exit_doors", {"doors": ["A", "B", "C"]}, "permits everything"),
        ("seat_regions", {"regions": ["TL", "TL"]}, "expected each once"),
        ("turn_residues", {"modulus": 2, "residues": [0, 1]}, "permit every turn"),
        ("visit_first", {"zone": "R"}, 'expected "Q"'),
        ("zone_capacity", {"zone": "S", "capacity": 1}, "parameter 'zone' has 'S'; expected \"R\""),
        ("group_seats", {"orange": "TL", "green": "BL"}, "'blue' is missing; expected the blue gr"),
        ("seat_order", {"order": "left"}, "'order' has 'left'; expected \"left-to-right\" or"),
    ],
)
def test_parameters_are_checked_by_kind(
    kind: str, parameters: dict[str, object], message: str
) -> None:
    row = {
        "id": "my-norm",
        "family": "procedure",
        "kind": kind,
        "sentence": "Some sentence.",
        "parameters": parameters,
    }
    with pytest.raises(NormError, match=message) as caught:
        read_norm(row, "here: row 7")
    assert str(caught.value).startswith("here: row 7 'my-norm'")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[norm]", "not valid TOML"),
        ("norms = []", "unknown key 'norms'; expected"),
        ("", "no rows; expected"),
        (ROW + ROW, "row 2 'blue-right': the id is used twice"),
    ],
)
def test_broken_files_are_named(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "own.toml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(NormError, match=message):
        load_norms(file)
    with pytest.raises(NormError, match=r"absent.toml: cannot be read"):
        load_norms(tmp_path / "absent.toml")
