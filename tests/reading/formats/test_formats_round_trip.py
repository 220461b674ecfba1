"""What a format can hold comes back equal, whatever the text, the identifiers and the types are."""

import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reading.formats.corpora import (
    NATIVE,
    by_note,
    disjoint,
    flat_corpora,
    identifiers,
    notes_of,
    spans,
    task_corpora,
    texts,
    trimmed,
    whole,
    xml_texts,
)

from sandscore.reading.formats import brat, conll, conllwriting, i2b2, neleval, nlpsandbox, ours, presidio
from sandscore.reading.formats.conversion import Conversion, convert
from sandscore.reading.formats.corpus import FLAT, Corpus, Entry, Journal, Mark, Note
from sandscore.reading.formats.files import save
from sandscore.reading.formats.table import FORMATS
from sandscore.reading.formats.tagging import Scheme
from sandscore.reading.labels import allowed
from sandscore.records.documents import Annotation
from sandscore.tasks import TASKS

EXAMPLES = settings(max_examples=60, deadline=None)


def _within_lines(text: str, found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    return [kept for span in found if (kept := trimmed(text, span, r"[\r\n]"))]


def _within_words(text: str, found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    kept: list[tuple[int, int]] = disjoint([span for s in found if (span := trimmed(text, s, r"\s"))])
    return kept


def _apart(text: str, found: list[tuple[int, int]]) -> list[tuple[int, int]]:
    kept: list[tuple[int, int]] = []
    for start, end in _within_words(text, found):
        if not kept or re.search(r"\S", text[kept[-1][1] : start]):
            kept.append((start, end))
    return kept


@EXAMPLES
@given(flat_corpora(shape=_within_lines))
def test_brat(corpus: Corpus) -> None:
    assert by_note(whole(brat.read, brat.write, corpus)) == by_note(corpus)


@EXAMPLES
@given(flat_corpora(ids=st.from_regex(r"\A[0-9]{1,3}-[0-9]{1,2}\Z"), held_texts=xml_texts))
def test_i2b2(corpus: Corpus) -> None:
    back = whole(i2b2.read, i2b2.write, corpus)
    named = (replace(e, note=replace(e.note, patient=e.note.id.partition("-")[0])) for e in corpus.entries)
    assert by_note(back) == by_note(Corpus(tuple(named)))


@EXAMPLES
@given(flat_corpora())
def test_presidio(corpus: Corpus) -> None:
    assert whole(presidio.read, presidio.write, corpus) == corpus


@EXAMPLES
@given(flat_corpora(ids=st.text(st.sampled_from("ab %/\u2028é"), min_size=1, max_size=4)))
def test_neleval(corpus: Corpus) -> None:
    assert whole(neleval.read, neleval.write, corpus, notes=notes_of(corpus)) == corpus


@pytest.mark.parametrize("scheme", ["bio", "biluo", "iobes", "io"])
def test_conll_beside_its_notes(scheme: Scheme) -> None:
    shape = _apart if scheme == "io" else _within_words

    @EXAMPLES
    @given(flat_corpora(shape=shape))
    def comes_back(corpus: Corpus) -> None:
        write = partial(conllwriting.write, scheme=scheme)
        back = whole(conll.read, write, corpus, notes=notes_of(corpus))
        assert back == corpus

    comes_back()


@EXAMPLES
@given(flat_corpora(shape=_within_words))
def test_conll_alone_keeps_every_token_and_offset(corpus: Corpus) -> None:
    back = whole(conll.read, conllwriting.write, corpus)
    for entry, again in zip(corpus.entries, back.entries, strict=True):
        assert again.note.id == entry.note.id
        assert (again.note.text or "").split() == (entry.note.text or "").split()
        assert [_place(mark) for mark in again.marks] == [_place(mark) for mark in entry.marks]


def _place(mark: Mark) -> tuple[int, int, str | None]:
    return mark.annotation.start, mark.annotation.length, mark.annotation.label


@EXAMPLES
@given(task_corpora())
def test_nlpsandbox_bundle(corpus: Corpus) -> None:
    assert by_note(whole(nlpsandbox.read_bundle, nlpsandbox.write_bundle, corpus)) == by_note(corpus)


@EXAMPLES
@given(task_corpora())
def test_nlpsandbox_list(corpus: Corpus) -> None:
    back = whole(nlpsandbox.read_list, nlpsandbox.write_list, corpus, notes=notes_of(corpus))
    assert back.entries == corpus.entries


@EXAMPLES
@given(task_corpora((*NATIVE, FLAT)))
def test_ours(corpus: Corpus) -> None:
    assert whole(ours.read, ours.write, corpus).entries == corpus.entries


@st.composite
def _labelled(draw: st.DrawFn, task_id: str) -> Corpus:
    task = TASKS[task_id]
    text = draw(st.text(st.sampled_from("ab .7é𝒳"), max_size=30))
    choices: list[str | None] = list(allowed(task, task.label) or ()) if task.label else []
    labels = st.sampled_from(choices + ([] if task.label_required else [None]))
    found = _apart(text, draw(spans(text)))
    marks = (Mark(task_id, Annotation(s, e - s, text[s:e], draw(labels))) for s, e in found)
    return Corpus((Entry(Note("7-1", text, "7"), tuple(marks)),), (task_id,))


@pytest.mark.parametrize("task_id", ["person-name", "address", "location", "id", "contact"])
@pytest.mark.parametrize("name", [name for name, row in FORMATS.items() if row.flat])
def test_labels_survive_every_format_with_types(name: str, task_id: str) -> None:
    @settings(max_examples=10, deadline=None)
    @given(_labelled(task_id))
    def survive(corpus: Corpus) -> None:
        with TemporaryDirectory() as room:
            made = Path(room)
            save(ours.write(corpus, Journal()), made / "ours", force=False)
            task, notes = (TASKS[task_id],), notes_of(corpus)
            out = Conversion(FORMATS["ours"], FORMATS[name], (made / "ours",), task)
            save(convert(out, Journal())[1], made / "theirs", force=False)
            back = Conversion(FORMATS[name], FORMATS["ours"], (made / "theirs",), task, notes)
            assert convert(back, Journal())[0].entries == corpus.entries

    survive()


@EXAMPLES
@given(st.lists(identifiers, unique=True, max_size=4), texts)
def test_identifiers_never_leave_the_directory(names: list[str], text: str) -> None:
    corpus = Corpus(tuple(Entry(Note(name, text)) for name in names))
    with TemporaryDirectory() as room:
        save(brat.write(corpus, Journal()), Path(room) / "deep" / "out", force=False)
        made = [path for path in Path(room).rglob("*") if path.is_file()]
        assert len(made) == 2 * len(names)
        assert {path.parent for path in made} <= {Path(room) / "deep" / "out"}
