"""i2b2 2014 de-identification XML: a directory of ``<patient>-<record>.xml`` with TEXT and TAGS.

A type is the tag's TYPE; where the TYPE alone does not tell the category it is ``CATEGORY/TYPE``.

An i2b2 file's text and tags. Document types are refused, so no entity is ever declared or fetched.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.parsers import expat

from msgspec import Struct, field
from msgspec.structs import replace

from sandscore.base.errors import ParticipantFault
from sandscore.formats.corpus import FLAT, AnnotatedNote, Corpus, CorpusNote, FormatFiles, LossJournal, Mark
from sandscore.formats.file_format import TYPES_ONLY, FileFormat, Glance
from sandscore.formats.format_files import NOT_XML, files_in, one_path, quoted_name, read_bytes, unquoted_name


class XmlTag(Struct, frozen=True):
    """An element of TAGS: its name and its attributes."""

    category: str
    attributes: dict[str, str]


class _Document(Struct):
    where: str
    path: list[str] = field(default_factory=list)
    texts: int = 0
    pieces: list[str] = field(default_factory=list)
    tags: list[XmlTag] = field(default_factory=list)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.path.append(name)
        if self._in_text():
            self.texts += 1
        elif len(self.path) == 3 and self.path[1] == "TAGS":
            self.tags.append(XmlTag(name, attributes))

    def _in_text(self) -> bool:
        return len(self.path) == 2 and self.path[1] == "TEXT"

    def end(self, _name: str) -> None:
        self.path.pop()

    def characters(self, piece: str) -> None:
        if self._in_text():
            self.pieces.append(piece)

    def refuse(self, *_declaration: object) -> None:
        raise ParticipantFault(f"{self.where}: declares a document type; refused, as it could declare entities")


def parse(data: bytes, where: str) -> tuple[str, list[XmlTag]]:
    """The content of TEXT and the elements of TAGS."""
    document = _Document(where)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = document.refuse
    parser.EntityDeclHandler = document.refuse
    parser.StartElementHandler = document.start
    parser.EndElementHandler = document.end
    parser.CharacterDataHandler = document.characters
    try:
        parser.Parse(data, True)
    except expat.ExpatError as fault:
        raise ParticipantFault(f"{where}: line {fault.lineno}, column {fault.offset + 1}: {_reason(fault)}") from None
    except (LookupError, ValueError):
        raise ParticipantFault(f"{where}: its encoding is not one that XML can be read in here") from None
    if document.texts != 1:
        raise ParticipantFault(f"{where}: expected one TEXT element under the root, found {document.texts}")
    return "".join(document.pieces), document.tags


def _reason(fault: expat.ExpatError) -> str:
    return expat.ErrorString(fault.code) or "not XML"


NAME = "i2b2"
_TYPES = {
    "NAME": "PATIENT DOCTOR USERNAME",
    "PROFESSION": "PROFESSION",
    "LOCATION": "ROOM DEPARTMENT HOSPITAL ORGANIZATION STREET CITY STATE COUNTRY ZIP LOCATION-OTHER",
    "AGE": "AGE",
    "DATE": "DATE",
    "CONTACT": "PHONE FAX EMAIL URL IPADDR",
    "ID": "SSN MEDICALRECORD HEALTHPLAN ACCOUNT LICENSE VEHICLE DEVICE BIOID IDNUM",
    "OTHER": "",
    "PHI": "",
}
_CATEGORY = {kind: category for category, kinds in _TYPES.items() for kind in kinds.split()}
_FILE = re.compile(r"([0-9]+)-[0-9]+")
_SYSTEM = re.compile(r"([0-9]+-[0-9]+)([^0-9].*)?")
_SPACE = re.compile(r"\s")


def type_name(category: str, kind: str) -> str:
    """How a tag's category and TYPE are called in one word."""
    plain = kind and category_and_type(kind) == (category, kind)
    return kind if plain else f"{category}/{kind}"


def category_and_type(name: str) -> tuple[str, str]:
    """The tag a type stands for; a type i2b2 does not know is of category OTHER."""
    category, slash, kind = name.partition("/")
    if slash and category in _TYPES:
        return category, kind
    return _CATEGORY.get(name, "OTHER"), name


def read(paths: Sequence[Path], journal: LossJournal, _notes: Sequence[CorpusNote] | None = None) -> Corpus:
    """One note a file; the digits before the dash are the patient."""
    files = files_in(one_path(paths, "an i2b2 directory"), (".xml",))
    return Corpus(tuple(_entry(path, journal) for path in journal.watch(files, len(files), NAME)))


def _entry(path: Path, journal: LossJournal) -> AnnotatedNote:
    text, tags = parse(read_bytes(path), str(path))
    named = _SYSTEM.fullmatch(path.stem)
    identifier = named[1] if named else unquoted_name(path.stem)
    note = CorpusNote(identifier, text, patient=identifier.partition("-")[0] if named else None)
    return AnnotatedNote(note, tuple(_marks(tags, note, str(path), journal)))


def _marks(tags: list[XmlTag], note: CorpusNote, path: str, journal: LossJournal) -> Iterator[Mark]:
    for number, tag in enumerate(tags, 1):
        if tag.category not in _TYPES:
            journal.lose(NAME, f"tags of category {tag.category!r}, which i2b2 does not have", note.id)
            continue
        if tag.attributes.get("comment"):
            journal.lose(NAME, "comments", note.id)
        where = f"{path}, tag {number}"
        start, end = (_offset(tag, name, where) for name in ("start", "end"))
        quoted = tag.attributes.get("text")
        if quoted is not None and _blank(quoted) == _blank((note.text or "")[start:end]):
            quoted = None
        annotation = journal.cut(NAME, note, (start, end), quoted, where)
        if annotation:
            kind = type_name(tag.category, tag.attributes.get("TYPE", ""))
            yield Mark(FLAT, replace(annotation, label=kind))


def _blank(text: str) -> str:
    """XML turns every white space of an attribute into a space."""
    return _SPACE.sub(" ", text)


def _offset(tag: XmlTag, name: str, where: str) -> int:
    written = tag.attributes.get(name, "")
    if not re.fullmatch(r"[0-9]{1,12}", written):
        raise ParticipantFault(f"{where}: {name} should be an offset, found {written[:40]!a}")
    return int(written)


def write(corpus: Corpus, journal: LossJournal) -> FormatFiles:
    """One file a note, the text in CDATA."""
    content: dict[str, bytes] = {}
    for entry in journal.watch(corpus.entries, len(corpus.entries), NAME):
        _name_losses(entry.note, journal)
        content[f"{quoted_name(entry.note.id)}.xml"] = _document(entry, journal).encode("utf-8")
    return FormatFiles(content)


def _name_losses(note: CorpusNote, journal: LossJournal) -> None:
    named = _FILE.fullmatch(note.id)
    if not named:
        journal.lose(NAME, "identifiers: i2b2 names files <digits>-<digits>.xml and reads no others", note.id)
    if note.patient is not None and (not named or named[1] != note.patient):
        journal.lose(NAME, "patientId (i2b2 has the digits before the dash)", note.id)


def _document(entry: AnnotatedNote, journal: LossJournal) -> str:
    text = entry.note.text or ""
    clean = NOT_XML.sub("\ufffd", text)
    if clean != text:
        journal.lose(NAME, "control characters in the text (written as U+FFFD)", entry.note.id)
    escaped = clean.replace("]]>", "]]]]><![CDATA[>").replace("\r", "]]>&#13;<![CDATA[")
    tags = "".join(_tag(mark, number, clean) for number, mark in enumerate(entry.marks))
    return (
        '<?xml version="1.0" encoding="UTF-8" ?>\n<deIdi2b2>\n'
        f"<TEXT><![CDATA[{escaped}]]></TEXT>\n<TAGS>\n{tags}</TAGS>\n</deIdi2b2>\n"
    )


def _tag(mark: Mark, number: int, text: str) -> str:
    span = mark.annotation
    category, kind = category_and_type(span.label or "")
    return (
        f'<{category} id="P{number}" start="{span.start}" end="{span.end}" '
        f'text="{_attribute(text[span.start : span.end])}" TYPE="{_attribute(kind)}" comment="" />\n'
    )


def _attribute(value: str) -> str:
    clean = NOT_XML.sub("\ufffd", value).replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    return re.sub(r"[\t\n\r]", lambda found: f"&#{ord(found[0])};", clean)


class I2b2Format(FileFormat):
    """XML of the i2b2 2014 challenge."""

    name = "i2b2"
    description = "a directory of i2b2 2014 XML, <patient>-<record>.xml"
    source = "i2b2/UTHealth 2014, track 1"
    reads = staticmethod(read)
    writes = staticmethod(write)
    suffixes = (".xml",)
    cannot_hold = (*TYPES_ONLY, "note type", "patientId other than the digits before the dash", "control characters")
    directory = True

    @classmethod
    def recognises(cls, glance: Glance) -> bool:
        return glance.has_file(".xml") and not glance.has_file(".ann", ".xmi") and not glance.has_file("TypeSystem.xml")
