"""What a format cannot hold is named, counted and exemplified; what i2b2 calls our labels is its own table."""

import json
from pathlib import Path

import pytest
from formats.corpora import lost, said
from msgspec.structs import replace

from sandscore.base.errors import ParticipantFault
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
from sandscore.formats.corpus import FLAT, AnnotatedNote, Corpus, CorpusNote, Loss, LossJournal, Mark
from sandscore.formats.format_files import save
from sandscore.formats.tag_schemes import Scheme, encode
from sandscore.formats.type_maps import vocabulary
from sandscore.records.document import Annotation
from sandscore.task_table.task import TASKS


def marked(text: str, *spans: tuple[int, int, str], name: str = "7-1") -> Corpus:
    marks = (Mark(FLAT, Annotation(s, e - s, text[s:e], kind)) for s, e, kind in spans)
    return Corpus((AnnotatedNote(CorpusNote(name, text, "7"), tuple(marks)),))


def test_brat_breaks_spans_at_line_ends_and_says_what_that_costs() -> None:
    corpus = marked("\na\r\nb\n", (0, 6, "X Y"), (1, 5, "Z"), (2, 4, "Z"))
    journal = LossJournal()
    written = brat_standoff.write(corpus, journal).content["7-1.ann"].decode()
    assert written == "T1\tX_Y 1 2;4 5\ta b\nT2\tZ 1 2;4 5\ta b\n"
    assert lost(journal) == {
        "line ends at the edge of an annotation": 1,
        "white space in types (written as _)": 1,
        "annotations of line ends only": 1,
    }


def test_conll_keeps_the_longest_of_overlapping_annotations() -> None:
    corpus = marked("aa bb cc", (0, 5, "LEFT"), (3, 8, "RIGHT"), (0, 2, "IN"), (0, 8, "WHOLE"), (5, 6, "GAP"))
    journal = LossJournal()
    written = conll_writing.write(corpus, journal).decode()
    assert [line.split("\t")[3] for line in written.splitlines()[2:5]] == ["B-WHOLE", "I-WHOLE", "I-WHOLE"]
    assert lost(journal) == {"annotations that overlap a longer one": 4}


def test_conll_has_no_white_space() -> None:
    journal = LossJournal()
    written = conll_writing.write(marked("aa \nbb", (0, 3, "X"), (3, 4, "Y")), journal).decode()
    assert written == "-DOCSTART-\t7-1\t-X-\tO\n\naa\t0\t2\tB-X\n\nbb\t4\t6\tO\n\n"
    assert lost(journal) == {"white space at the edge of an annotation": 1, "annotations of white space only": 1}


def test_a_sentence_does_not_end_inside_an_annotation() -> None:
    written = conll_writing.write(marked("a\nb\nc", (0, 3, "X")), LossJournal()).decode()
    assert written.splitlines()[2:] == ["a\t0\t1\tB-X", "b\t2\t3\tI-X", "", "c\t4\t5\tO", ""]


@pytest.mark.parametrize(
    ("scheme", "tags"),
    [
        ("bio", "B-X I-X I-X B-X B-Y I-Y O"),
        ("biluo", "B-X I-X L-X U-X B-Y L-Y O"),
        ("iobes", "B-X I-X E-X S-X B-Y E-Y O"),
        ("io", "I-X I-X I-X I-X I-Y I-Y O"),
    ],
)
def test_written_schemes(scheme: Scheme, tags: str) -> None:
    assert " ".join(encode(7, [(0, 3, "X"), (3, 4, "X"), (4, 6, "Y")], scheme)) == tags


def test_conll_drops_what_stands_elsewhere_only_when_asked(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("aa\t0\t2\tB-X\nzz\t3\t5\tB-X\ncc\t6\t8\tO\n", encoding="utf-8")
    notes = [CorpusNote("n", "aa bb dd")]
    with pytest.raises(ParticipantFault, match=r"token 2: note 'n' does not read 'zz' at 3-5"):
        conll_columns.read([tmp_path / "f"], LossJournal(), notes)
    journal = LossJournal(lenient=True)
    assert said(conll_columns.read([tmp_path / "f"], journal, notes)) == {"n": [(0, 2, "aa", "X")]}
    assert lost(journal) == {"annotations whose text does not stand at their offsets": 1}


def test_io_fuses_neighbours() -> None:
    journal = LossJournal()
    conll_writing.write(marked("aa bb cc", (0, 2, "X"), (3, 5, "X"), (6, 8, "Y")), journal, "io")
    assert lost(journal) == {"the border between neighbours of one type (IO has none)": 1}


def test_i2b2_escapes_what_xml_cannot_say() -> None:
    journal = LossJournal()
    text = "]]> a&b \r\x0c\ufffe"
    content = i2b2_xml.write(marked(text, (0, 11, 'T"<&'), name="x"), journal).content["x.xml"].decode()
    assert "<TEXT><![CDATA[]]]]><![CDATA[> a&b ]]>&#13;<![CDATA[\ufffd\ufffd]]></TEXT>" in content
    assert 'text="]]> a&amp;b &#13;\ufffd\ufffd" TYPE="T&quot;&lt;&amp;"' in content
    assert lost(journal) == {
        "identifiers: i2b2 names files <digits>-<digits>.xml and reads no others": 1,
        "patientId (i2b2 has the digits before the dash)": 1,
        "control characters in the text (written as U+FFFD)": 1,
    }


def test_i2b2_text_survives_its_own_escapes(tmp_path: Path) -> None:
    corpus = marked("]]>]]>\r\n&amp;]]", (0, 6, "X"), (7, 8, "Y"))
    save(i2b2_xml.write(corpus, LossJournal()), tmp_path / "out", force=False)
    assert i2b2_xml.read([tmp_path / "out"], LossJournal()) == corpus


# Names of the 2014 annotation guidelines (category, TYPE).
I2B2: dict[str, dict[str | None, tuple[str, str]]] = {
    "date": {None: ("DATE", "DATE")},
    "person-name": {None: ("NAME", "PATIENT")},
    "address": {
        None: ("LOCATION", ""),
        "city": ("LOCATION", "CITY"),
        "country": ("LOCATION", "COUNTRY"),
        "department": ("LOCATION", "DEPARTMENT"),
        "hospital": ("LOCATION", "HOSPITAL"),
        "organization": ("LOCATION", "ORGANIZATION"),
        "other": ("LOCATION", "LOCATION-OTHER"),
        "room": ("LOCATION", "ROOM"),
        "state": ("LOCATION", "STATE"),
        "street": ("LOCATION", "STREET"),
        "zip": ("LOCATION", "ZIP"),
    },
    "id": {
        "account": ("ID", "ACCOUNT"),
        "bio_id": ("ID", "BIOID"),
        "device": ("ID", "DEVICE"),
        "health_plan": ("ID", "HEALTHPLAN"),
        "id_number": ("ID", "IDNUM"),
        "license": ("ID", "LICENSE"),
        "medical_record": ("ID", "MEDICALRECORD"),
        "ssn": ("ID", "SSN"),
        "vehicle": ("ID", "VEHICLE"),
        "other": ("ID", "OTHER"),
    },
    "contact": {
        "email": ("CONTACT", "EMAIL"),
        "fax": ("CONTACT", "FAX"),
        "ip_address": ("CONTACT", "IPADDR"),
        "phone": ("CONTACT", "PHONE"),
        "url": ("CONTACT", "URL"),
        "other": ("CONTACT", "OTHER"),
    },
}


@pytest.mark.parametrize("task", I2B2)
def test_labels_are_i2b2_tags(task: str) -> None:
    words = vocabulary("i2b2", TASKS[task])
    for label, tag in I2B2[task].items():
        kind = words.kind(label)
        assert kind is not None
        assert i2b2_xml.category_and_type(kind) == tag
        assert i2b2_xml.type_name(*tag) == kind
        assert words.means(kind.lower())
        assert words.label(kind.lower()) == label


def test_doctors_are_persons_and_user_names_are_not() -> None:
    words = vocabulary("i2b2", TASKS["person-name"])
    assert [words.means(kind) for kind in ("PATIENT", "DOCTOR", "USERNAME")] == [True, True, False]


def test_i2b2_types_it_does_not_know_are_of_category_other() -> None:
    assert i2b2_xml.category_and_type("AGENT") == ("OTHER", "AGENT")
    assert i2b2_xml.type_name("OTHER", "AGENT") == "AGENT"
    assert i2b2_xml.type_name("PHI", "CITY") == "PHI/CITY"


def test_neleval_forgets_notes_without_mentions() -> None:
    journal = LossJournal()
    corpus = Corpus((AnnotatedNote(CorpusNote("a", "")), AnnotatedNote(CorpusNote("b", ""))))
    assert neleval_tsv.write(corpus, journal) == b""
    assert journal.losses == (Loss("neleval", "notes without annotations", 2, "a"),)
    journal = LossJournal()
    assert neleval_tsv.write(marked("ab", (0, 2, "X\tY")), journal) == b"7-1\t0\t1\tNIL\t1.0\tX Y\n"
    assert lost(journal) == {"tabs and line ends in types (written as spaces)": 1}


def test_presidio_numbers_samples_only_where_it_must(tmp_path: Path) -> None:
    save(presidio_json.write(marked("ab", (0, 2, "X")), LossJournal()), tmp_path / "f", force=False)
    journal = LossJournal()
    assert said(presidio_json.read([tmp_path / "f"], journal)) == {"7-1": [(0, 2, "ab", "X")]}
    assert not journal.losses


BUNDLE = {
    "patient_bundles": [
        {
            "patient": {"identifier": "7", "gender": "male"},
            "note_bundles": [
                {
                    "note": {"text": "a", "noteType": "old", "patientId": "7"},
                    "annotation": {
                        "annotationSource": {"resourceSource": {"name": "7-1"}},
                        "textDateAnnotations": [{"start": 0, "length": 1, "text": "a", "dateformat": "Y"}],
                    },
                }
            ],
        }
    ]
}


def test_bundles_name_what_they_drop(tmp_path: Path) -> None:
    (tmp_path / "f").write_text(json.dumps(BUNDLE), encoding="utf-8")
    journal = LossJournal()
    corpus = nlpsandbox_bundle.read_bundle([tmp_path / "f"], journal)
    assert corpus.entries[0].note.type == "old"
    assert lost(journal) == {"patient gender": 1, "property 'dateformat'": 1}
    journal = LossJournal()
    nlpsandbox_bundle.write_bundle(Corpus((AnnotatedNote(CorpusNote("n", "a")),), ("date",)), journal)
    assert lost(journal) == {
        "missing patientId (the note stands in for its patient)": 1,
        "missing note type (the NLP Sandbox requires one)": 1,
        "notes without annotations (a data node cannot load them)": 1,
    }


def test_a_note_of_another_patient_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "f").write_text(json.dumps(BUNDLE).replace('"patientId": "7"', '"patientId": "8"'), encoding="utf-8")
    with pytest.raises(ParticipantFault, match="patientId '8' is not the bundle's patient '7'"):
        nlpsandbox_bundle.read_bundle([tmp_path / "f"], LossJournal())


def test_symptoms_lose_their_certainty_and_get_it_back(tmp_path: Path) -> None:
    span = Annotation(0, 5, "cough", "cough", 80)
    corpus = Corpus(
        (AnnotatedNote(CorpusNote("7-1", "cough", "7"), (Mark("covid-symptom", span, "negated"),)),), ("covid-symptom",)
    )
    save(sandscore_json.write(corpus, LossJournal()), tmp_path / "ours", force=False)
    journal = LossJournal()
    _, made = convert(Conversion(FORMATS.find("ours"), FORMATS.find("brat"), (tmp_path / "ours",)), journal)
    assert lost(journal) == {"patientId": 1, "certainty": 1, "confidence": 1}
    save(made, tmp_path / "brat", force=False)
    task = (TASKS["covid-symptom"],)
    journal = LossJournal()
    _, made = convert(Conversion(FORMATS.find("brat"), FORMATS.find("ours"), (tmp_path / "brat",), task), journal)
    save(made, tmp_path / "again", force=False)
    back = sandscore_json.read([tmp_path / "again"], LossJournal())
    assert back.entries[0].marks == (Mark("covid-symptom", replace(span, confidence=100), "positive"),)
    assert lost(journal) == {
        "confidence, which covid-symptom requires (filled in as 100)": 1,
        "certainty, which covid-symptom requires (filled in as positive)": 1,
    }


def test_untyped_annotations_become_phi(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("n\t0\t1\n", encoding="utf-8")
    asked = Conversion(FORMATS.find("neleval"), FORMATS.find("ours"), (tmp_path / "f",), notes=(CorpusNote("n", "ab"),))
    journal = LossJournal()
    corpus, _ = convert(asked, journal)
    assert said(corpus) == {"n": [(0, 2, "ab", "PHI")]}
    assert lost(journal) == {"annotations without a type (called 'PHI')": 1}


def test_a_label_the_task_does_not_have_is_not_taken_for_none() -> None:
    words = vocabulary("brat", TASKS["address"])
    assert [words.kind(label) for label in ("CITY ", "", None, "moon")] == ["city", "ADDRESS", "ADDRESS", None]


def test_labels_without_a_type_in_the_map_are_named() -> None:
    words = vocabulary("brat", TASKS["address"], given={"GPE": "City", "LOC": None})
    assert [words.kind(label) for label in ("city", None, "zip")] == ["GPE", "LOC", None]
    assert [words.means(kind) for kind in ("gpe", "LOC", "zip")] == [True, True, False]


def test_text_of_annotations_has_their_length_where_no_note_is_known(tmp_path: Path) -> None:
    record = {
        "annotationSource": {"resourceSource": {"name": "n"}},
        "textDateAnnotations": [{"start": 0, "length": 3, "text": "ab"}],
    }
    (tmp_path / "f").write_text(json.dumps([record]), encoding="utf-8")
    with pytest.raises(ParticipantFault, match=r"note 'n': 0-3 is 3 characters long, but the text 'ab' has 2"):
        sandscore_json.read([tmp_path / "f"], LossJournal())


def test_a_directory_that_cannot_be_replaced_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    save(brat_standoff.write(marked("a"), LossJournal()), tmp_path / "out", force=False)
    rename = Path.rename

    def refuse_new(self: Path, target: Path) -> Path:
        if self.name == "new":
            raise OSError("no")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", refuse_new)
    with pytest.raises(OSError, match="no"):
        save(brat_standoff.write(marked("b"), LossJournal()), tmp_path / "out", force=True)
    assert (tmp_path / "out" / "7-1.txt").read_text(encoding="utf-8") == "a"
