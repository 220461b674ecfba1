"""The error report of a pipeline around Presidio's span evaluator, its slips mended.

The tables list what the original's do, with annotation and prediction the right way round, and the number
of entities is, as there, the number of tokens.
"""

from collections.abc import Iterable, Mapping, Sequence

from sandscore.measuring.error_files.report import Alignment, ErrorReport, ErrorRow, Ratios
from sandscore.measuring.profiles.presidio.errors import Kind, SpanError
from sandscore.measuring.profiles.presidio.evaluation import Options, Score, evaluate_tags
from sandscore.measuring.profiles.presidio.spans import TaggedDocument
from sandscore.measuring.values import Scalar


def presidio_report(
    documents: Sequence[TaggedDocument],
    options: Options,
    settings: Mapping[str, Scalar],
    alignment: Alignment,
    created: str | None,
) -> ErrorReport:
    """The report on these tagged notes; ``settings`` are named in it."""
    found = evaluate_tags(documents, options)
    labels, matrix = found.matrix()
    return ErrorReport(
        overall=_ratios(found.pii),
        f_score=found.pii.f_beta,
        per_type={name: _ratios(score) for name, score in found.per_type.items()},
        labels=labels,
        matrix=matrix,
        false_positives=_rows(found.errors, ("FP", "WrongEntity")),
        false_negatives=_rows(found.errors, ("FN", "WrongEntity")),
        samples=len(documents),
        entities=sum(len(document.tokens) for document in documents),
        config={"comparison": "presidio", **settings},
        alignment=alignment,
        created=created,
    )


def _ratios(score: Score) -> Ratios:
    return Ratios(score.precision, score.recall)


def _rows(errors: Iterable[SpanError], kinds: tuple[Kind, ...]) -> list[ErrorRow]:
    """The errors of these kinds, kind after kind."""
    kept = [error for kind in kinds for error in errors if error.kind == kind]
    return [
        ErrorRow(e.kind, e.annotation, e.prediction, e.token, e.full_text, e.note, e.explanation, e.start, e.end)
        for e in kept
    ]
