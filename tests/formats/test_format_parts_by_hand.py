"""Parts of formats, by hand: tokens that make words, and what of a benchmark's document is not its annotations."""

import json
from pathlib import Path
from typing import Any

import pytest
from struct_values import changeable

from sandscore.formats import tab_json
from sandscore.formats.corpus import Corpus, LossJournal
from sandscore.formats.token_items import whole_words


def token(entity: str, start: int | None, end: int | None, **more: Any) -> dict[str, Any]:
    return {"entity": entity, "start": start, "end": end, **more}


@pytest.mark.parametrize(
    ("first", "second", "joined"),
    [
        (token("B-DATE", 0, 4), token("I-DATE", 5, 9), True),
        (token("B-DATE", 0, 4), token("E-DATE", 4, 9), True),
        (token("B-DATE", 0, 4), token("I-DATE", 6, 9), False),
        (token("B-DATE", 0, 4), token("B-DATE", 5, 9), False),
        (token("B-DATE", 0, 4), token("S-DATE", 5, 9), False),
        (token("B-DATE", 0, 4), token("I-NAME", 5, 9), False),
        (token("B-DATE", 0, None), token("I-DATE", 5, 9), False),
        (token("B-DATE", 0, 4), token("I-DATE", None, 9), False),
        (token("B-DATE", 0, 4, index=1), token("I-DATE", 90, 95, index=2.0), True),
        (token("B-DATE", 0, 4, index=1), token("I-DATE", 5, 9, index=3), False),
        (token("B-DATE", 0, 4, index=1), token("I-DATE", 5, 9), True),
    ],
)
def test_a_token_goes_on_with_the_next_by_number_or_by_place(
    first: dict[str, Any], second: dict[str, Any], joined: bool
) -> None:
    words, count = whole_words([first, second])
    assert (len(words), count) == ((1, 1) if joined else (2, 0))
    assert [(word["start"], word["end"]) for word in words] == (
        [(first["start"], second["end"])] if joined else [(one["start"], one["end"]) for one in (first, second)]
    )


def test_a_word_that_begins_inside_is_one_and_what_is_no_token_stays() -> None:
    other = {"entity_group": "DATE", "start": 0, "end": 4}
    words, count = whole_words([token("I-DATE", 0, 4, score=0.5, word="x"), other, "nonsense"])
    assert words == [{"entity_group": "DATE", "start": 0, "end": 4, "score": 0.5, "word": "x"}, other, "nonsense"]
    assert count == 0


def read(folder: Path, people: dict[str, Any], annotator: str | None, meta: dict[str, Any]) -> Corpus:
    path = folder / "tab.json"
    document = {"doc_id": "a", "text": "Oslo", "annotations": people, "meta": meta}
    path.write_text(json.dumps([document]), encoding="utf-8")
    return tab_json.read([path], LossJournal(annotator=annotator))


MARKED = {"entity_mentions": [{"entity_type": "LOC", "span_text": "Oslo", "start_offset": 0, "end_offset": 4}]}
NOBODYS = ("annotators", "[]")


@pytest.mark.parametrize(
    ("annotator", "more", "marks"),
    [(None, (), 1), ("*", (), 1), ("one", (), 1), ("two", (NOBODYS,), 0)],
)
def test_a_document_that_somebody_else_annotated_says_so(
    annotator: str | None, more: tuple[tuple[str, str], ...], marks: int, tmp_path: Path
) -> None:
    [entry] = read(tmp_path, {"one": MARKED}, annotator, {}).entries
    assert tuple((name.lower(), said) for name, said in entry.note.more) == more
    assert len(entry.marks) == marks


def test_what_a_document_says_beside_our_facts_is_kept(tmp_path: Path) -> None:
    [entry] = read(tmp_path, {"one": MARKED}, None, {"patientId": "p1", "year": 2001}).entries
    assert entry.note.more == (("meta", '{"year": 2001}'),)


def test_what_is_read_stays_as_it_is() -> None:
    assert changeable("formats") == {
        "ConllPart", "_Document", "_PackedDocs", "_Group", "StringTable", "LossJournal"
    }  # fmt: skip
