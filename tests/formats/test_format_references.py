"""Files written by hand after each format's public definition, with what they say written by hand too."""

from pathlib import Path

import pytest
from formats.corpora import lost, said

from sandscore.base.errors import ParticipantFault
from sandscore.formats import brat_standoff, conll_columns, i2b2_xml, neleval_tsv, nlpsandbox_bundle, presidio_json
from sandscore.formats.corpus import CorpusNote, LossJournal
from sandscore.formats.tag_schemes import decode

SONY = "Sony formed a joint venture with Ericsson, a mobile phone company based in Sweden.\nNorth and South America"
"""The running example of the BRAT manual, and its example of a discontinuous span."""


def test_brat_manual(tmp_path: Path) -> None:
    (tmp_path / "DOC-1000.txt").write_bytes(SONY.encode())
    (tmp_path / "DOC-1000.ann").write_bytes(
        b"T1\tOrganization 0 4\tSony\n"
        b"T2\tMERGE-ORG 14 27\tjoint venture\n"
        b"T3\tOrganization 33 41\tEricsson\n"
        b"E1\tMERGE-ORG:T2 Org1:T1 Org2:T3\n"
        b"T4\tCountry 75 81\tSweden\n"
        b"R1\tOrigin Arg1:T3 Arg2:T4\n"
        b"*\tEquiv T1 T2\n"
        b"A1\tNegation E1\n"
        b"M2\tConfidence E1 L1\n"
        b"N1\tReference T1 Wikipedia:534366\tSony\n"
        b"#1\tAnnotatorNotes T1\tsure?\n"
        b"\n"
        b"T5\tLocation 83 88;99 106\tNorth America\n"
        b"T6\tDate 75 82;83 88\tSweden. North\n"
    )
    journal = LossJournal()
    found = said(brat_standoff.read([tmp_path], journal))
    assert found == {
        "DOC-1000": [
            (0, 4, "Sony", "Organization"),
            (14, 27, "joint venture", "MERGE-ORG"),
            (33, 41, "Ericsson", "Organization"),
            (75, 81, "Sweden", "Country"),
            (83, 88, "North", "Location"),
            (99, 106, "America", "Location"),
            (75, 88, "Sweden.\nNorth", "Date"),
        ]
    }
    assert lost(journal) == {
        "events": 1,
        "relations": 1,
        "equivalences": 1,
        "attributes": 2,
        "normalisations": 1,
        "annotator notes": 1,
        "discontinuous spans (each piece is an annotation of its own)": 1,
    }


I2B2 = """<?xml version="1.0" encoding="UTF-8" ?>
<deIdi2b2>
<TEXT><![CDATA[Record date: 2067-05-03

Jos\u00e9 <Smith> seen
in Boston & Lynn by PCP]]></TEXT>
<TAGS>
<DATE id="P0" start="13" end="23" text="2067-05-03" TYPE="DATE" comment="" />
<NAME id="P1" start="25" end="37" text="Jos\u00e9 &lt;Smith&gt;" TYPE="PATIENT" comment="sure?" />
<LOCATION id="P2" start="46" end="52" text="Boston" TYPE="CITY" comment="" />
<ID id="P3" start="13" end="17" text="2067" TYPE="OTHER" comment="" />
<LOCATION id="P4" start="38" end="52" text="seen in Boston" TYPE="LOCATION-OTHER" comment="" />
<MYSTERY id="P5" start="0" end="6" text="Record" TYPE="X" comment="" />
</TAGS>
</deIdi2b2>
"""


def test_i2b2(tmp_path: Path) -> None:
    (tmp_path / "220-03.xml").write_text(I2B2, encoding="utf-8", newline="")
    journal = LossJournal()
    corpus = i2b2_xml.read([tmp_path], journal)
    assert corpus.entries[0].note.patient == "220"
    assert said(corpus) == {
        "220-03": [
            (13, 23, "2067-05-03", "DATE"),
            (25, 37, "Jos\u00e9 <Smith>", "PATIENT"),
            (46, 52, "Boston", "CITY"),
            (13, 17, "2067", "ID/OTHER"),
            (38, 52, "seen\nin Boston", "LOCATION-OTHER"),
        ]
    }
    assert lost(journal) == {"comments": 1, "tags of category 'MYSTERY', which i2b2 does not have": 1}


def test_i2b2_system_output_is_named_after_its_record(tmp_path: Path) -> None:
    (tmp_path / "220-03mySystem.xml").write_text(I2B2, encoding="utf-8", newline="")
    assert set(said(i2b2_xml.read([tmp_path], LossJournal()))) == {"220-03"}


CONLL_2003 = """-DOCSTART- -X- -X- O

EU NNP B-NP B-ORG
rejects VBZ B-VP O
German JJ B-NP B-MISC
call NN I-NP O
. . O O

Peter NNP B-NP B-PER
Blackburn NNP I-NP I-PER
"""


def test_conll_2003_columns_rebuild_a_text(tmp_path: Path) -> None:
    file = tmp_path / "eng.testa"
    file.write_text(CONLL_2003, encoding="utf-8")
    journal = LossJournal()
    corpus = conll_columns.read([file], journal)
    assert corpus.entries[0].note.text == "EU rejects German call .\nPeter Blackburn"
    assert said(corpus) == {"1": [(0, 2, "EU", "ORG"), (11, 17, "German", "MISC"), (25, 40, "Peter Blackburn", "PER")]}
    assert lost(journal) == {
        "identifiers: notes without one are numbered": 1,
        "white space between tokens (rebuilt)": 1,
    }


def test_conll_columns_find_their_place_in_the_notes(tmp_path: Path) -> None:
    file = tmp_path / "eng.testa"
    file.write_text(CONLL_2003, encoding="utf-8")
    note = CorpusNote("n-1", "EU rejects\n  German call. Peter\tBlackburn ")
    journal = LossJournal()
    assert said(conll_columns.read([file], journal, [note])) == {
        "n-1": [(0, 2, "EU", "ORG"), (13, 19, "German", "MISC"), (26, 41, "Peter\tBlackburn", "PER")]
    }
    assert not journal.losses


@pytest.mark.parametrize(
    ("tags", "runs"),
    [
        pytest.param("B-X I-X O B-X", [(0, 2), (3, 4)], id="BIO"),
        pytest.param("B-X B-X I-X", [(0, 1), (1, 3)], id="BIO neighbours"),
        pytest.param("I-X I-X B-X", [(0, 2), (2, 3)], id="IOB1: B only between neighbours"),
        pytest.param("B-X I-X L-X U-X", [(0, 3), (3, 4)], id="BILUO"),
        pytest.param("B-X E-X S-X S-X", [(0, 2), (2, 3), (3, 4)], id="IOBES"),
        pytest.param("X X O X", [(0, 2), (3, 4)], id="IO without prefixes, as Presidio has it"),
        pytest.param("B-X S-X I-X U-X", [(0, 1), (1, 2), (2, 3), (3, 4)], id="a unit continues nothing"),
        pytest.param("U-X I-X", [(0, 1), (1, 2)], id="nothing continues a unit"),
        pytest.param("B-X I-Y", [(0, 1), (1, 2)], id="another type begins anew"),
    ],
)
def test_tagging_schemes(tags: str, runs: list[tuple[int, int]]) -> None:
    assert [(first, stop) for first, stop, _ in decode(tags.split())] == runs


def test_presidio_sample(tmp_path: Path) -> None:
    file = tmp_path / "samples.json"
    file.write_text(
        '[{"full_text": "My name is \U0001d4b3 Ann", "masked": "My name is {{n}}", "template_id": 3,'
        ' "metadata": {"Gender": "f", "identifier": "s-1"}, "spans": [{"entity_type": "PERSON",'
        ' "entity_value": "\U0001d4b3 Ann", "start_position": 11, "end_position": 16}]},'
        ' {"full_text": "nothing", "masked": null, "spans": [], "template_id": null, "metadata": null}]',
        encoding="utf-8",
    )
    journal = LossJournal()
    assert said(presidio_json.read([file], journal)) == {"s-1": [(11, 16, "\U0001d4b3 Ann", "PERSON")], "2": []}
    assert lost(journal) == {
        "masked": 1,
        "template_id": 1,
        "metadata 'Gender'": 1,
        "identifiers: samples without one are numbered": 1,
    }


BUNDLE = """{"patient_bundles": [{"patient": {"identifier": "110", "gender": "male"}, "note_bundles": [
 {"note": {"text": "Seen 10/26/2020 at EHMS", "type": "loinc:LP29684-5", "patientId": "PATIENT_ID"},
  "annotation": {"annotationSource": {"resourceSource": {"name": "NOTE_NAME"}},
   "textDateAnnotations": [{"noteId": "110-01", "start": 5, "length": 10, "text": "10/26/2020", "confidence": 95.5,
     "dateFormat": ""}],
   "textPhysicalAddressAnnotations": [{"noteId": "110-01", "start": 19, "length": 4, "text": "EHMS",
     "addressType": "hospital"}]}}]}]}"""


def test_nlpsandbox_bundle_takes_identifiers_from_annotations(tmp_path: Path) -> None:
    file = tmp_path / "example-patient-bundles.json"
    file.write_text(BUNDLE, encoding="utf-8")
    corpus = nlpsandbox_bundle.read_bundle([file], LossJournal())
    assert corpus.tasks == ("date", "address")
    assert corpus.entries[0].note == CorpusNote("110-01", "Seen 10/26/2020 at EHMS", "110", "loinc:LP29684-5")
    assert said(corpus) == {"110-01": [(5, 15, "10/26/2020", None), (19, 23, "EHMS", "hospital")]}
    assert [mark.annotation.confidence for mark in corpus.entries[0].marks] == [95.5, None]


def test_nlpsandbox_list_without_notes_knows_the_texts_of_annotations(tmp_path: Path) -> None:
    file = tmp_path / "list.json"
    file.write_text(
        '[{"annotationSource": {"resourceSource": {"name": "dataset/d/fhirStores/f/fhir/Note/110-01"}},'
        ' "name": "x", "textDateAnnotations": [{"start": 5, "length": 3, "text": "May"}]}]',
        encoding="utf-8",
    )
    corpus = nlpsandbox_bundle.read_list([file], LossJournal())
    assert corpus.entries[0].note == CorpusNote("110-01", None, name="dataset/d/fhirStores/f/fhir/Note/110-01")
    assert said(corpus) == {"110-01": [(5, 8, "May", None)]}


def test_neleval_columns_mean_what_neleval_reads_in_them(tmp_path: Path) -> None:
    file = tmp_path / "gold.tab"
    file.write_bytes(
        b"d\t1\t4\r\n"  # three columns: no type
        b"d\t 1\t+4\tPER\n"  # the fourth is an entity, not a type; offsets are what int() reads
        b"d\t0\t0\tNIL\t1.0\tDATE\n"
        b"d\t0\t1_0\tE1\t0.5\tA\tE2\t0.9\tB\tE3\t0.9\tC\n"  # the best candidate, of equals the first
        b'd\t2\t2\tNIL\t1\t{"type": "J", "x": 1}\t\n'
    )
    journal = LossJournal()
    assert said(neleval_tsv.read([file], journal, [CorpusNote("d", "0123456789abc")])) == {
        "d": [
            (1, 5, "1234", None),
            (1, 5, "1234", None),
            (0, 1, "0", "DATE"),
            (0, 11, "0123456789a", "B"),
            (2, 3, "2", "J"),
        ]
    }
    assert lost(journal) == {
        "entity identifiers": 2,
        "candidates beside the best": 2,
        "scores": 1,
        "fields beside the type": 1,
    }


def test_past_the_end_too(tmp_path: Path) -> None:
    (tmp_path / "n.txt").write_bytes("\U0001d4b3bc".encode())
    (tmp_path / "n.ann").write_text("T1\tX 2 4\tbc\n", encoding="utf-8")
    with pytest.raises(ParticipantFault, match=r"2-4 is past the end of note 'n' \(it has 3 characters\) \(.*UTF-16"):
        brat_standoff.read([tmp_path], LossJournal())


@pytest.mark.parametrize(
    ("text", "quoted", "hint"),
    [
        pytest.param("a\r\nbc", "bc", "CRLF", id="CRLF counted once"),
        pytest.param("\ufeffxybc", "bc", "byte order mark", id="byte order mark not counted"),
        pytest.param("\U0001d4b3bcde", "bc", "UTF-16", id="UTF-16 units"),
        pytest.param("\u00e9bcde", "bc", "UTF-8", id="UTF-8 bytes"),
        pytest.param("xyzabc", "bc", "", id="anything else"),
    ],
)
def test_a_mismatch_says_how_the_offsets_were_counted(tmp_path: Path, text: str, quoted: str, hint: str) -> None:
    (tmp_path / "n.txt").write_bytes(text.encode())
    (tmp_path / "n.ann").write_text(f"T1\tX 2 4\t{quoted}\n", encoding="utf-8")
    with pytest.raises(ParticipantFault, match=r"n\.ann, line 1: note 'n' does not read 'bc' at 2-4") as caught:
        brat_standoff.read([tmp_path], LossJournal())
    assert hint in str(caught.value)
    assert ("(" in str(caught.value)) == bool(hint)
