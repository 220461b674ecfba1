"""Files that other people's libraries made (tests/peers/format_originals.py), and forms as documented by them."""

import json
import math
import struct
import zlib
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from example_numbers import up_to
from formats.corpora import by_note, flat_corpora, lost, said, texts, whole, xml_texts
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from sandscore.api import convert
from sandscore.base.errors import ParticipantFault, SandscoreError, UsageFault
from sandscore.formats import FORMATS
from sandscore.formats.corpus import AnnotatedNote, Corpus, CorpusNote, LossJournal
from sandscore.formats.format_files import save
from sandscore.formats.spacy_docbin import StringTable, string_hash, string_hashes
from sandscore.formats.uima_cas import _code_points

MADE = Path(__file__).parent / "made"
TEXT = "Ann Lee saw \U0001d4b3 Bob on May 3,\r\n  in Oslo."
NOTES = (CorpusNote("n1", TEXT), CorpusNote("n2", ""))
ANN, BOB, DAY = (0, 7, "Ann Lee"), (14, 17, "Bob"), (21, 26, "May 3")


def read(form: str, path: Path, notes: Any = NOTES[:1], **how: Any) -> tuple[Corpus, LossJournal]:
    journal = LossJournal(**how)
    return FORMATS.find(form).reads([path], journal, notes), journal


def sure(corpus: Corpus) -> list[float | None]:
    return [mark.annotation.confidence for entry in corpus.entries for mark in entry.marks]


@pytest.mark.parametrize(("name", "notes"), [("docs", NOTES), ("few", NOTES[:1])])
def test_spacy(name: str, notes: Any) -> None:
    """Scores are single precision of numpy's; one document says its note, the others are known by their text."""
    corpus, journal = read("spacy", MADE / "spacy" / f"{name}.spacy", notes)
    marks = [(*ANN, "PERSON"), (34, 38, "Oslo", "GPE"), (0, 3, "Ann", "case"), (*BOB, "PERSON"), (*DAY, "DATE")]
    assert said(corpus) == {"n1": marks} | ({"n2": []} if len(notes) == 2 else {})
    assert sure(corpus) == [50, 25, 100, None, None]
    assert lost(journal) == {"span groups other than sc": 1}


def test_strings_as_spacy_counts_them() -> None:
    """From spaCy's own pages (StringStore) and of its symbols: an empty string is 0."""
    assert string_hash("apple") == 8566208034543834098
    assert string_hash("coffee") == 3197928453018144401
    assert (string_hash(""), string_hash("PERSON"), string_hash("ORTH")) == (0, 380, 65)


@given(
    st.lists(st.text(st.sampled_from("abcé😀 "), max_size=20) | st.sampled_from(["", "ORTH", "PERSON"]), max_size=60)
)
def test_many_strings_are_hashed_as_each_alone(texts: list[str]) -> None:
    """As many of one length as are hashed in arrays, and few."""
    texts = texts * 3
    numbers = [string_hash(text) for text in texts]
    assert string_hashes(texts).tolist() == numbers
    table = StringTable.of(texts, np.array(numbers[::2], np.uint64))
    assert [table.find(number) for number in numbers] == texts
    assert table.find(max(numbers, default=0) + 1) is None


@pytest.mark.parametrize("name", ["results.json", "batch.jsonl"])
def test_presidio_results(name: str) -> None:
    corpus, journal = read("presidio-results", MADE / "presidio" / name)
    assert said(corpus) == {"n1": [(*DAY, "DATE_TIME"), (*ANN, "PERSON")]}
    assert sure(corpus) == [50, 85]
    assert not journal.losses


@pytest.mark.parametrize("form", ["json", "xmi"])
def test_cas(form: str) -> None:
    """Offsets behind the wide character are one more in the file; a project's own layer has one feature."""
    corpus, journal = read("uima-cas", MADE / "cassis" / form)
    assert said(corpus) == {"n1": [(*ANN, "PER"), (*BOB, "PER"), (*DAY, "DATE")]}
    assert lost(journal) == {"annotations of type custom.Other": 1}


HF_TOKENS = [
    {"entity": "B-PER", "score": 0.5, "index": 1, "word": "Ann", "start": 0, "end": 3},
    {"entity": "I-PER", "score": 1.0, "index": 2, "word": "Lee", "start": 4, "end": 7},
    {"entity": "B-PER", "score": 0.25, "index": 6, "word": "bob", "start": 14, "end": 17},
]
HF_GROUPS = [{"entity_group": "DATE", "score": 0.75, "word": "may 3", "start": 21, "end": 26}]


@pytest.mark.parametrize(
    "held",
    [
        pytest.param(HF_TOKENS + HF_GROUPS, id="what one text gives"),
        pytest.param([HF_TOKENS + HF_GROUPS], id="what a list of texts gives"),
        pytest.param({"n1": HF_TOKENS + HF_GROUPS}, id="by note"),
        pytest.param({"text": TEXT, "entities": HF_TOKENS + HF_GROUPS}, id="beside the text"),
        pytest.param([{"id": "n1", "predictions": HF_TOKENS + HF_GROUPS}], id="beside the name"),
    ],
)
def test_hugging_face(held: Any, tmp_path: Path) -> None:
    """Items as transformers documents them for TokenClassificationPipeline; the score of a word is its tokens' mean."""
    (tmp_path / "p.json").write_text(json.dumps(held), encoding="utf-8")
    corpus, _ = read("hf", tmp_path / "p.json")
    assert said(corpus) == {"n1": [(*ANN, "PER"), (*BOB, "PER"), (*DAY, "DATE")]}
    assert sure(corpus) == [75, 25, 75]


@pytest.mark.parametrize("how", ["none", "simple", "first", "average", "max"])
def test_transformers(how: str) -> None:
    """What its pipeline gives for each way of joining tokens; only the mean of all classes (average) is less sure."""
    corpus, _ = read("hf", MADE / "transformers" / f"{how}.json", NOTES)
    assert said(corpus)["n1"] == [(*ANN, "PER"), (*BOB, "PER"), (*DAY, "DATE"), (34, 38, "Oslo", "LOC")]
    assert said(corpus).get("n2", []) == []
    high, low = math.exp(2 * 7**0.5), math.exp(-2 / 7**0.5)  # one of eight features, normalised, times two
    softmax = 100 * high / (high + 5 * low)
    assert sure(corpus) == [
        pytest.approx(49.532738328 if how == "average" and at == 1 else softmax, rel=1e-6) for at in range(4)
    ]


def test_lists_without_names_are_as_many_as_the_notes(tmp_path: Path) -> None:
    (tmp_path / "p.json").write_text(json.dumps([HF_GROUPS]), encoding="utf-8")
    with pytest.raises(ParticipantFault, match="1 list does not say of which note, but there are 2 notes"):
        read("hf", tmp_path / "p.json", NOTES)
    (tmp_path / "p.json").write_text(json.dumps([HF_GROUPS, [], []]), encoding="utf-8")
    with pytest.raises(ParticipantFault, match="only 2 notes to take in order"):
        read("hf", tmp_path / "p.json", NOTES)
    with pytest.raises(UsageFault, match="give --notes"):
        read("hf", tmp_path / "p.json", None)


DOCCANO = [
    '{"id": 7, "text": %s, "label": [[0, 7, "PER"], [14, 17, "PER"], [21, 26, "DATE"]], "Comments": []}',
    '{"id": 7, "text": %s, "entities": [{"id": 1, "label": "PER", "start_offset": 0, "end_offset": 7}, {"id": 2,'
    ' "label": "PER", "start_offset": 14, "end_offset": 17}, {"id": 3, "label": "DATE", "start_offset": 21,'
    ' "end_offset": 26}],'
    ' "relations": [{"id": 1, "from_id": 1, "to_id": 2, "type": "saw"}], "Comments": []}',
]


@pytest.mark.parametrize("line", DOCCANO, ids=["labels", "entities and relations"])
def test_doccano(line: str, tmp_path: Path) -> None:
    """An export of doccano 1.8: the number is doccano's, so the note is known by its text."""
    (tmp_path / "all.jsonl").write_text(line % json.dumps(TEXT) + "\n", encoding="utf-8")
    corpus, journal = read("doccano", tmp_path / "all.jsonl")
    assert said(corpus) == {"n1": [(*ANN, "PER"), (*BOB, "PER"), (*DAY, "DATE")]}
    assert lost(journal) == ({"relations": 1} if "relations" in line else {})


@pytest.mark.parametrize("name", ["labels", "relations"])
def test_doccano_wrote_it(name: str) -> None:
    corpus, journal = read("doccano", MADE / "doccano" / f"{name}.jsonl")
    assert sorted(said(corpus)["n1"]) == [(*ANN, "PER"), (*BOB, "PER"), (*DAY, "DATE")]
    assert lost(journal) == ({"relations": 1} if name == "relations" else {})


def test_label_studio_wrote_it() -> None:
    """The model's own prediction of the first name stands beside and is nobody's annotation."""
    corpus, _ = read("label-studio", MADE / "label_studio" / "project.json")
    assert said(corpus) == {"n1": [(*ANN, "PER"), (*BOB, "PER"), (*DAY, "DATE")]}


def region(start: int, end: int, kind: str) -> dict[str, Any]:
    value = {"start": start, "end": end, "text": TEXT[start:end], "labels": [kind]}
    return {"id": "x", "from_name": "label", "to_name": "text", "type": "labels", "origin": "manual", "value": value}


def task(*people: dict[str, Any]) -> bytes:
    """A task as Label Studio's JSON export has it."""
    held = {"id": 1, "data": {"text": TEXT}, "annotations": people, "predictions": [], "meta": {}, "project": 3}
    return json.dumps([held]).encode()


def test_label_studio_never_mixes_annotators(tmp_path: Path) -> None:
    path = tmp_path / "project.json"
    choice = {"type": "choices", "value": {"choices": ["good"]}, "from_name": "c", "to_name": "text"}
    one = {"id": 5, "completed_by": 1, "was_cancelled": False, "result": [region(0, 7, "PER"), choice]}
    two = {"id": 6, "completed_by": {"email": "b@c.de"}, "was_cancelled": False, "result": [region(21, 26, "DATE")]}
    gone = {"id": 7, "completed_by": 3, "was_cancelled": True, "result": [region(14, 17, "PER")]}
    path.write_bytes(task(one, gone))
    corpus, journal = read("label-studio", path)
    assert said(corpus) == {"n1": [(*ANN, "PER")]}
    assert lost(journal) == {"results of type 'choices'": 1}
    path.write_bytes(task(one, two))
    with pytest.raises(UsageFault, match=r"2 people annotated note 'n1': --annotator takes one of '1', 'b@c\.de'"):
        read("label-studio", path)
    assert said(read("label-studio", path, annotator="b@c.de")[0]) == {"n1": [(*DAY, "DATE")]}
    assert len(read("label-studio", path, annotator="*")[0].entries[0].marks) == 2


def tab(**people: list[tuple[int, int, str, str, str]]) -> bytes:
    mentions = {
        who: {
            "entity_mentions": [
                {"start_offset": s, "end_offset": e, "span_text": TEXT[s:e], "entity_type": kind, "entity_id": entity,
                 "identifier_type": identifier, "entity_mention_id": f"{entity}_m", "edit_type": "check",
                 "confidential_status": "NOT_CONFIDENTIAL"}
                for s, e, kind, entity, identifier in found
            ]
        }
        for who, found in people.items()
    }  # fmt: skip
    document = {"doc_id": "n1", "text": TEXT, "dataset_type": "dev", "quality_checked": [], "annotations": mentions}
    return json.dumps([document]).encode()


def test_tab_keeps_annotators_entities_and_identifier_types(tmp_path: Path) -> None:
    """Keys as the benchmark's ECHR files have them (echr_dev.json)."""
    path = tmp_path / "echr.json"
    path.write_bytes(
        tab(annotator3=[(0, 7, "PERSON", "e1", "DIRECT")], annotator7=[(21, 26, "DATETIME", "e2", "QUASI")])
    )
    with pytest.raises(UsageFault, match="2 people annotated note 'n1'"):
        read("tab", path)
    assert said(read("tab", path, annotator="annotator7")[0]) == {"n1": [(*DAY, "DATETIME")]}
    corpus, _ = read("tab", path, annotator="*")
    beside = {"entity_id": "e1", "annotator": "annotator3", "entity_mention_id": "e1_m", "edit_type": "check"}
    assert dict(corpus.entries[0].marks[0].more) == beside
    save(FORMATS.find("tab").writes(corpus, LossJournal()), tmp_path / "again.json", force=False)
    again = json.loads((tmp_path / "again.json").read_bytes())[0]
    assert {who: [m["entity_id"] for m in held["entity_mentions"]] for who, held in again["annotations"].items()} == {
        "annotator3": ["e1"],
        "annotator7": ["e2"],
    }
    assert again["annotations"]["annotator3"]["entity_mentions"][0]["identifier_type"] == "DIRECT"
    assert read("tab", tmp_path / "again.json", annotator="*")[0] == corpus


def echr(folder: Path) -> Path:
    """Two documents as the ECHR files have them: one that annotator2 has not read, one where annotator1 found nothing;
    an entity of two mentions, a type that no table knows, and what is said of documents."""
    first = json.loads(tab(annotator1=[(0, 7, "PERSON", "e1", "DIRECT"), (21, 26, "DEM", "e1", "QUASI")]))[0]
    second = json.loads(tab(annotator1=[], annotator2=[(0, 7, "PERSON", "x", "NO_MASK")]))[0] | {"doc_id": "n2"}
    meta = {"meta": {"year": 1999, "countries": ["NO"]}, "task": "Task: Annotate", "quality_checked": ["annotator1"]}
    (folder / "echr.json").write_text(json.dumps([first | meta, second | {"meta": {}}]), encoding="utf-8")
    return folder / "echr.json"


def test_the_benchmarks_documents_come_back_whole(tmp_path: Path) -> None:
    given, again = echr(tmp_path), tmp_path / "again.json"
    made = convert(given, source="tab", target="tab", output=again, annotator="*", lossless=True)
    assert made.annotations == 3
    assert json.loads(again.read_bytes()) == json.loads(given.read_bytes())


def test_an_annotator_of_ours_has_entities_and_no_record_of_what_was_not_read(tmp_path: Path) -> None:
    given = echr(tmp_path)
    for who in ("annotator1", "annotator2"):
        convert(given, source="tab", target="ours", tasks=["phi"], output=tmp_path / who, annotator=who)
    one, two = (json.loads((tmp_path / who / "phi.json").read_bytes()) for who in ("annotator1", "annotator2"))
    assert [len(record["textAnnotations"]) for record in one] == [2, 0]
    assert [a["entityId"] for a in one[0]["textAnnotations"]] == ["e1", "e1"]
    assert [record["annotationSource"]["resourceSource"]["name"] for record in two] == ["n2"]
    assert len(json.loads((tmp_path / "annotator2" / "notes.json").read_bytes())) == 2
    back = tmp_path / "back.json"
    convert(tmp_path / "annotator1", source="ours", target="tab", tasks=["phi"], output=back)
    mentions = json.loads(back.read_bytes())[0]["annotations"]["annotator1"]["entity_mentions"]
    assert [one["entity_id"] for one in mentions] == ["e1", "e1"]


def test_masks(tmp_path: Path) -> None:
    (tmp_path / "masks.json").write_text('{"n1": [[0, 7], [21, 26]]}', encoding="utf-8")
    corpus, _ = read("tab", tmp_path / "masks.json")
    assert said(corpus) == {"n1": [(*ANN, None), (*DAY, None)]}
    journal = LossJournal(output="x/masks.json")
    assert json.loads(FORMATS.find("tab").writes(corpus, journal)) == {"n1": [[0, 7], [21, 26]]}  # type: ignore[arg-type]
    with pytest.raises(ParticipantFault, match="give --notes"):
        read("tab", tmp_path / "masks.json", None)


@pytest.mark.parametrize(
    "table",
    [
        pytest.param("doc_id,begin,end,label,score\nn1,0,7,PER,0.5\nn1,21,26,DATE,\n", id="other names"),
        pytest.param("note\tstart\tlength\ttype\tconfidence\nn1\t0\t7\tPER\t50\nn1\t21\t5\tDATE\t\n", id="tabs"),
        pytest.param(
            '\ufeffid;start;end;text;type;score\r\nn1;0;7;"Ann Lee";PER;0.5\r\nn1;21.0;26.0;May 3;DATE;\r\n', id="Excel"
        ),
    ],
)  # fmt: skip
def test_tables(table: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(table, encoding="utf-8", newline="")
    corpus, _ = read("csv", tmp_path / "t.csv")
    assert said(corpus) == {"n1": [(*ANN, "PER"), (*DAY, "DATE")]}
    assert sure(corpus) == [50, None]


@pytest.mark.parametrize(
    ("table", "said_of_it"),
    [
        ("note,text\n", "no column end and start|no column start"),
        ("note,start,end\nn1,0\n", "row 2: 2 cells, but 3 columns"),
        ("note,start,end\nn1,x,2\n", "start should be a whole number, found 'x'"),
        ("note,start,end\nn9,0,2\n", "note 'n9' is not among the notes"),
        ("note,start,end,confidence\nn1,0,3,101\n", "a number from 0 to 100"),
        ("note,start,end,a,a\n", "column 'a' stands twice"),
        ('note,start,end\n"n1', "is no whole table"),
        ("PAR1", "pyarrow"),
    ],
)
def test_bad_tables_are_sentences(table: str, said_of_it: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(table, encoding="utf-8")
    with pytest.raises(SandscoreError, match=said_of_it):
        read("csv", tmp_path / "t.csv")


def packed(**changed: Any) -> bytes:
    held: dict[str, Any] = {
        "version": "0.1", "attrs": [65, 77, 78], "tokens": struct.pack("<3Q", 7, 2, 0), "spaces": b"\0",
        "lengths": struct.pack("<i", 1), "strings": ["a"], "cats": [{}], "flags": [{}], "span_groups": [b""],
    }  # fmt: skip
    return zlib.compress(msgspec.msgpack.encode(held | changed))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        pytest.param(b"", "not packed|no whole", id="empty"),
        pytest.param(b"PK", "not packed by zlib", id="no zlib"),
        pytest.param(zlib.compress(b"\x93\x01\x02\x03"), "is no DocBin", id="a list"),
        pytest.param(packed(), "a string is missing", id="a hash without its string"),
        pytest.param(packed(lengths=struct.pack("<2i", 2, -1)), "contradict", id="a negative length"),
        pytest.param(packed(tokens=b"123"), "no DocBin", id="half a token"),
        pytest.param(packed(spaces=b""), "contradict", id="no spaces"),
        pytest.param(packed(attrs=[]), "contradict", id="no attributes"),
        pytest.param(packed(strings=[1]), "no DocBin", id="strings that are none"),
        pytest.param(packed(strings=msgspec.Raw(b"\xdd\xff\xff\xff\xff")), "no DocBin|looked into", id="many strings"),
    ],
)
def test_bad_docbins_are_sentences(data: bytes, why: str, tmp_path: Path) -> None:
    (tmp_path / "d.spacy").write_bytes(data)
    with pytest.raises(ParticipantFault, match=why):
        read("spacy", tmp_path / "d.spacy")


def test_a_docbin_that_is_a_bomb_is_told(tmp_path: Path) -> None:
    """A mebibyte of zeros, packed, and the same bytes 200 times: made as quickly as it is read."""
    packing = zlib.compressobj()
    first, again = (packing.compress(bytes(1 << 20)) + packing.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    test_bad_docbins_are_sentences(first + again * 199, "beyond all measure", tmp_path)


LAUGHS = b'<!DOCTYPE r [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><r>&b;</r>'
CAS = '{"%FEATURE_STRUCTURES": [{"%ID": 1, "%TYPE": "uima.cas.Sofa", "sofaString": "\U0001d4b3x"}, %s]}'
NE = (
    '{"%%ID": 2, "%%TYPE": "de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity", "@sofa": 1, "begin": %s, "end": 3}'
)


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("a.xmi", LAUGHS, "declares a document type"),
        ("a.xmi", b"<a>", "is no XMI"),
        ("a.xmi", b"<a/>", "found 0"),
        ("a.json", b"{}", "%FEATURE_STRUCTURES"),
        ("a.json", CAS.replace("%s", NE % 1).encode(), "within a character"),
        ("a.json", CAS.replace("%s", NE % '"x"').encode(), "whole number"),
        ("a.json", CAS.replace("%s", NE % 2).replace('"end": 3', '"end": 9').encode(), "past the end"),
    ],
)
def test_bad_cas_files_are_sentences(name: str, data: bytes, why: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(ParticipantFault, match=why):
        read("uima-cas", tmp_path, None)


@given(st.text(st.sampled_from("aé日\U0001d4b3\U0001f642\r\n"), max_size=9))
def test_units_of_utf_16_begin_code_points(text: str) -> None:
    """The same as encoding the text up to each place."""
    places = _code_points(text)
    for at in range(len(text) + 1):
        unit = len(text[:at].encode("utf-16-le")) // 2
        assert (unit if places is None else places[unit]) == at


WHOLE = [row.name for row in FORMATS if row.whole]
plain = st.text(st.sampled_from("ab1-_. é"), min_size=1, max_size=5).filter(lambda name: name.strip() == name)


@pytest.mark.slow
@pytest.mark.parametrize("name", WHOLE)
def test_what_they_hold_comes_back(name: str) -> None:
    """Any text, overlapping and repeated annotations, confidences and what else is said."""

    @settings(max_examples=up_to(40), deadline=None)
    @given(st.data(), flat_corpora(ids=plain, held_texts=xml_texts if name == "uima-xmi" else texts))
    def comes_back(data: st.DataObject, corpus: Corpus) -> None:
        kept = Corpus(tuple(enriched(data, entry) for entry in corpus.entries))
        row = FORMATS.find(name)
        notes = None if name != "csv" else tuple(entry.note for entry in kept.entries)
        back = whole(row.reads, row.writes, kept, notes=notes)
        assert by_note(unfilled(back) if name == "tab" else back) == by_note(kept)

    comes_back()


def unfilled(corpus: Corpus) -> Corpus:
    """Without the class of identifier that is filled in, and told, for a type that no table knows."""
    filled = ("identifier_type", "QUASI")
    entries = []
    for entry in corpus.entries:
        marks = (replace(mark, more=tuple(one for one in mark.more if one != filled)) for mark in entry.marks)
        entries.append(AnnotatedNote(entry.note, tuple(marks)))
    return Corpus(tuple(entries))


def enriched(data: st.DataObject, entry: AnnotatedNote) -> AnnotatedNote:
    more = st.sampled_from([(), (("dateFormat", "YYYY"),), (("certainty", "negated"),), (("entity_id", "e9"),)])
    confidences = st.none() | st.integers(0, 100) | st.sampled_from([95.5, 12.25, 33.3])
    marks = [
        replace(mark, annotation=replace(mark.annotation, confidence=data.draw(confidences)), more=data.draw(more))
        for mark in entry.marks
    ]
    note = replace(entry.note, patient="p1", type=data.draw(st.sampled_from([None, "t"])))
    return AnnotatedNote(note, tuple(marks))
