"""What a format can hold comes back equal, whatever the text, the identifiers and the types are."""

import re
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from example_numbers import up_to
from formats.corpora import (
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
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from sandscore.annotations.label_codes import allowed
from sandscore.formats import (
    FORMATS,
    brat_standoff,
    conll_columns,
    conll_writing,
    i2b2_xml,
    neleval_tsv,
    nlpsandbox_bundle,
    presidio_json,
    sandscore_json,
)
from sandscore.formats.conversion import Conversion, convert
from sandscore.formats.corpus import FLAT, AnnotatedNote, Corpus, CorpusNote, LossJournal, Mark
from sandscore.formats.format_files import save
from sandscore.formats.tag_schemes import Scheme
from sandscore.records.document import Annotation
from sandscore.task_table.task import TASKS

pytestmark = pytest.mark.slow

EXAMPLES = settings(max_examples=up_to(60), deadline=None)


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
    assert by_note(whole(brat_standoff.read, brat_standoff.write, corpus)) == by_note(corpus)


@EXAMPLES
@given(flat_corpora(ids=st.from_regex(r"\A[0-9]{1,3}-[0-9]{1,2}\Z"), held_texts=xml_texts))
def test_i2b2(corpus: Corpus) -> None:
    back = whole(i2b2_xml.read, i2b2_xml.write, corpus)
    named = (replace(e, note=replace(e.note, patient=e.note.id.partition("-")[0])) for e in corpus.entries)
    assert by_note(back) == by_note(Corpus(tuple(named)))


@EXAMPLES
@given(flat_corpora())
def test_presidio(corpus: Corpus) -> None:
    assert whole(presidio_json.read, presidio_json.write, corpus) == corpus


@EXAMPLES
@given(flat_corpora(ids=st.text(st.sampled_from("ab %/\u2028é"), min_size=1, max_size=4)))
def test_neleval(corpus: Corpus) -> None:
    assert whole(neleval_tsv.read, neleval_tsv.write, corpus, notes=notes_of(corpus)) == corpus


@pytest.mark.parametrize("scheme", ["bio", "biluo", "iobes", "io"])
def test_conll_beside_its_notes(scheme: Scheme) -> None:
    shape = _apart if scheme == "io" else _within_words

    @EXAMPLES
    @given(flat_corpora(shape=shape))
    def comes_back(corpus: Corpus) -> None:
        write = partial(conll_writing.write, scheme=scheme)
        back = whole(conll_columns.read, write, corpus, notes=notes_of(corpus))
        assert back == corpus

    comes_back()


@EXAMPLES
@given(flat_corpora(shape=_within_words))
def test_conll_alone_keeps_every_token_and_offset(corpus: Corpus) -> None:
    back = whole(conll_columns.read, conll_writing.write, corpus)
    for entry, again in zip(corpus.entries, back.entries, strict=True):
        assert again.note.id == entry.note.id
        assert (again.note.text or "").split() == (entry.note.text or "").split()
        assert [_place(mark) for mark in again.marks] == [_place(mark) for mark in entry.marks]


def _place(mark: Mark) -> tuple[int, int, str | None]:
    return mark.annotation.start, mark.annotation.length, mark.annotation.label


@EXAMPLES
@given(task_corpora())
def test_nlpsandbox_bundle(corpus: Corpus) -> None:
    assert by_note(whole(nlpsandbox_bundle.read_bundle, nlpsandbox_bundle.write_bundle, corpus)) == by_note(corpus)


@EXAMPLES
@given(task_corpora())
def test_nlpsandbox_list(corpus: Corpus) -> None:
    back = whole(nlpsandbox_bundle.read_list, nlpsandbox_bundle.write_list, corpus, notes=notes_of(corpus))
    assert back.entries == corpus.entries


@EXAMPLES
@given(task_corpora((*NATIVE, FLAT)))
def test_ours(corpus: Corpus) -> None:
    assert whole(sandscore_json.read, sandscore_json.write, corpus).entries == corpus.entries


@st.composite
def _labelled(draw: st.DrawFn, task_id: str) -> Corpus:
    task = TASKS[task_id]
    text = draw(st.text(st.sampled_from("ab .7é𝒳"), max_size=30))
    choices: list[str | None] = list(allowed(task, task.label) or ()) if task.label else []
    labels = st.sampled_from(choices + ([] if task.label_required else [None]))
    found = _apart(text, draw(spans(text)))
    marks = (Mark(task_id, Annotation(s, e - s, text[s:e], draw(labels))) for s, e in found)
    return Corpus((AnnotatedNote(CorpusNote("7-1", text, "7"), tuple(marks)),), (task_id,))


@pytest.mark.parametrize("task_id", ["person-name", "address", "location", "id", "contact"])
@pytest.mark.parametrize("name", [row.name for row in FORMATS if row.flat])
def test_labels_survive_every_format_with_types(name: str, task_id: str) -> None:
    @settings(max_examples=up_to(10), deadline=None)
    @given(_labelled(task_id))
    def survive(corpus: Corpus) -> None:
        with TemporaryDirectory() as room:
            made = Path(room)
            save(sandscore_json.write(corpus, LossJournal()), made / "ours", force=False)
            task, notes = (TASKS[task_id],), notes_of(corpus)
            out = Conversion(FORMATS.find("ours"), FORMATS.find(name), (made / "ours",), task)
            save(convert(out, LossJournal())[1], made / "theirs", force=False)
            back = Conversion(FORMATS.find(name), FORMATS.find("ours"), (made / "theirs",), task, notes)
            assert convert(back, LossJournal())[0].entries == corpus.entries

    survive()


@EXAMPLES
@given(st.lists(identifiers, unique=True, max_size=4), texts)
def test_identifiers_never_leave_the_directory(names: list[str], text: str) -> None:
    corpus = Corpus(tuple(AnnotatedNote(CorpusNote(name, text)) for name in names))
    with TemporaryDirectory() as room:
        save(brat_standoff.write(corpus, LossJournal()), Path(room) / "deep" / "out", force=False)
        made = [path for path in Path(room).rglob("*") if path.is_file()]
        assert len(made) == 2 * len(names)
        assert {path.parent for path in made} <= {Path(room) / "deep" / "out"}
