"""The profile ``presidio``: the span evaluator of presidio-evaluator, releases 0.3.2 and 0.2.5.

The original compares token tags, not spans: both sides' annotations become one tag a token first, so that
a span which ends inside a word is as long as the word. Everything after that is the original's, number for
number. Its global pass, in which all types are one, is the measure ``pii``.

The original's own table of results.

Where the original is known to mislead on the very input at hand.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import asdict

from sandscore.measures.measure_syntax import Parameter, Scalar
from sandscore.profiles.presidio.presidio_evaluation import (
    EvaluationOptions,
    Score,
    SpanEvaluation,
    evaluate_tags,
    f_score,
    without_merging_slip,
)
from sandscore.profiles.presidio.presidio_input import options_of, tagged
from sandscore.profiles.presidio.presidio_spans import TaggedDocument
from sandscore.profiles.profile import OriginalScorer, ProfileInput, ProfileResult
from sandscore.profiles.profile_documents import documents


def size(found: SpanEvaluation, options: EvaluationOptions) -> int | None:
    """How many gold spans there are; release 0.2.5 does not say."""
    return None if options.old else sum(score.counts.annotated for score in found.per_type.values())


def printed(found: SpanEvaluation, options: EvaluationOptions) -> str:
    """The original's own table; where release 0.2.5 fails for want of a number there is a dash."""
    lines = [f"{'Entity':>20}{'Precision':>20}{'Recall':>20}{'Number of samples':>20}"]
    rows = [(name, score, score.counts.annotated) for name, score in found.per_type.items()]
    for name, score, number in [*rows, ("PII", found.pii, size(found, options))]:
        ratios = f"{_percent(score.precision):>20}{_percent(score.recall):>20}"
        lines.append(f"{name:>20}{ratios}{'–' if number is None else number:>20}")
    return "\n".join([*lines, f"PII F measure: {_percent(found.pii.f_beta)}"])


def _percent(value: float | None) -> str:
    return f"{float('nan') if value is None else value:.2%}"


def caveats(documents: Sequence[TaggedDocument], options: EvaluationOptions, found: SpanEvaluation) -> tuple[str, ...]:
    """One sentence for each way in which these numbers are not what they seem."""
    notes = [
        _merged_away(documents, options, found),
        _counted_again(found),
        _found_and_missed(found),
        _slipped(found, options),
        _shortened(documents, options),
    ]
    return tuple(note for note in notes if note)


def _merged_away(documents: Sequence[TaggedDocument], options: EvaluationOptions, found: SpanEvaluation) -> str:
    if not options.old:
        return ""
    truly = evaluate_tags(documents, without_merging_slip(options)).pii.counts.annotated
    counted = found.pii.counts.annotated
    if truly == counted:
        return ""
    return (
        f"release 0.2.5 counts {counted} gold spans where release 0.3.2 counts {truly}: in every note but the"
        " first it merges neighbouring spans of one type whatever stands between them"
    )


def _counted_again(found: SpanEvaluation) -> str:
    spans = found.predicted_spans
    counted = sum(score.counts.predicted for score in found.per_type.values())
    if spans == counted:
        return ""
    return (
        f"{spans} predicted spans are counted as {counted}: a prediction counts once for every gold span it"
        " overlaps, several of one type on one gold span count as one"
    )


def _found_and_missed(found: SpanEvaluation) -> str:
    off = [
        name for name, score in found.per_type.items() if score.counts.tp + score.counts.fn != score.counts.annotated
    ]
    if not off:
        return ""
    return f"tp + fn is not the number of gold spans for {', '.join(sorted(off))}: some count as both"


def _slipped(found: SpanEvaluation, options: EvaluationOptions) -> str:
    if not found.slips:
        return ""
    return (
        f"{found.slips} comparisons with several predictions fall on the other side of {options.threshold:g}"
        " without the original's slip of one character"
    )


def _shortened(documents: Sequence[TaggedDocument], options: EvaluationOptions) -> str:
    if not options.old:
        return ""
    names = {tag for d in documents for tag in (*d.gold, *d.predicted) if "-" in tag}
    if not names:
        return ""
    return f"release 0.2.5 takes two characters off every type with a hyphen: {', '.join(sorted(names))}"


def evaluate(given: ProfileInput, settings: Mapping[str, Scalar]) -> ProfileResult:
    """The original's numbers for these annotations."""
    options = options_of(settings)
    prepared = tagged(documents(given), given.task, str(settings["tokens"]))
    found = evaluate_tags(prepared, options)
    return ProfileResult(
        measures={"pii": _measure(found.pii, options)},
        per_note={note: {"pii": counts} for note, counts in found.per_document.items()},
        details=_details(found, options),
        table=printed(found, options),
        warnings=caveats(prepared, options, found),
    )


def _measure(score: Score, options: EvaluationOptions) -> dict[str, Any]:
    """``f1`` is the original's formula at beta 1, so that its name is true whatever beta is."""
    return {
        **asdict(score.counts),
        "precision": score.precision,
        "recall": score.recall,
        "f1": f_score(score.precision, score.recall, 1),
        "f_beta": score.f_beta,
        "beta": options.beta,
    }


def _details(found: SpanEvaluation, options: EvaluationOptions) -> dict[str, Any]:
    """No text of gold or predictions: a card goes where they may not."""
    labels, rows = found.matrix()
    return {
        "per_type": {name: _row(score) for name, score in found.per_type.items()},
        "n": size(found, options),
        "confusion": {"labels": labels, "rows": rows},
        "errors": dict(Counter(error.kind for error in found.errors)),
    }


def _row(score: Score) -> dict[str, Any]:
    ratios = {"precision": score.precision, "recall": score.recall, "f_beta": score.f_beta}
    return {**asdict(score.counts), **ratios}


class PresidioScorer(OriginalScorer):
    """Spans by intersection over union, per type and all types as one (presidio-evaluator)."""

    name = "presidio"
    description = "spans by intersection over union, per type and all types as one (presidio-evaluator)"
    source = "presidio-evaluator 0.3.2 and 0.2.5"
    parameters = (
        Parameter("threshold", 0.9, least=0, most=1),
        Parameter("beta", 2.0, least=0),
        Parameter("unit", "char", choices=("char", "token")),
        Parameter("skip_words", "default"),
        Parameter("entities", ""),
        Parameter("tokens", "own", choices=("own", "spacy")),
        Parameter("release", "0.3.2", choices=("0.3.2", "0.2.5")),
    )
    evaluate = staticmethod(evaluate)
