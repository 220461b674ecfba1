"""The format table: one row is one file format that ``convert`` reads and writes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from sandscore.reading.formats import brat, conll, conllwriting, i2b2, neleval, nlpsandbox, ours, presidio
from sandscore.reading.formats.corpus import Corpus, Journal, Note, Output

Reader = Callable[[Sequence[Path], Journal, Sequence[Note] | None], Corpus]
Writer = Callable[[Corpus, Journal], Output]


@dataclass(frozen=True, slots=True)
class Format:
    """``flat``: annotations carry a free type, not one of our tasks. ``text``: it holds the notes' text."""

    name: str
    summary: str
    reads: Reader
    writes: Writer
    cannot_hold: tuple[str, ...] = ()
    flat: bool = True
    text: bool = True
    directory: bool = False


_FLAT = ("confidence", "dateFormat", "certainty")
_CONLL = (*_FLAT, "patientId and note type", "overlapping annotations", "white space at the edge of annotations")

_ROWS = (
    Format(
        "ours",
        "a directory of notes.json and <task>.json; read from the annotation files and --notes",
        ours.read,
        ours.write,
        flat=False,
        directory=True,
    ),
    Format(
        "brat",
        "a directory of BRAT standoff, .txt and .ann",
        brat.read,
        brat.write,
        (*_FLAT, "patientId and note type", "line ends at the edge of annotations"),
        directory=True,
    ),
    Format(
        "conll",
        "columns with BIO tags; any of the tagging schemes is read",
        conll.read,
        conllwriting.write,
        _CONLL,
    ),
    *(
        Format(
            f"conll-{scheme}",
            f"columns with {scheme.upper()} tags",
            conll.read,
            partial(conllwriting.write, scheme=scheme),
            _CONLL + (("borders between neighbours of one type",) if scheme == "io" else ()),
        )
        for scheme in ("biluo", "iobes", "io")
    ),
    Format(
        "i2b2",
        "a directory of i2b2 2014 XML, <patient>-<record>.xml",
        i2b2.read,
        i2b2.write,
        (*_FLAT, "note type", "patientId other than the digits before the dash", "control characters"),
        directory=True,
    ),
    Format("presidio", "Presidio Evaluator's InputSample JSON", presidio.read, presidio.write, _FLAT),
    Format(
        "nlpsandbox-bundle",
        "patient bundles of the NLP Sandbox, notes and annotations in one file",
        nlpsandbox.read_bundle,
        nlpsandbox.write_bundle,
        ("annotations of task phi", "notes without a patient"),
        flat=False,
    ),
    Format(
        "nlpsandbox-list",
        "annotation lists of an NLP Sandbox data node, all tasks in one file",
        nlpsandbox.read_list,
        nlpsandbox.write_list,
        ("annotations of task phi", "note text, patientId and type"),
        flat=False,
        text=False,
    ),
    Format(
        "neleval",
        "neleval TSV, one mention a line; needs --notes",
        neleval.read,
        neleval.write,
        (*_FLAT, "note text, patientId and type", "notes without annotations"),
        text=False,
    ),
)

FORMATS: dict[str, Format] = {row.name: row for row in _ROWS}
