"""UIMA's CAS as INCEpTION exports it: a directory with a note a file, in JSON or XMI; offsets count UTF-16 units.

Read are named entities (DKPro's type) and the span layers of a project, ``webanno.custom.…``.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import quoteattr

from msgspec import Struct
from msgspec.structs import replace

from sandscore.base.errors import ParticipantFault
from sandscore.formats.corpus import FLAT, AnnotatedNote, Corpus, CorpusNote, FormatFiles, LossJournal, Mark
from sandscore.formats.file_format import FileFormat, Glance
from sandscore.formats.format_files import (
    NOT_XML,
    files_in,
    one_path,
    quoted_name,
    read_bytes,
    read_json,
    unquoted_name,
)
from sandscore.formats.json_fields import JsonObject, as_json, listed, mapping, text_or_none
from sandscore.formats.note_naming import FACTS, NoteNaming, beside, facts_of, more_of

NAME = "uima-cas"
_DKPRO = "de.tudarmstadt.ukp.dkpro.core.api"
ENTITY = f"{_DKPRO}.ner.type.NamedEntity"
META = f"{_DKPRO}.metadata.type.DocumentMetaData"
FIELD = f"{_DKPRO}.metadata.type.MetaDataStringField"
SOFA = "uima.cas.Sofa"
_LAYERS = ("webanno.custom.", f"{_DKPRO}.ner.type.")
_SILENT = ("uima.", f"{_DKPRO}.metadata.", f"{_DKPRO}.segmentation.", "de.tudarmstadt.ukp.clarin.webanno.api.type.")
_READ = frozenset({"begin", "end", "sofa", "identifier", "confidence", "value", "label"})
_XMI = "http://www.omg.org/XMI"
_MOST = 1_000_000
"""Elements of an XMI file that are held in memory."""


class CasDocument(Struct, frozen=True):
    """One CAS: its text, and its feature structures, each with its type and its plain features."""

    text: str
    structures: Sequence[tuple[str, JsonObject]]

    def features(self, kind: str) -> Iterator[JsonObject]:
        """The features of each structure of a type."""
        return (features for name, features in self.structures if name == kind)


def read(paths: Sequence[Path], journal: LossJournal, notes: Sequence[CorpusNote] | None = None) -> Corpus:
    """One note a file; called as the file, as the CAS says, or known by its text."""
    directory = one_path(paths, "a directory of CAS files")
    files = [directory] if directory.is_file() else files_in(directory, (".json", ".xmi"))
    naming = NoteNaming(NAME, directory, notes, journal)
    known = {note.id for note in notes or ()}
    entries = []
    for number, path in enumerate(journal.watch(files, len(files), NAME), 1):
        cas = _of_json(read_json(path), str(path)) if path.suffix != ".xmi" else _of_xmi(read_bytes(path), str(path))
        note = naming.note(_said(cas, path, known, str(path)), cas.text, number, str(path))
        entries.append(AnnotatedNote(note, tuple(_marks(cas, note, str(path), journal))))
    naming.done()
    return Corpus(tuple(entries))


def _said(cas: CasDocument, path: Path, known: set[str], where: str) -> JsonObject:
    facts = {str(one.get("key")): text_or_none(one, "value", where) for one in cas.features(FIELD)}
    stem = unquoted_name(path.stem)
    names = [
        stem,
        *(str(one[key]) for one in cas.features(META) for key in ("documentId", "documentTitle") if key in one),
    ]
    name = next((name for name in names if name in known), None if known else stem)
    return {key: facts[key] for key in FACTS if facts.get(key) is not None} | (
        {"note": name} if name is not None else {}
    )


def _of_json(held: Any, where: str) -> CasDocument:
    structures = mapping(held, f"{where}: the file").get("%FEATURE_STRUCTURES")
    if isinstance(structures, dict):
        structures = [{"%ID": key} | mapping(one, where) for key, one in structures.items()]
    found = []
    for number, one in enumerate(listed(structures, f"{where}: %FEATURE_STRUCTURES")):
        features = mapping(one, f"{where}: structure {number}")
        plain = {key.lstrip("@#^"): value for key, value in features.items() if key[:1] != "%"}
        found.append((str(features.get("%TYPE")), plain | {"": str(features.get("%ID"))}))
    return _cas(found, where)


def _of_xmi(data: bytes, where: str) -> CasDocument:
    found: list[tuple[str, JsonObject]] = []
    parser = expat.ParserCreate(namespace_separator="\n")
    depth = 0

    def start(name: str, attributes: Mapping[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth != 2:
            return
        if len(found) >= _MOST:
            raise ParticipantFault(f"{where}: more elements than are looked into")
        space, _, local = name.rpartition("\n")
        kind = f"{space.removeprefix('http:///').removesuffix('.ecore').replace('/', '.')}.{local}"
        features = {key.rpartition("\n")[2]: value for key, value in attributes.items() if not key.startswith(_XMI)}
        found.append((kind, features | {"": attributes.get(f"{_XMI}\nid", "")}))

    def end(_name: str) -> None:
        nonlocal depth
        depth -= 1

    def refuse(*_declaration: object) -> None:
        raise ParticipantFault(f"{where}: declares a document type; refused, as it could declare entities")

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    try:
        parser.Parse(data, True)
    except expat.ExpatError as fault:
        raise ParticipantFault(f"{where}: line {fault.lineno}: is no XMI ({expat.ErrorString(fault.code)})") from None
    except (ValueError, LookupError):
        raise ParticipantFault(f"{where}: is no XMI (its encoding is none we know)") from None
    return _cas(found, where)


def _cas(structures: list[tuple[str, JsonObject]], where: str) -> CasDocument:
    """The view that INCEpTION shows; of a CAS with one view, that."""
    sofas = [features for kind, features in structures if kind == SOFA and isinstance(features.get("sofaString"), str)]
    shown = [one for one in sofas if one.get("sofaID") == "_InitialView"] or sofas
    if len(shown) != 1:
        raise ParticipantFault(f"{where}: expected one text (a Sofa with a sofaString), found {len(shown)}")
    own = shown[0][""]
    kept = [(kind, one) for kind, one in structures if "sofa" not in one or str(one["sofa"]) == own]
    return CasDocument(str(shown[0]["sofaString"]), kept)


def _marks(cas: CasDocument, note: CorpusNote, where: str, journal: LossJournal) -> Iterator[Mark]:
    places = _code_points(cas.text)
    for number, (kind, features) in enumerate(cas.structures):
        if "begin" not in features or kind.startswith(_SILENT):
            continue
        if not kind.startswith(_LAYERS):
            journal.lose(NAME, f"annotations of type {kind[:100]}", note.id)
            continue
        at = f"{where}, structure {number}"
        start, end = (_place(features.get(name), places, len(cas.text), f"{at}: {name}") for name in ("begin", "end"))
        annotation = journal.cut(NAME, note, (start, end), None, at)
        if annotation is None:
            continue
        label, own = _label(kind, features, at)
        sure = _confidence(features.get("confidence"), at)
        rest = {key: value for key, value in features.items() if key != own and isinstance(value, str)}
        more = tuple(beside(rest, _READ | {""}, (NAME, note, journal)))
        yield Mark(FLAT, replace(annotation, label=label, confidence=sure), more=more)


def _label(kind: str, features: JsonObject, where: str) -> tuple[str | None, str | None]:
    """The type of an annotation, and the feature that held it: ``value`` or ``label``, or the only one of a layer."""
    for name in ("value", "label"):
        if name in features:
            return text_or_none(features, name, where) or None, name
    held = [key for key, value in features.items() if key not in _READ | {""} and isinstance(value, str)]
    if kind != ENTITY and len(held) == 1:
        return str(features[held[0]]), held[0]
    return (None if kind == ENTITY else kind.rpartition(".")[2]), None


def _confidence(value: object, where: str) -> float | None:
    if value is None:
        return None
    try:
        found = float(str(value))
    except ValueError:
        found = -1.0
    if not 0 <= found <= 100:
        raise ParticipantFault(f"{where}: confidence should be a number from 0 to 100")
    return int(found) if found.is_integer() else found


def _code_points(text: str) -> list[int] | None:
    """Which code point each UTF-16 unit begins, -1 within one; None where both count alike."""
    if text.isascii() or max(text) <= "\uffff":
        return None
    places: list[int] = []
    for number, character in enumerate(text):
        places += [number] if character <= "\uffff" else [number, -1]
    return [*places, len(text)]


def _place(value: object, places: list[int] | None, length: int, where: str) -> int:
    try:
        unit = int(str(value)[:20], 10)
    except ValueError:
        raise ParticipantFault(f"{where} should be a whole number") from None
    if places is None or unit < 0:
        return unit
    place = places[unit] if unit < len(places) else length + 1 + unit - len(places)
    if place < 0:
        raise ParticipantFault(f"{where}: {unit} is within a character (offsets count UTF-16 units)")
    return place


def _units(text: str) -> list[int]:
    """The UTF-16 unit at which each code point begins, and the end."""
    places = [0]
    for character in text:
        places.append(places[-1] + (2 if character > "\uffff" else 1))
    return places


def _structures(entry: AnnotatedNote, text: str) -> Iterator[tuple[str, JsonObject]]:
    """What a note's CAS holds beside its text."""
    units = _units(text)
    yield META, {"begin": 0, "end": units[-1], "language": "x-unspecified", "documentId": entry.note.id}
    for key, value in facts_of(entry.note).items():
        if key in FACTS:
            yield FIELD, {"key": key, "value": value}
    for mark in entry.marks:
        span = mark.annotation
        features: JsonObject = {"begin": units[span.start], "end": units[span.end]}
        if span.label:
            features["value"] = span.label
        if span.confidence is not None:
            features["confidence"] = float(span.confidence)
        yield ENTITY, features | more_of(mark)


def _types(corpus: Corpus) -> dict[str, tuple[str, dict[str, str]]]:
    """The types that are used: each with the type above it, and the ranges of its features."""
    names = {name: "uima.cas.String" for entry in corpus.entries for mark in entry.marks for name, _ in mark.more}
    string = {"value": "uima.cas.String"}
    return {
        META: ("uima.tcas.DocumentAnnotation", {"documentId": "uima.cas.String"}),
        FIELD: ("uima.cas.TOP", {"key": "uima.cas.String", **string}),
        ENTITY: ("uima.tcas.Annotation", {**string, "confidence": "uima.cas.Double", **names}),
    }


def write(corpus: Corpus, journal: LossJournal) -> FormatFiles:
    """A JSON file a note, with the types that it uses."""
    types = {
        name: {"%NAME": name, "%SUPER_TYPE": above}
        | {feature: {"%NAME": feature, "%RANGE": kind} for feature, kind in features.items()}
        for name, (above, features) in _types(corpus).items()
    }
    content = {}
    for entry in journal.watch(corpus.entries, len(corpus.entries), NAME):
        text = entry.note.text or ""
        sofa = {"sofaNum": 1, "sofaID": "_InitialView", "mimeType": "text/plain", "sofaString": text}
        made: list[JsonObject] = [{"%ID": 1, "%TYPE": SOFA, **sofa}]
        for number, (kind, features) in enumerate(_structures(entry, text), 2):
            made.append({"%ID": number, "%TYPE": kind} | ({"@sofa": 1} if "begin" in features else {}) | features)
        view = {"_InitialView": {"%SOFA": 1, "%MEMBERS": [one["%ID"] for one in made[1:]]}}
        held = {"%TYPES": types, "%FEATURE_STRUCTURES": made, "%VIEWS": view}
        content[f"{quoted_name(entry.note.id)}.json"] = as_json(held)
    return FormatFiles(content)


def write_xmi(corpus: Corpus, journal: LossJournal) -> FormatFiles:
    """An XMI file a note, and TypeSystem.xml beside them."""
    content = {"TypeSystem.xml": _type_system(corpus).encode("utf-8")}
    for entry in journal.watch(corpus.entries, len(corpus.entries), NAME):
        text = NOT_XML.sub("\ufffd", entry.note.text or "")
        if text != entry.note.text:
            journal.lose(NAME, "control characters in the text (written as U+FFFD)", entry.note.id)
        made = list(_structures(entry, text))
        lines = [_element(number, kind, features) for number, (kind, features) in enumerate(made, 2)]
        sofa = {"sofaNum": 1, "sofaID": "_InitialView", "mimeType": "text/plain", "sofaString": text}
        members = " ".join(str(number) for number in range(2, len(made) + 2))
        content[f"{quoted_name(entry.note.id)}.xmi"] = (
            '<?xml version="1.0" encoding="UTF-8"?>\n'
            f'<xmi:XMI xmlns:xmi="{_XMI}" xmlns:cas="http:///uima/cas.ecore" {_SPACES} xmi:version="2.0">\n'
            f'<cas:NULL xmi:id="0"/>\n{"".join(lines)}<cas:Sofa xmi:id="1"{_attributes(sofa)}/>\n'
            f'<cas:View sofa="1" members="{members}"/>\n</xmi:XMI>\n'
        ).encode()
    return FormatFiles(content)


_PREFIXES = {ENTITY: "ner", META: "metadata", FIELD: "metadata"}
_SPACES = " ".join(
    f'xmlns:{prefix}="http:///{_DKPRO.replace(".", "/")}/{prefix}/type.ecore"' for prefix in ("ner", "metadata")
)


def _element(number: int, kind: str, features: JsonObject) -> str:
    sofa = ' sofa="1"' if "begin" in features else ""
    return f'<{_PREFIXES[kind]}:{kind.rpartition(".")[2]} xmi:id="{number}"{sofa}{_attributes(features)}/>\n'


def _attributes(features: Mapping[str, Any]) -> str:
    clean = {name: NOT_XML.sub("\ufffd", str(value)) for name, value in features.items()}
    kept = {"\n": "&#10;", "\r": "&#13;", "\t": "&#9;"}
    return "".join(f" {name}={quoteattr(value, kept)}" for name, value in clean.items())


def _type_system(corpus: Corpus) -> str:
    types = "".join(
        f"<typeDescription><name>{name}</name><supertypeName>{above}</supertypeName><features>"
        + "".join(
            f"<featureDescription><name>{feature}</name><rangeTypeName>{kind}</rangeTypeName></featureDescription>"
            for feature, kind in features.items()
        )
        + "</features></typeDescription>"
        for name, (above, features) in _types(corpus).items()
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<typeSystemDescription xmlns="http://uima.apache.org/resourceSpecifier"><types>{types}</types>'
        "</typeSystemDescription>\n"
    )


class UimaCasFormat(FileFormat):
    """CAS in JSON."""

    name = NAME
    description = "a directory of UIMA CAS as INCEpTION has it, .json or .xmi; written as .json"
    source = "UIMA CAS JSON 0.4, DKPro Core 2 types"
    reads = staticmethod(read)
    writes = staticmethod(write)
    suffixes = (".json", ".xmi")
    directory = True
    whole = True

    @classmethod
    def recognises(cls, glance: Glance) -> bool:
        alone = b'"%FEATURE_STRUCTURES"' in glance.beginning or b"<xmi:XMI" in glance.beginning[:1000]
        return cls.name == NAME and (alone or glance.has_file(".xmi") or _is_cas(glance))


def _is_cas(glance: Glance) -> bool:
    """Whether the first JSON file of a directory is a CAS."""
    first = next((name for name in glance.names if name.endswith(".json")), None)
    if first is None:
        return False
    with (Path(glance.name) / first).open("rb") as file:
        return b'"%FEATURE_STRUCTURES"' in file.read(1 << 16)


class UimaXmiFormat(UimaCasFormat):
    """CAS in XMI."""

    name = "uima-xmi"
    description = "the same, written as .xmi with TypeSystem.xml beside"
    source = "UIMA 3, XMI serialisation"
    writes = staticmethod(write_xmi)
    cannot_hold = ("control characters",)
