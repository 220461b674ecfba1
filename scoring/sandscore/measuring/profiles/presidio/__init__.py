"""The profile ``presidio``: the span evaluator of presidio-evaluator, releases 0.3.2 and 0.2.5.

The original compares token tags, not spans: both sides' annotations become one tag a token first, so that
a span which ends inside a word is as long as the word. Everything after that is the original's, number for
number. Its global pass, in which all types are one, is the measure ``pii``.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from sandscore.measuring.profiles.inputs import documents
from sandscore.measuring.profiles.presidio.caveats import caveats
from sandscore.measuring.profiles.presidio.evaluation import Evaluation, Options, Score, evaluate_tags, f_score
from sandscore.measuring.profiles.presidio.preparing import options_of, tagged
from sandscore.measuring.profiles.presidio.printing import printed, size
from sandscore.measuring.profiles.result import ProfileInput, ProfileResult
from sandscore.measuring.values import Definition, Parameter, Scalar

DEFINITION = Definition(
    "presidio",
    "spans by intersection over union, per type and all types as one (presidio-evaluator)",
    (
        Parameter("threshold", 0.9, least=0, most=1),
        Parameter("beta", 2.0, least=0),
        Parameter("unit", "char", choices=("char", "token")),
        Parameter("skip_words", "default"),
        Parameter("entities", ""),
        Parameter("tokens", "own", choices=("own", "spacy")),
        Parameter("release", "0.3.2", choices=("0.3.2", "0.2.5")),
    ),
)


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


def _measure(score: Score, options: Options) -> dict[str, Any]:
    """``f1`` is the original's formula at beta 1, so that its name is true whatever beta is."""
    return {
        **asdict(score.counts),
        "precision": score.precision,
        "recall": score.recall,
        "f1": f_score(score.precision, score.recall, 1),
        "f_beta": score.f_beta,
        "beta": options.beta,
    }


def _details(found: Evaluation, options: Options) -> dict[str, Any]:
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
