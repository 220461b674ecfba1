"""A file format: a row that names itself, reads files into a corpus and writes a corpus, and says what it cannot hold.

Extend ``FileFormat`` for a format of your own.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from sandscore.base.registry import TableRow
from sandscore.formats.corpus import Corpus, CorpusNote, LossJournal, Output

TYPES_ONLY = ("confidence", "dateFormat", "certainty")
"""What a format cannot hold whose annotations have a type and nothing else."""


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

    @staticmethod
    def reads(paths: Sequence[Path], journal: LossJournal, notes: Sequence[CorpusNote] | None, /) -> Corpus:
        """The corpus in these files; the notes where the user gave them."""
        raise NotImplementedError

    @staticmethod
    def writes(corpus: Corpus, journal: LossJournal, /) -> Output:
        """A file's bytes, or several files by name."""
        raise NotImplementedError

    @classmethod
    def fault(cls) -> str | None:
        """A format has to read and to write, and to say how its files are called."""
        if cls.reads is FileFormat.reads or cls.writes is FileFormat.writes:
            return "it has no reads or no writes"
        return None if cls.suffixes else "it has no suffixes"
