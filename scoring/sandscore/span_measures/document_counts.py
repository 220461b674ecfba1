"""The measures of documents, counted note by note over a whole data set."""

from functools import cached_property
from typing import Any

from msgspec import Struct

from sandscore.annotations.input_files import Loaded
from sandscore.base.errors import UsageFault
from sandscore.documents.note_documents import documents_of
from sandscore.documents.note_spans import NoteSpans, SpanCounts, add_up, spans_of
from sandscore.measures.measure import Components, DocumentMeasure, Settings
from sandscore.measures.measure_registry import MEASURES, document_measure
from sandscore.measures.measure_syntax import Named
from sandscore.records.document import Document
from sandscore.records.formula import COUNTS, parse_formula


class CountedGeneral(Struct, frozen=True):
    """What the card shows of all notes together; ``per_note`` the integers it is made of, where it can be ranked."""

    measure: Named
    shown: dict[str, Any]
    per_note: list[tuple[int, ...]] | None
    warnings: tuple[str, ...]

    @property
    def in_counts(self) -> bool:
        """Whether the integers are tp, fp and fn."""
        return self.per_note is not None and "components" not in self.shown


def count_general(measures: list[Named], loaded: Loaded) -> list[CountedGeneral]:
    """Every measure of documents that was asked for."""
    readable = _Readable(loaded)
    return [_plugged(measure, readable) or _counted(measure, readable) for measure in measures]


class _Readable(Struct, frozen=True, dict=True):
    """The data set, as columns or as documents, made when somebody wants them."""

    loaded: Loaded

    @cached_property
    def spans(self) -> NoteSpans:
        return spans_of(self.loaded)

    @cached_property
    def documents(self) -> list[Document]:
        return documents_of(self.loaded)


def _counted(measure: Named, readable: _Readable) -> CountedGeneral:
    row = _row(measure)
    settings = row.settle(measure)
    found = row.count_spans(readable.spans, settings) or _one_by_one(row, readable.documents, settings)
    shown = row.score(add_up(found.notes), settings)
    if (written := _formula_of_its_own(row, settings)) is not None:
        return _by_formula(measure, row, written, found.notes, found.warnings)
    if not all(name in shown for name in COUNTS):
        return CountedGeneral(measure, shown, None, found.warnings)
    known: dict[tuple[tuple[str, int], ...], tuple[int, ...]] = {}
    ranked = []
    for note in found.notes:
        if (counts := known.get(key := tuple(note.items()))) is None:
            scored = row.score(note, settings)
            counts = known[key] = tuple(scored[name] for name in COUNTS)
        ranked.append(counts)
    return CountedGeneral(measure, shown, ranked, found.warnings)


def _one_by_one(row: type[DocumentMeasure], documents: list[Document], settings: Settings) -> SpanCounts:
    return SpanCounts([row.count(document, settings) for document in documents], row.warn(documents, settings))


def _plugged(measure: Named, readable: _Readable) -> CountedGeneral | None:
    """A stranger's measure; None for one of ours. Its exceptions may quote gold, so only their kind is told."""
    row, plugin = _row(measure), MEASURES.plugin(measure.name)
    if plugin is None:
        return None
    settings, documents = row.settle(measure), readable.documents
    try:
        notes = [row.count(document, settings) for document in documents]
        total = add_up(notes)
        score = row.score(total, settings)
        warnings = tuple(map(str, row.warn(documents, settings)))
    except Exception as fault:
        raise UsageFault(f"the measure '{measure}' of {plugin} fails with {type(fault).__name__}") from None
    if row.formula is None:
        return CountedGeneral(measure, {**score, "plugin": plugin}, None, warnings)
    counted = _by_formula(measure, row, row.formula, notes, warnings, plugin)
    rows = counted.per_note or []
    if wrong := next((value for counts in rows for value in counts if type(value) is not int or value < 0), None):
        kind = "a negative number" if type(wrong) is int else f"of type {type(wrong).__name__}"
        raise UsageFault(f"the measure '{measure}' of {plugin} counts something that is {kind}, not a whole number")
    return counted


def _formula_of_its_own(row: type[DocumentMeasure], settings: Settings) -> str | None:
    """The formula of a row that its counts alone do not rank: of other components, or less of it is better."""
    written = row.formula_for(settings)
    if written is None:
        return None
    return written if row.direction == "lower" or not written.startswith("f_beta") else None


def _by_formula(
    measure: Named,
    row: type[DocumentMeasure],
    written: str,
    notes: list[Components],
    warnings: tuple[str, ...],
    plugin: str | None = None,
) -> CountedGeneral:
    """Components, formula and direction, from which anybody can rank without the measure."""
    formula = parse_formula(written)
    total = add_up(notes)
    components = {name: total.get(name, 0) for name in formula.components}
    shown = {
        "score": formula.score(components),
        "components": components,
        "formula": written,
        "direction": row.direction,
        **({"plugin": plugin} if plugin else {}),
    }
    return CountedGeneral(measure, shown, [tuple(n.get(c, 0) for c in formula.components) for n in notes], warnings)


def _row(measure: Named) -> type[DocumentMeasure]:
    row = document_measure(measure.name)
    if row is None:
        raise UsageFault(f"{measure.name} is a measure of the challenge")
    return row
