"""A file format: a row that names itself, reads files into a corpus and writes a corpus, and says what it cannot hold.

Extend ``FileFormat`` for a format of your own.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from msgspec import Struct

from sandscore.base.registry import TableRow
from sandscore.formats.corpus import Corpus, CorpusNote, LossJournal, Output

TYPES_ONLY = ("confidence", "dateFormat", "certainty")
"""What a format cannot hold whose annotations have a type and nothing else."""


class Glance(Struct, frozen=True):
    """What a look at a path shows: the names in a directory, how a file begins, and the first item of its JSON."""

    name: str
    names: tuple[str, ...] = ()
    beginning: bytes = b""
    item: Any = None
    """The first item of a list or of JSON Lines; an object that is alone, itself; None where there is no JSON."""

    @property
    def keys(self) -> frozenset[str]:
        """The keys of that item."""
        return frozenset(self.item) if isinstance(self.item, dict) else frozenset()

    def has_file(self, *endings: str) -> bool:
        """Whether the directory has a file with one of the endings."""
        return any(name.endswith(endings) for name in self.names)


class FileFormat(TableRow):
    """What every format says of itself; ``reads`` and ``writes`` tell the journal what gets lost."""

    suffixes: ClassVar[tuple[str, ...]] = ()
    """How the names of its files end."""
    cannot_hold: ClassVar[tuple[str, ...]] = ()
    flat: ClassVar[bool] = True
    """Annotations carry a free type, not one of our tasks."""
    text: ClassVar[bool] = True
    """It holds the notes' text."""
    directory: ClassVar[bool] = False
    """It is a directory of several files."""
    whole: ClassVar[bool] = False
    """Though annotations have types, it holds their confidence and further labels, and what is said of notes."""

    @staticmethod
    def reads(paths: Sequence[Path], journal: LossJournal, notes: Sequence[CorpusNote] | None, /) -> Corpus:
        """The corpus in these files; the notes where the user gave them."""
        raise NotImplementedError

    @staticmethod
    def writes(corpus: Corpus, journal: LossJournal, /) -> Output:
        """A file's bytes, or several files by name."""
        raise NotImplementedError

    @classmethod
    def recognises(cls, glance: Glance) -> bool:
        """Whether this leaves no doubt that it is of this format; what no format recognises has to be named."""
        return False

    @classmethod
    def fault(cls) -> str | None:
        """A format has to read and to write, and to say how its files are called."""
        if cls.reads is FileFormat.reads or cls.writes is FileFormat.writes:
            return "it has no reads or no writes"
        return None if cls.suffixes else "it has no suffixes"
