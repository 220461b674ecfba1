"""Mentions of the recorded runs as the records a profile is given."""

from collections.abc import Iterable, Mapping
from typing import Any

from sandscore.profiles.profile import OriginalScorer, ProfileInput, ProfileResult
from sandscore.task_table.task import find_task

PHI = find_task("phi")


def records(mentions: Iterable[Mapping[str, Any]], order: Iterable[str] = ()) -> list[dict[str, Any]]:
    """One record a document, those of ``order`` first, then by first mention."""
    documents: dict[str, list[dict[str, Any]]] = {docid: [] for docid in order}
    for m in mentions:
        length = m["end_inclusive"] - m["start"] + 1
        annotation = {"start": m["start"], "length": length, "text": "", "type": m["type"]}
        documents.setdefault(m["doc"], []).append(annotation)
    return [
        {"annotationSource": {"resourceSource": {"name": f"dataset/d/fhirStores/s/fhir/Note/{docid}"}}}
        | {PHI.array: annotations}
        for docid, annotations in documents.items()
    ]


def evaluate(
    profile: type[OriginalScorer],
    gold: Iterable[Mapping[str, Any]],
    predictions: Iterable[Mapping[str, Any]],
    order: Iterable[str] = (),
    **settings: Any,
) -> ProfileResult:
    """The profile's answer with the given settings over its defaults."""
    settled = {p.name: p.default for p in profile.parameters} | settings
    order = tuple(order)
    given = ProfileInput(PHI, None, records(gold, order), records(predictions, order))
    return profile.evaluate(given, settled)


def spans(*written: tuple[int, int] | tuple[int, int, str], doc: str = "d") -> list[dict[str, Any]]:
    """Mentions written as (start, last unit) or (start, last unit, type)."""
    return [{"doc": doc, "start": s[0], "end_inclusive": s[1], "type": s[2] if len(s) > 2 else "X"} for s in written]
