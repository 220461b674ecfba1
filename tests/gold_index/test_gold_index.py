"""A gold index gives the card that gold and notes give, byte by byte, or is refused in a sentence."""

import json
import shutil
from contextlib import nullcontext
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from kernel_comparison import no_kernel
from msgspec import Struct
from struct_values import changeable

import sandscore as ss
from sandscore.annotations.input_files import Inputs, load_files
from sandscore.base import column_files
from sandscore.base.bundled_content import example_gold, submissions
from sandscore.base.errors import MissingFile, OrganiserFault
from sandscore.conformance.drawn_corpora import DrawnCorpus
from sandscore.gold_index import column_bundle, index_file, indexed_inputs
from sandscore.gold_index.column_bundle import DamagedBundle
from sandscore.gold_index.index_file import IndexRefused, opened_index, opened_notes
from sandscore.gold_index.indexed_inputs import write_index
from sandscore.measures.hipaa_map import load_hipaa_map
from sandscore.queue.gold_reference import Reference
from sandscore.scoring.card_building import Question, dumped
from sandscore.scoring.scoring_flow import score_files
from sandscore.task_table.task import TASKS, Task, find_task

DATE = find_task("date")
GOLD, NOTES = example_gold() / "date.json", example_gold() / "notes.json"
GOOD = submissions() / "date-good" / "predictions.json"
FLIPS = 400


def card(task: Task, inputs: Inputs, measures: tuple[str, ...] = ()) -> bytes:
    return dumped(score_files(Question(task, measures, load_hipaa_map(None)), inputs).card)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("index") / "date.index"
    write_index(DATE, GOLD, NOTES, made)
    return made


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_the_card_is_the_same(task: Task, tmp_path: Path) -> None:
    """Collisions, repeats, emoji, entities; labels that predictions bring; both forms of the file; leaks too."""
    corpus = DrawnCorpus(task, seed=11, notes=9)
    if task.id == "date":
        corpus.name_entities()
    given = corpus.files(tmp_path)
    write_index(task, Path(str(given.gold)), Path(str(given.notes)), tmp_path / "set.index")
    measures = ("char_leak", "entity_leak") if task.id == "date" else ("iou",)
    with_files = card(task, given, measures)
    assert card(task, Inputs(predictions=given.predictions, index=tmp_path / "set.index"), measures) == with_files
    both = Inputs(given.gold, given.predictions, given.notes, tmp_path / "set.index")
    assert card(task, both, measures) == with_files
    with no_kernel():
        assert card(task, both, measures) == with_files


def test_made_without_the_kernel_it_serves_with_it(tmp_path: Path) -> None:
    given = DrawnCorpus(DATE, seed=5, notes=30).files(tmp_path)
    gold, notes = Path(str(given.gold)), Path(str(given.notes))
    with no_kernel():
        write_index(DATE, gold, notes, tmp_path / "set.index")
    assert card(DATE, Inputs(predictions=given.predictions, index=tmp_path / "set.index")) == card(DATE, given)


def test_the_library_and_validation_take_it(index: Path) -> None:
    with_files = ss.score("date", gold=GOLD, notes=NOTES, predictions=GOOD)
    assert ss.score("date", gold=index, predictions=GOOD).card == with_files.card
    spans = {"100-01": [{"start": 0, "length": 3}]}
    assert ss.validate("date", spans, gold=index).to_dict() == ss.validate("date", spans, notes=NOTES).to_dict()
    assert ss.validate("date", GOOD, gold=index, notes=NOTES).ok


def test_a_flipped_bit_never_makes_a_wrong_card(index: Path, tmp_path: Path) -> None:
    whole, wanted, draw = index.read_bytes(), card(DATE, Inputs(GOLD, GOOD, NOTES)), Random(3)
    places = [draw.randrange(len(whole) * 8) for _ in range(FLIPS)] + list(range(0, 800, 7))
    refused, scored = 0, 0
    for place in places:
        flipped = bytearray(whole)
        flipped[place // 8] ^= 1 << place % 8
        (tmp_path / "flipped").write_bytes(flipped)
        try:
            assert card(DATE, Inputs(predictions=GOOD, index=tmp_path / "flipped")) == wanted, "it was padding"
            scored += 1
        except IndexRefused as fault:
            refused += "damaged" in str(fault) and fault.exit_code == 78
    assert refused + scored == len(places)
    assert refused > len(places) // 2


@pytest.mark.parametrize("size", [0, 7, 63, 4096, -4096, -1])
def test_what_is_cut_off_is_refused(index: Path, tmp_path: Path, size: int) -> None:
    (tmp_path / "cut").write_bytes(index.read_bytes()[:size])
    with pytest.raises(IndexRefused, match="no index, or damaged"):
        opened_index(tmp_path / "cut", DATE)


def test_pages_that_changed_places_are_noticed(tmp_path: Path) -> None:
    """Sums of columns alone would not tell, were a row as long as a page."""
    column = np.random.default_rng(1).integers(0, 1 << 60, 1 << 17)
    swapped = column.copy()
    swapped[512:1024], swapped[1024:1536] = column[1024:1536], column[512:1024]
    assert column_bundle.digest(swapped) != column_bundle.digest(column)


@pytest.mark.parametrize("size", [0, 1, 508, 509, 1019, 509 * 257 - 1, 509 * 257, 509 * 257 + 509, 509 * 257 * 2 + 508])
def test_digests_are_those_of_the_kernel(size: int) -> None:
    octets = np.random.default_rng(size).integers(0, 256, size * 8 + 3, np.uint8)
    for column in (octets, octets[: size * 8].view(np.int64)):
        quick = column_bundle.digest(column)
        with no_kernel():
            assert column_bundle.digest(column) == quick


@pytest.mark.parametrize("name", ["n\0", "", "é"])
def test_odd_names_are_kept(tmp_path: Path, name: str) -> None:
    """A zero in a name, no name at all, more bytes than characters."""
    notes = [
        {"identifier": "1", "note_name": one, "patientId": one and "p", "text": "10/26/2020"} for one in (name, "b")
    ]
    gold = [_entry(one, [{"start": 0, "length": 10, "text": "10/26/2020"}]) for one in ("b", name)]
    paths = {"gold": tmp_path / "gold.json", "notes": tmp_path / "notes.json"}
    for role, path in paths.items():
        path.write_text(json.dumps(gold if role == "gold" else notes), encoding="utf-8")
    write_index(DATE, paths["gold"], paths["notes"], tmp_path / "set.index")
    known = load_files(DATE, Inputs(**paths)).dataset
    found = opened_index(tmp_path / "set.index", DATE).dataset
    assert len(found.roll) == len(known.roll) == 2
    assert (found.roll.unit_of(), found.roll.ids) == (known.roll.unit_of(), known.roll.ids)
    assert (found.roll.units, found.roll.patients) == (known.roll.units, known.roll.patients)
    with_files = card(DATE, Inputs(**paths, predictions=paths["gold"]))
    assert card(DATE, Inputs(predictions=paths["gold"], index=tmp_path / "set.index")) == with_files


def test_a_card_has_names_when_its_index_is_gone(tmp_path: Path, index: Path) -> None:
    shutil.copyfile(index, tmp_path / "set.index")
    scored = ss.score("date", gold=tmp_path / "set.index", predictions=GOOD).card
    (tmp_path / "set.index").unlink()
    known = ss.score("date", gold=GOLD, notes=NOTES, predictions=GOOD).card
    assert scored.units == known.units
    assert scored.units.keys() == scored.per_note.keys() == known.units.keys()
    assert [*scored.units.values()] == [*known.units.values()]
    assert {note: scored.units[note] for note in scored.per_note} == known.units
    assert len(scored.units) == len(known.units)
    assert scored.model_dump() == known.model_dump()
    with pytest.raises(AttributeError):
        _ = opened_index(index, DATE).dataset.roll.names  # type: ignore[attr-defined]


class NoHead(Struct, frozen=True):
    """Nothing is asked of it."""


@pytest.mark.parametrize(("more", "taken"), [("", True), (',"more":1', False)])
def test_a_table_of_another_form_is_refused(more: str, taken: bool) -> None:
    """Sealed as it should be, and with something in it that no bundle has."""
    digest = column_bundle.digest(np.zeros(0, np.uint8))
    place = f'{{"name":"a","kind":"|u1","count":0,"digest":"{digest}"'
    for table in (f'{{"head":{{}},"arrays":[]{more}}}', f'{{"head":{{}},"arrays":[{place}{more}}}]}}'):
        sealed = column_bundle._seal(4096, table.encode())
        begin = column_bundle._PREAMBLE.pack(column_bundle.MAGIC, 4096, len(table), sealed)
        with nullcontext() if taken else pytest.raises(DamagedBundle, match="of another kind"):
            assert column_bundle.read(memoryview((begin + table.encode()).ljust(4096)), NoHead).size == 4096
    assert len(digest) == 32


def test_what_is_made_stays_as_it_is() -> None:
    assert changeable("gold_index") == set()


def test_untouched_files_are_not_read_again(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = opened_index(index, DATE)
    monkeypatch.setattr(index_file, "opened", None)
    found.refuse_others(GOLD, NOTES)


def test_whatever_differs_is_refused(index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other_gold, other_notes, copy = tmp_path / "gold.json", tmp_path / "notes.json", tmp_path / "copy.json"
    other_gold.write_bytes(GOLD.read_bytes() + b" ")
    other_notes.write_bytes(NOTES.read_bytes() + b" ")
    shutil.copyfile(GOLD, copy)
    assert load_files(DATE, Inputs(copy, GOOD, NOTES, index)).sha256, "the same bytes elsewhere are the same gold"
    with pytest.raises(IndexRefused, match="another gold"):
        load_files(DATE, Inputs(other_gold, GOOD, NOTES, index))
    with pytest.raises(IndexRefused, match="other notes"):
        load_files(DATE, Inputs(GOLD, GOOD, other_notes, index))
    with pytest.raises(IndexRefused, match="for the task date, not for address"):
        load_files(find_task("address"), Inputs(predictions=GOOD, index=index))
    for opened in (opened_index, opened_notes):
        with pytest.raises(MissingFile):
            opened(tmp_path / "none", DATE)
    monkeypatch.setattr(index_file, "__version__", "99.9")
    with pytest.raises(IndexRefused, match=r"this is 99\.9"):
        load_files(DATE, Inputs(predictions=GOOD, index=index))


def test_two_halves_of_two_are_refused(index: Path, tmp_path: Path) -> None:
    notes = json.loads(NOTES.read_bytes())
    (tmp_path / "notes.json").write_text(json.dumps([*notes, notes[0] | {"identifier": "more"}]), encoding="utf-8")
    write_index(DATE, GOLD, tmp_path / "notes.json", tmp_path / "other")
    halves = [path.read_bytes() for path in (index, tmp_path / "other")]
    sizes = [column_bundle.size_of(half[:64]) for half in halves]
    (tmp_path / "mixed").write_bytes(halves[1][: sizes[1]] + halves[0][sizes[0] :])
    with pytest.raises(IndexRefused, match="gold and notes are of two"):
        opened_index(tmp_path / "mixed", DATE)


def test_nothing_is_made_of_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "gold.json").write_bytes(b"[{}]")
    with pytest.raises(OrganiserFault, match="no index was made"):
        write_index(DATE, tmp_path / "gold.json", NOTES, tmp_path / "set.index")
    assert not (tmp_path / "set.index").exists()


def test_its_owner_alone_may_read_it(index: Path) -> None:
    assert index.stat().st_mode & 0o777 == 0o600


def test_of_the_notes_half_no_gold_is_mapped(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The label of a free-text task stands in gold's half alone."""
    seen: list[bytes] = []
    mapped = column_files.mapped

    def spy(descriptor: int, size: int) -> memoryview:
        data = mapped(descriptor, size)
        seen.append(bytes(data))
        return data

    monkeypatch.setattr(index_file, "mapped", spy)
    assert opened_notes(index, DATE).columns is None
    whole = index.read_bytes()
    assert seen == [whole[:64], whole[: column_bundle.size_of(whole[:64])]]
    assert b'"labels"' not in seen[1]
    assert b'"labels"' in whole


def test_whole_names_need_the_files(tmp_path: Path) -> None:
    """Two notes that end alike: predictions that name both are joined on whole names, as without an index."""
    notes = [{"identifier": "n", "note_name": f"{folder}/n", "text": "10/26/2020"} for folder in "ab"]
    one = {"start": 0, "length": 10, "text": "10/26/2020"}
    given: dict[str, Any] = {
        "notes": notes[:1],
        "gold": [_entry("a/n", [one])],
        "predictions": [_entry("a/n", [one]), _entry("b/n", [])],
    }
    paths = {role: tmp_path / f"{role}.json" for role in given}
    for role, path in paths.items():
        path.write_text(json.dumps(given[role]), encoding="utf-8")
    write_index(DATE, paths["gold"], paths["notes"], tmp_path / "set.index")
    with_files = load_files(DATE, Inputs(**paths))
    beside = load_files(DATE, Inputs(**paths, index=tmp_path / "set.index"))
    assert beside.dataset.whole_names
    assert beside.findings["predictions"].counts == with_files.findings["predictions"].counts
    with pytest.raises(OrganiserFault, match="whole names"):
        load_files(DATE, Inputs(predictions=paths["predictions"], index=tmp_path / "set.index"))


def _entry(name: str, rows: list[Any]) -> dict[str, Any]:
    return {"annotationSource": {"resourceSource": {"name": name}}, "textDateAnnotations": rows}


@pytest.mark.parametrize(
    ("fault", "why"),
    [(DamagedBundle("it ends early"), "it ends early"), (KeyError("ids"), "it holds what no index does")],
)
def test_what_is_wrong_with_an_index_is_said(fault: Exception, why: str) -> None:
    with pytest.raises(IndexRefused) as refused, index_file._damage("x.index"):
        raise fault
    assert str(refused.value) == f"x.index is no index, or damaged ({why}); sandscore index makes a new one"


def test_a_kept_one_is_used_and_a_damaged_one_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = tmp_path / "kept" / "date.index"
    first = Reference(DATE, GOLD, NOTES, index=kept).loaded
    assert kept.parent.stat().st_mode & 0o777 == 0o700
    with monkeypatch.context() as patch:
        patch.setattr(indexed_inputs, "load_files", None)
        again = Reference(DATE, GOLD, NOTES, index=kept).loaded
    assert again.sha256 == first.sha256
    assert (again.columns["gold"].start == first.columns["gold"].start).all()
    content = kept.read_bytes()
    for damaged in (content[:-9000] + bytes(9000), b"", content[:5000]):
        kept.write_bytes(damaged)
        assert Reference(DATE, GOLD, NOTES, index=kept).loaded.sha256 == first.sha256
        assert kept.read_bytes() == content
    other = tmp_path / "gold.json"
    other.write_bytes(GOLD.read_bytes() + b" ")
    assert Reference(DATE, other, NOTES, index=kept).loaded.sha256 != first.sha256
