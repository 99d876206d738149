"""Suite files: written, read back, and refused when anything in them has changed."""

import dataclasses
import json
import re
from pathlib import Path

import numpy as np
import pytest
from small_suite import build_small_suite

from benchmarks import suite as suite_module
from benchmarks.suite import Suite, hash_map, list_suites, load_suite, make_suite, save_suite
from normgym_envs.errors import RecordError, SpecError, UnknownNameError
from normgym_envs.layouts import get_layout
from normgym_envs.norms.library import get_norm
from normgym_envs.protocol.episodes import spec_to_json


@pytest.mark.parametrize("name", list_suites())
def test_shipped_suites_load(name: str) -> None:
    shipped = load_suite(name)
    assert shipped.name == name
    for norm in shipped.norms:
        assert norm == get_norm(norm.id), "the suite holds an older row than the library"


def test_cafe_is_the_papers_seen_half() -> None:
    cafe = load_suite("cafe")
    assert len(cafe.groups) == 50
    assert all(group.interaction is not None and len(group.tests) == 3 for group in cafe.groups)
    sizes = {"access": 36, "procedure": 33, "coordination": 48, "allocation": 33}
    for family, size in sizes.items():
        assert sum(len(g.tests) for g in cafe.groups if g.family == family) == size


def test_a_suite_survives_its_file(suite: Suite, tmp_path: Path) -> None:
    path = save_suite(suite, tmp_path)
    again = load_suite(path)
    assert again.sha256 == suite.sha256
    assert [spec_to_json(spec) for spec in again.specs] == [spec_to_json(s) for s in suite.specs]
    assert again.norms == suite.norms
    first = path.read_bytes()
    assert save_suite(again, tmp_path).read_bytes() == first
    assert build_small_suite().sha256 == suite.sha256


def test_any_change_moves_the_hash(suite: Suite) -> None:
    spec = suite.specs[1]
    persons = spec.persons.copy()
    persons["delay"][1, 1] += 1
    norm = dataclasses.replace(suite.norms[0], parameters={"doors": ("B",)})
    layout_hashes = {"cafe": "0" * 64}
    changed = [
        dataclasses.replace(suite, specs=(suite.specs[0], dataclasses.replace(spec, seed=1))),
        dataclasses.replace(
            suite, specs=(suite.specs[0], dataclasses.replace(spec, persons=persons))
        ),
        dataclasses.replace(suite, norms=(norm, *suite.norms[1:])),
        dataclasses.replace(suite, layout_hashes=layout_hashes),
        dataclasses.replace(suite, version=2),
    ]
    assert len({suite.sha256, *(other.sha256 for other in changed)}) == 6


def test_a_byte_of_the_map_moves_its_hash() -> None:
    cafe = get_layout("cafe")
    cells = cafe.cells.copy()
    cells[5, 5] ^= 1
    assert hash_map(dataclasses.replace(cafe, cells=cells)) != hash_map(cafe)


def test_a_suite_made_for_another_map_is_refused(
    suite: Suite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = save_suite(suite, tmp_path)
    cafe = get_layout("cafe")
    zones = np.where(cafe.zones == 1, 0, cafe.zones).astype(np.int8)
    other = dataclasses.replace(cafe, zones=zones)
    monkeypatch.setattr(suite_module, "get_layout", lambda name: other)
    with pytest.raises(RecordError, match=r"made for layout 'cafe'.*build the suite again"):
        load_suite(path)


def test_an_edited_file_is_refused_with_both_hashes(suite: Suite, tmp_path: Path) -> None:
    path = save_suite(suite, tmp_path)
    lines = path.read_text().splitlines()
    row = json.loads(lines[2])
    row["limit"] += 1
    lines[2] = json.dumps(row)
    path.write_text("\n".join(lines))
    with pytest.raises(RecordError) as caught:
        load_suite(path)
    assert str(path) in str(caught.value)
    assert suite.sha256 in str(caught.value)
    assert len(set(re.findall(r"[0-9a-f]{64}", str(caught.value)))) == 2


@pytest.mark.parametrize(
    ("line", "text", "said"),
    [
        (1, "not json", "line 2 is no JSON"),
        (0, "{}", "format is None; expected 1"),
        (1, "[]", "line 2 is no JSON object"),
        (2, '{"name": 1}', "episode without"),
        (1, '{"seed": NaN}', "NaN is no strict JSON"),
    ],
)
def test_a_damaged_file_is_refused(
    suite: Suite, tmp_path: Path, line: int, text: str, said: str
) -> None:
    path = save_suite(suite, tmp_path)
    lines = path.read_text().splitlines()
    lines[line] = text
    path.write_text("\n".join(lines))
    with pytest.raises(RecordError, match=said):
        load_suite(path)


def test_a_shortened_file_is_refused(suite: Suite, tmp_path: Path) -> None:
    path = save_suite(suite, tmp_path)
    path.write_text("\n".join(path.read_text().splitlines()[:-1]))
    with pytest.raises(RecordError, match="edited or damaged"):
        load_suite(path)
    path.write_text("")
    with pytest.raises(RecordError, match="format is 'nothing'"):
        load_suite(path)


def test_unknown_suites_name_near_ones(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match="unknown suite 'caffe'; did you mean 'cafe'"):
        load_suite("caffe")
    with pytest.raises(RecordError, match="cannot be read"):
        load_suite(tmp_path / "none.jsonl")


def test_episodes_that_cannot_be_told_apart_are_refused(suite: Suite) -> None:
    first, second, *_ = suite.specs
    with pytest.raises(SpecError, match="two episodes are named"):
        make_suite("twice", 1, [first, first])
    with pytest.raises(SpecError, match="more than one interaction"):
        make_suite("twice", 1, [first, dataclasses.replace(second, phase="interaction")])
    with pytest.raises(SpecError, match="phase 'free'"):
        make_suite("free", 1, [dataclasses.replace(first, phase="free")])
    with pytest.raises(SpecError, match="has no norm"):
        make_suite("none", 1, [dataclasses.replace(first, norms=())])


def test_tokens_tell_nothing(suite: Suite) -> None:
    tokens = [suite.token(index) for index in range(len(suite.specs))]
    assert len(set(tokens)) == len(tokens)
    assert all(len(token) == 16 and int(token, 16) >= 0 for token in tokens)
