"""The recorded cases of Presidio's evaluators, and how they are read."""

import json
from pathlib import Path
from typing import Any

from peers.vectors import family_directory

from sandscore.profiles.presidio.presidio_counting import SpanError
from sandscore.profiles.presidio.presidio_evaluation import EvaluationOptions
from sandscore.profiles.presidio.presidio_spans import TaggedDocument


def case_files(folder: str, pattern: str) -> list[Path]:
    """The cases of one folder; finding none is a failure."""
    root = family_directory("presidio") / folder
    found = sorted(root.glob(pattern))
    if not found:
        raise FileNotFoundError(f"no cases {pattern} under {root}")
    return found


def load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def runs(case: dict[str, Any]) -> list[dict[str, Any]]:
    """A case is one run, a random corpus several on the same documents."""
    return list(case["runs"]) if "runs" in case else [case]


def tagged_documents(case: dict[str, Any]) -> list[TaggedDocument]:
    """The documents in the order the original visits them: by identifier, equal ones as one, null ones not."""
    found: dict[Any, TaggedDocument] = {}
    for number, document in enumerate(case["documents"]):
        key = document.get("sentence_id", number)
        if key is None:
            continue
        parts = [document[name] for name in ("tokens", "start_indices", "gold_tags", "pred_tags")]
        before = found.get(key)
        if before:
            earlier = (before.tokens, before.starts, before.gold, before.predicted)
            parts = [[*one, *other] for one, other in zip(earlier, parts, strict=True)]
        found[key] = TaggedDocument(str(key), *parts)
    return [found[key] for key in sorted(found)]


def options_of(params: dict[str, Any], release: str) -> EvaluationOptions:
    """The run's parameters; those that the original ignores are ignored."""
    names = {"iou_threshold": "threshold", "beta": "beta", "char_based": "by_characters"}
    given: dict[str, Any] = {ours: params[theirs] for theirs, ours in names.items() if theirs in params}
    for name in ("skip_words", "entities"):
        if params.get(name) is not None:
            given[name] = frozenset(params[name])
    return EvaluationOptions(release=release, **given)


def as_listed(error: SpanError, release: str) -> dict[str, str | int]:
    """An error as that release lists it: 0.2.5 swaps the types, except of predictions that overlap nothing."""
    types = [error.annotation, error.prediction]
    if release == "0.2.5" and not error.explanation.startswith("False prediction with no overlap"):
        types.reverse()
    listed: dict[str, str | int] = {
        "type": error.kind,
        "annotation": types[0],
        "prediction": types[1],
        "full_text": error.full_text,
        "token": error.token,
        "explanation": error.explanation,
    }
    return listed if release == "0.2.5" else listed | {"start": error.start, "end": error.end}
