"""An i2b2 file's text and tags. Document types are refused, so no entity is ever declared or fetched."""

from dataclasses import dataclass, field
from xml.parsers import expat

from sandscore.records.errors import ParticipantFault


@dataclass(frozen=True, slots=True)
class Tag:
    """An element of TAGS: its name and its attributes."""

    category: str
    attributes: dict[str, str]


@dataclass(slots=True)
class _Document:
    where: str
    path: list[str] = field(default_factory=list)
    texts: int = 0
    pieces: list[str] = field(default_factory=list)
    tags: list[Tag] = field(default_factory=list)

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.path.append(name)
        if self._in_text():
            self.texts += 1
        elif len(self.path) == 3 and self.path[1] == "TAGS":
            self.tags.append(Tag(name, attributes))

    def _in_text(self) -> bool:
        return len(self.path) == 2 and self.path[1] == "TEXT"

    def end(self, _name: str) -> None:
        self.path.pop()

    def characters(self, piece: str) -> None:
        if self._in_text():
            self.pieces.append(piece)

    def refuse(self, *_declaration: object) -> None:
        raise ParticipantFault(f"{self.where}: declares a document type; refused, as it could declare entities")


def parse(data: bytes, where: str) -> tuple[str, list[Tag]]:
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
