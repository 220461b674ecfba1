"""Whatever a file holds, reading it ends in a corpus or in a sentence with an exit code."""

import json
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from example_numbers import up_to
from hypothesis import given, settings
from hypothesis import strategies as st

from sandscore.base.errors import MissingFile, ParticipantFault, SandscoreError, UsageFault
from sandscore.formats import (
    FORMATS,
    brat_standoff,
    conll_columns,
    i2b2_xml,
    neleval_tsv,
    nlpsandbox_bundle,
    presidio_json,
    sandscore_json,
)
from sandscore.formats.corpus import AnnotatedNote, Corpus, CorpusNote, FormatFiles, LossJournal
from sandscore.formats.format_files import quoted_name, save, unquoted_name

pytestmark = pytest.mark.slow

NOTES = (CorpusNote("a", "x1 y"), CorpusNote("b", ""))
SEEDS = [
    b"T1\tA 0 2\tx1\n",
    b"-DOCSTART-\ta\t-X-\tO\n\nx1\t0\t2\tB-A\n",
    b'<r><TEXT><![CDATA[x1]]></TEXT><TAGS><DATE start="0" end="2" text="x1" TYPE="DATE"/></TAGS></r>',
    b'[{"full_text": "x1", "spans": [{"entity_type": "A", "start_position": 0, "end_position": 2}], "metadata": {}}]',
    b'[{"annotationSource": {"resourceSource": {"name": "a"}}, "textDateAnnotations": [{"start": 0, "length": 2,'
    b' "text": "x1", "confidence": 3}]}]',
    b'{"patient_bundles": [{"patient": {"identifier": "p"}, "note_bundles": [{"note": {"text": "x1"}, "annotation":'
    b' {"annotationSource": {"resourceSource": {"name": "a"}}, "textIdAnnotations": []}}]}]}',
    b"a\t0\t1\tNIL\t1.0\tA\n",
]
JUNK = [
    b"null",
    b"-1",
    b"1e400",
    b"[]",
    b"{}",
    b'"',
    b"\x00",
    b"\xff",
    b"\xef\xbb\xbf",
    b"9" * 5000,
    b"\r",
    b"\t",
    b";",
    b"true",
]


@st.composite
def broken(draw: st.DrawFn) -> bytes:
    """A file of one of the formats with a few bytes taken out and something else put there."""
    data = draw(st.sampled_from(SEEDS))
    for _ in range(draw(st.integers(0, 3))):
        at, until = sorted(draw(st.tuples(st.integers(0, len(data)), st.integers(0, len(data)))))
        until = min(until, at + 12)
        data = data[:at] + draw(st.sampled_from(JUNK) | st.binary(max_size=4)) + data[until:]
    return data


@pytest.mark.parametrize("name", FORMATS.names)
def test_no_file_breaks_a_reader(name: str) -> None:
    @settings(max_examples=up_to(150), deadline=None)
    @given(broken())
    def survives(data: bytes) -> None:
        with TemporaryDirectory() as room:
            place = Path(room)
            form = FORMATS.find(name)
            for file in ("a.txt", "a.ann", "a.xml") if form.directory else ("a",):
                (place / file).write_bytes(data if file != "a.txt" else b"x1 y")
            target = place / "a" if name == "ours" or not form.directory else place
            if name == "ours":
                target.write_bytes(data)
            try:
                form.reads([target], LossJournal(), NOTES)
            except SandscoreError as fault:
                assert fault.exit_code in {65, 66}  # noqa: PT017

    survives()


def _xml(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "1-1.xml").write_bytes(content)
    i2b2_xml.read([tmp_path], LossJournal())


LAUGHS = b'<!DOCTYPE r [<!ENTITY a0 "ha">' + b"".join(
    b'<!ENTITY a%d "%s">' % (i, b"&a%d;" % (i - 1) * 10) for i in range(1, 10)
)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(LAUGHS + b"]><r><TEXT>&a9;</TEXT></r>", id="billion laughs"),
        pytest.param(
            b'<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><r><TEXT>&x;</TEXT></r>', id="external entity"
        ),
        pytest.param(b'<!DOCTYPE r SYSTEM "http://127.0.0.1/x.dtd"><r><TEXT/></r>', id="external document type"),
    ],
)
def test_xml_declares_no_entities(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(ParticipantFault, match="declares a document type"):
        _xml(tmp_path, content)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(b"<r><TEXT>&x;</TEXT></r>", "undefined entity", id="undeclared entity"),
        pytest.param(b"<r><TEXT>a</TEXT>", "line 1, column", id="cut off"),
        pytest.param(b"<r/>", "expected one TEXT", id="no text"),
        pytest.param(b"<r><TEXT>a</TEXT><TEXT>b</TEXT></r>", "found 2", id="two texts"),
        pytest.param(b'<?xml version="1.0" encoding="x-none"?><r/>', "its encoding", id="unknown encoding"),
        pytest.param(b'<?xml version="1.0" encoding="utf-7"?><r/>', "its encoding", id="multi-byte encoding"),
        pytest.param(b"<r><TEXT>\xff</TEXT></r>", "not well-formed", id="not UTF-8"),
        pytest.param(b"", "no element found", id="empty"),
        pytest.param(b"<r><TEXT>a</TEXT><TAGS><DATE start='x' end='1'/></TAGS></r>", "tag 1: start", id="no offset"),
        pytest.param(
            b"<r><TEXT>a</TEXT><TAGS><DATE start='0' end='" + b"9" * 5000 + b"'/></TAGS></r>", "end", id="huge offset"
        ),
    ],
)
def test_bad_xml_is_a_sentence(tmp_path: Path, content: bytes, said: str) -> None:
    with pytest.raises(ParticipantFault, match=said):
        _xml(tmp_path, content)


def test_xml_of_many_levels_is_read_without_recursion(tmp_path: Path) -> None:
    depth = 200_000
    _xml(tmp_path, b"<r><TEXT>a</TEXT>" + b"<x>" * depth + b"</x>" * depth + b"</r>")


@pytest.mark.parametrize(
    "name",
    [
        "../../x",
        "a/b",
        "",
        "con",
        "CON.txt",
        "lpt1",
        "nul",
        ".hidden",
        "..",
        "~",
        "a\x00b",
        "-",
        "a b",
        "é",
        "%41",
        "%",
        "\\",
    ],
)
def test_names_of_files_are_reversible_and_tame(name: str) -> None:
    made = quoted_name(name)
    assert unquoted_name(made) == name
    assert made == Path(made).name
    assert made.isascii()
    assert not made.startswith(".")
    assert made.lower().split(".")[0] not in {"con", "nul", "lpt1"}


def test_names_made_by_others_stay_as_they_are() -> None:
    assert [unquoted_name(name) for name in ("a%zz", "50%", "é b", "%e9")] == ["a%zz", "50%", "é b", "%e9"]


def test_an_identifier_too_long_for_a_file_is_a_sentence() -> None:
    corpus = Corpus((AnnotatedNote(CorpusNote("x" * 300, "")),))
    with pytest.raises(ParticipantFault, match=r"note 'x{57}\.\.\.': the identifier is too long"):
        brat_standoff.write(corpus, LossJournal())


def test_two_notes_of_one_name_are_refused() -> None:
    with pytest.raises(ParticipantFault, match="two notes are called 'a'"):
        Corpus((AnnotatedNote(CorpusNote("a", "")), AnnotatedNote(CorpusNote("a", ""))))


@pytest.mark.parametrize(
    "written",
    [
        pytest.param("a\t0\n", id="two columns"),
        pytest.param("a 0 1\n", id="spaces for tabs"),
        pytest.param("\n", id="blank line"),
        pytest.param("a\t1.0\t2\n", id="no integer"),
        pytest.param("a\t-1\t2\n", id="negative"),
        pytest.param("a\t2\t1\n", id="end before start"),
        pytest.param("a\t0\t" + "9" * 4000 + "\n", id="huge"),
        pytest.param("a\t0\t" + "9" * 5000 + "\n", id="too huge for int"),
        pytest.param("c\t0\t1\n", id="unknown document"),
        pytest.param("a\t0\t1\tNIL\t\tX\n", id="no score"),
        pytest.param("a\t0\t1\tNIL\t1\tX\tE\n", id="half a candidate"),
        pytest.param("a\t0\t1\tNIL\t1\t{\n", id="a type of broken JSON"),
        pytest.param('a\t0\t1\tNIL\t1\t{"type": 1}\n', id="a type that is no string"),
    ],
)
def test_neleval_faults_name_their_line(tmp_path: Path, written: str) -> None:
    (tmp_path / "f").write_text("a\t0\t0\n" + written, encoding="utf-8")
    with pytest.raises(ParticipantFault, match=r"f, line 2: "):
        neleval_tsv.read([tmp_path / "f"], LossJournal(), NOTES)


@pytest.mark.parametrize(
    "line",
    [
        "T1 A 0 2 x1",
        "T1\tA 0 2",
        "T1\tA 0\tx",
        "T1\tA 2 0\tx",
        "T1\tA 0 9\tx1",
        "T1\tA 0 2\tzz",
        "T1\tA 0 1;3 4\tzz",
        "?",
    ],
)
def test_brat_faults_name_their_line(tmp_path: Path, line: str) -> None:
    (tmp_path / "n.txt").write_text("x1 y", encoding="utf-8")
    (tmp_path / "n.ann").write_text(f"T1\tA 0 2\tx1\r\n{line}", encoding="utf-8")
    with pytest.raises(ParticipantFault, match=r"n\.ann, line 2"):
        brat_standoff.read([tmp_path], LossJournal())


def test_a_hidden_note_is_never_quoted(tmp_path: Path) -> None:
    (tmp_path / "n.txt").write_text("the secret text", encoding="utf-8")
    (tmp_path / "n.ann").write_text("T1\tA 4 10\tpublic\n", encoding="utf-8")
    with pytest.raises(ParticipantFault) as caught:
        brat_standoff.read([tmp_path], LossJournal())
    assert "secret" not in str(caught.value)
    assert "'public'" in str(caught.value)


def test_brat_wants_the_text_beside_annotations(tmp_path: Path) -> None:
    (tmp_path / "n.ann").touch()
    with pytest.raises(MissingFile, match=r"there is no n\.txt beside it"):
        brat_standoff.read([tmp_path], LossJournal())


def test_links_in_a_directory_are_refused(tmp_path: Path) -> None:
    (tmp_path / "n.txt").symlink_to("/etc/passwd")
    with pytest.raises(ParticipantFault, match="symbolic link"):
        brat_standoff.read([tmp_path], LossJournal())


@pytest.mark.parametrize("where", ["nowhere", "file"])
def test_a_directory_that_is_none_is_missing(tmp_path: Path, where: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(MissingFile):
        i2b2_xml.read([tmp_path / where], LossJournal())


@pytest.mark.parametrize(
    ("read", "content"),
    [
        pytest.param(presidio_json.read, b"{}", id="presidio: no list"),
        pytest.param(presidio_json.read, b"[1]", id="presidio: no object"),
        pytest.param(presidio_json.read, b'[{"full_text": 1}]', id="presidio: no text"),
        pytest.param(
            presidio_json.read, b'[{"full_text": "a", "spans": [{"start_position": true}]}]', id="presidio: true"
        ),
        pytest.param(
            presidio_json.read, b'[{"full_text": "a", "spans": {}}]'.replace(b"{}", b'"x"'), id="presidio: spans"
        ),
        pytest.param(presidio_json.read, b'[{"full_text": "\\ud800"}]', id="presidio: half a character"),
        pytest.param(nlpsandbox_bundle.read_bundle, b"[]", id="bundle: a list"),
        pytest.param(
            nlpsandbox_bundle.read_bundle, SEEDS[5].replace(b'"a"', b'"NOTE_NAME"'), id="bundle: no identifier"
        ),
        pytest.param(
            nlpsandbox_bundle.read_bundle, SEEDS[5].replace(b"[]", b'[{"noteId": []}]'), id="bundle: odd noteId"
        ),
        pytest.param(
            nlpsandbox_bundle.read_bundle, SEEDS[5].replace(b"[]", b'[{"noteId": "z"}]'), id="bundle: two identifiers"
        ),
        pytest.param(sandscore_json.read, SEEDS[4].replace(b'"a"', b'"z"'), id="ours: unknown note"),
        pytest.param(sandscore_json.read, SEEDS[4].replace(b": 3}", b": 101}"), id="ours: confidence"),
        pytest.param(sandscore_json.read, SEEDS[4][:-1] + b", " + SEEDS[4][1:], id="ours: a note twice"),
        pytest.param(
            sandscore_json.read, b'{"textDateAnnotations": []}', id="ours: one note, but the data set has two"
        ),
        pytest.param(
            sandscore_json.read, b'[{"annotationSource": {"resourceSource": {"name": 1}}}]', id="ours: odd name"
        ),
        pytest.param(conll_columns.read, b"-DOCSTART-\ta\t-X-\tO\n\nzz\tB-X\n", id="conll: another token"),
        pytest.param(conll_columns.read, b"-DOCSTART-\ta\t-X-\tO\n\nx1\t2\t4\tB-X\n", id="conll: another place"),
        pytest.param(conll_columns.read, b"-DOCSTART-\tz\t-X-\tO\n\n", id="conll: unknown note"),
        pytest.param(conll_columns.read, b"word\n", id="conll: one column"),
        pytest.param(conll_columns.read, b"x1 O\n", id="conll: one note of two"),
    ],
)
def test_bad_content_is_the_files_fault(tmp_path: Path, read: Callable[..., Corpus], content: bytes) -> None:
    (tmp_path / "f").write_bytes(content)
    with pytest.raises(ParticipantFault, match=r"/f\b"):
        read([tmp_path / "f"], LossJournal(), NOTES)


def test_a_far_offset_does_not_fill_the_memory(tmp_path: Path) -> None:
    (tmp_path / "f").write_text("a\t999999999990\t999999999991\tO\n", encoding="utf-8")
    with pytest.raises(ParticipantFault, match="999999999990-999999999991 does not fit token 1"):
        conll_columns.read([tmp_path / "f"], LossJournal())


def test_neleval_cannot_hold_every_identifier() -> None:
    for name in ("", "a\tb", "a\nb", "\ufeffa"):
        with pytest.raises(ParticipantFault, match="cannot hold this identifier"):
            neleval_tsv.write(Corpus((AnnotatedNote(CorpusNote(name, "")),)), LossJournal())


def test_slashes_do_not_survive_a_resource_name() -> None:
    with pytest.raises(ParticipantFault, match="identifier with a slash"):
        sandscore_json.write(Corpus((AnnotatedNote(CorpusNote("a/b", "")),)), LossJournal())


def test_files_are_written_whole_or_not_at_all(tmp_path: Path) -> None:
    save(FormatFiles({"old.txt": b""}), tmp_path / "out", force=False)
    with pytest.raises(OSError, match="Not a directory"):
        save(FormatFiles({"a.txt": b"1", "a.txt/b.txt": b"2"}), tmp_path / "out", force=True)
    assert [path.name for path in tmp_path.rglob("*")] == ["out", "old.txt"]


def test_a_place_where_nothing_can_be_made_is_wrong_usage(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageFault, match="file: nothing can be written there"):
        save(b"", tmp_path / "file" / "out", force=False)


def test_nothing_is_replaced_without_force(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"old")
    (tmp_path / "d").mkdir()
    (tmp_path / "link").symlink_to("nowhere")
    for name, output in (("f", b"new"), ("d", FormatFiles({})), ("link", b"new")):
        with pytest.raises(UsageFault, match="is there already"):
            save(output, tmp_path / name, force=False)
    assert (tmp_path / "f").read_bytes() == b"old"


def test_force_replaces_what_a_conversion_wrote(tmp_path: Path) -> None:
    save(FormatFiles({"a.txt": b"1", "b.txt": b"1"}), tmp_path / "d", force=False)
    save(FormatFiles({"a.txt": b"2"}), tmp_path / "d", force=True)
    assert {path.name: path.read_bytes() for path in (tmp_path / "d").iterdir()} == {"a.txt": b"2"}
    save(b"1", tmp_path / "f", force=False)
    save(b"2", tmp_path / "f", force=True)
    assert (tmp_path / "f").read_bytes() == b"2"
    assert {path.name for path in tmp_path.iterdir()} == {"d", "f"}


@pytest.mark.parametrize("kind", ["thesis.doc", "folder", "link.txt"])
def test_force_never_replaces_a_directory_of_other_things(tmp_path: Path, kind: str) -> None:
    directory = tmp_path / "d"
    directory.mkdir()
    if kind == "folder":
        (directory / kind).mkdir()
    elif kind == "link.txt":
        (directory / kind).symlink_to(tmp_path)
    else:
        (directory / kind).touch()
    with pytest.raises(UsageFault, match="which no conversion wrote"):
        save(FormatFiles({"a.txt": b"1"}), directory, force=True)
    assert (directory / kind).exists()


def test_force_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / "kept").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / "kept")
    save(b"new", tmp_path / "link", force=True)
    assert ((tmp_path / "kept").read_bytes(), (tmp_path / "link").read_bytes()) == (b"old", b"new")


def test_json_lines_are_read_too(tmp_path: Path) -> None:
    lines = [{"identifier": name, "text": ""} for name in "ab"]
    (tmp_path / "n.jsonl").write_text("\n".join(json.dumps(line) for line in lines) + "\n\n", encoding="utf-8")
    assert [note.id for note in sandscore_json.read_notes(tmp_path / "n.jsonl")] == ["a", "b"]
