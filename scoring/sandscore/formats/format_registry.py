"""The format table: one row is one file format that ``convert`` reads and writes."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from msgspec import Struct

from sandscore.formats import (
    brat_standoff,
    conll_columns,
    conll_writing,
    i2b2_xml,
    neleval_tsv,
    nlpsandbox_bundle,
    presidio_json,
    sandscore_json,
)
from sandscore.formats.corpus import Corpus, CorpusNote, LossJournal, Output

Reader = Callable[[Sequence[Path], LossJournal, Sequence[CorpusNote] | None], Corpus]
Writer = Callable[[Corpus, LossJournal], Output]


class Format(Struct, frozen=True):
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
        sandscore_json.read,
        sandscore_json.write,
        flat=False,
        directory=True,
    ),
    Format(
        "brat",
        "a directory of BRAT standoff, .txt and .ann",
        brat_standoff.read,
        brat_standoff.write,
        (*_FLAT, "patientId and note type", "line ends at the edge of annotations"),
        directory=True,
    ),
    Format(
        "conll",
        "columns with BIO tags; any of the tagging schemes is read",
        conll_columns.read,
        conll_writing.write,
        _CONLL,
    ),
    *(
        Format(
            f"conll-{scheme}",
            f"columns with {scheme.upper()} tags",
            conll_columns.read,
            partial(conll_writing.write, scheme=scheme),
            _CONLL + (("borders between neighbours of one type",) if scheme == "io" else ()),
        )
        for scheme in ("biluo", "iobes", "io")
    ),
    Format(
        "i2b2",
        "a directory of i2b2 2014 XML, <patient>-<record>.xml",
        i2b2_xml.read,
        i2b2_xml.write,
        (*_FLAT, "note type", "patientId other than the digits before the dash", "control characters"),
        directory=True,
    ),
    Format("presidio", "Presidio Evaluator's InputSample JSON", presidio_json.read, presidio_json.write, _FLAT),
    Format(
        "nlpsandbox-bundle",
        "patient bundles of the NLP Sandbox, notes and annotations in one file",
        nlpsandbox_bundle.read_bundle,
        nlpsandbox_bundle.write_bundle,
        ("annotations of task phi", "notes without a patient"),
        flat=False,
    ),
    Format(
        "nlpsandbox-list",
        "annotation lists of an NLP Sandbox data node, all tasks in one file",
        nlpsandbox_bundle.read_list,
        nlpsandbox_bundle.write_list,
        ("annotations of task phi", "note text, patientId and type"),
        flat=False,
        text=False,
    ),
    Format(
        "neleval",
        "neleval TSV, one mention a line; needs --notes",
        neleval_tsv.read,
        neleval_tsv.write,
        (*_FLAT, "note text, patientId and type", "notes without annotations"),
        text=False,
    ),
)

FORMATS: dict[str, Format] = {row.name: row for row in _ROWS}
