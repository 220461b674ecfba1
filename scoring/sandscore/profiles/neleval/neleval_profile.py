"""neleval 3.1.1 (``neleval evaluate``): ``sets`` and four overlap aggregators, with all it gets wrong."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sandscore.annotations.input_files import Loaded
from sandscore.measures.measure_syntax import Parameter, Scalar
from sandscore.profiles.neleval.neleval_columns import (
    MentionCorpus,
    corpus_of,
    corpus_of_loaded,
    repeated_mentions,
    set_counts_of,
    tangled_mentions,
)
from sandscore.profiles.neleval.neleval_credits import credit_sums_of
from sandscore.profiles.neleval.neleval_rows import (
    Cells,
    Row,
    cells,
    counted,
    grouped_rows,
    plain_rows,
    set_counts,
    table,
)
from sandscore.profiles.profile import OriginalScorer, ProfileInput, ProfileResult
from sandscore.span_measures.mention_partners import EndBeforeStart, Mention, mentions
from sandscore.task_table.task import Task

KEYS = ("span", "span+type")
_NAMED = {"strong_mention_match": "sets::span", "strong_typed_mention_match": "sets::span+type"}
_FIELDS = {"doc": "docid", "type": "type"}


def evaluate(given: ProfileInput, settings: Mapping[str, Scalar]) -> ProfileResult:
    """The ungrouped rows as measures; ``details["rows"]`` and the table are what the original prints."""
    wanted = str(settings["key"])
    if settings["by"] == "none":
        corpus = corpus_of(given.predictions, given.gold, given.task)
        if corpus is not None:
            return _at_once(corpus, wanted)
    system, gold = mentions(given.predictions, given.task), mentions(given.gold, given.task)

    def compute(ours: Sequence[Mention], theirs: Sequence[Mention]) -> Cells:
        return _cells(ours, theirs, wanted)

    plain = plain_rows(compute(system, gold))
    rows, failure = plain, _first_error(plain)
    fields = [] if settings["by"] == "none" else [_FIELDS[part] for part in str(settings["by"]).split("+")]
    if fields:
        rows, failure = _grouped(system, gold, fields, compute)
    if fields and settings["overall"]:
        rows = {name: row for name, row in rows.items() if name.endswith(">")}
    return ProfileResult(
        measures={name: _components(name, row) for name, row in plain.items()},
        per_note=_per_note(system, gold, wanted),
        details={"rows": rows} | ({"error": failure} if failure else {}),
        table="" if failure else table(rows),
        warnings=tuple(_warnings(system, gold, fields, failure)),
    )


def evaluate_columns(_task: Task, loaded: Loaded, settings: Mapping[str, Scalar]) -> ProfileResult | None:
    """The same of files that were read as columns; groups are told from mentions."""
    corpus = corpus_of_loaded(loaded) if settings["by"] == "none" else None
    return None if corpus is None else _at_once(corpus, str(settings["key"]))


def _at_once(corpus: MentionCorpus, wanted: str) -> ProfileResult:
    found: Cells = {}
    per_note: dict[str, dict[str, tuple[int, int, int]]] = {note: {} for note in corpus.notes}
    for key in _keys(wanted):
        typed = key == "span+type"
        sets = set_counts_of(corpus, typed=typed)
        both, system_only, gold_only = map(sum, zip(*sets, strict=True)) if sets else (0, 0, 0)
        found |= counted(
            key,
            (both, system_only, gold_only),
            credit_sums_of(corpus, typed=typed),
            (len(corpus.system), len(corpus.gold)),
        )
        for note, row in zip(corpus.notes, sets, strict=True):
            per_note[note][f"sets::{key}"] = row
    rows = plain_rows(_named(found, wanted))
    return ProfileResult(
        measures={name: _components(name, row) for name, row in rows.items()},
        per_note=per_note,
        details={"rows": rows},
        table=table(rows),
        warnings=tuple(
            line
            for name, side in zip(("gold", "the predictions"), reversed(corpus.rest), strict=True)
            for line in _spoken(name, tangled_mentions(side, corpus.width), repeated_mentions(corpus, side))
        ),
    )


def _keys(wanted: str) -> tuple[str, ...]:
    return KEYS if wanted == "all" else (wanted,)


def _named(found: Cells, wanted: str) -> Cells:
    return found | ({name: found[same] for name, same in _NAMED.items()} if wanted == "all" else {})


def _cells(system: Sequence[Mention], gold: Sequence[Mention], wanted: str) -> Cells:
    found: Cells = {}
    for key in _keys(wanted):
        found |= cells(system, gold, key)
    return _named(found, wanted)


def _grouped(system: list[Mention], gold: list[Mention], fields: list[str], compute: Any) -> tuple[dict[str, Row], str]:
    try:
        return grouped_rows(system, gold, fields, compute), ""
    except EndBeforeStart as error:
        return {}, str(error)
    except TypeError as error:
        return {}, f"TypeError: {error}"


def _first_error(rows: dict[str, Row]) -> str:
    return next((row["error"] for row in rows.values() if "error" in row), "")


def _components(name: str, row: Row) -> dict[str, Any]:
    if "error" in row:
        return {"precision": None, "recall": None, "f1": None, "reason": row["error"]}
    ratios = {"precision": row["precis"], "recall": row["recall"], "f1": row["fscore"]}
    if name.startswith("overlap"):
        return {"ptp": row["ptp"], "pfp": row["fp"], "rtp": row["rtp"], "rfn": row["fn"]} | ratios
    return {"tp": row["ptp"], "fp": row["fp"], "fn": row["fn"]} | ratios


def _per_note(system: list[Mention], gold: list[Mention], wanted: str) -> dict[str, dict[str, tuple[int, int, int]]]:
    """``sets`` note by note; its keys hold the document, so the notes add up."""
    sides: list[dict[str, list[Mention]]] = [{}, {}]
    for side, mentioned in zip(sides, (system, gold), strict=True):
        for mention in mentioned:
            side.setdefault(mention.docid, []).append(mention)
    keys = _keys(wanted)
    return {
        docid: {f"sets::{key}": set_counts(sides[0].get(docid, []), sides[1].get(docid, []), key) for key in keys}
        for docid in dict.fromkeys([*sides[1], *sides[0]])
    }


def _warnings(system: list[Mention], gold: list[Mention], fields: list[str], failure: str) -> list[str]:
    found = [f"neleval stops with {failure}"] if failure else []
    for name, side in (("gold", gold), ("the predictions", system)):
        found += _spoken(name, _tangled(side), len(side) - len(set(side)))
    for field in fields:
        known = {getattr(mention, field) for mention in gold}
        if lost := sum(getattr(mention, field) not in known for mention in system):
            found.append(
                f"{lost} predictions have a {field} that gold has not: they are in no group, and "
                "missing from <macro> and <micro>"
            )
    return found


def _spoken(name: str, tangled: int, repeated: int) -> Iterator[str]:
    if tangled:
        yield (
            f"{tangled} annotations of {name} overlap one before them in the same note: neleval's overlap "
            "aggregators lose partners there, and can give a perfect answer less than 1"
        )
    if repeated:
        yield f"{repeated} annotations of {name} repeat another: sets counts them once, overlap every time"


def _tangled(side: list[Mention]) -> int:
    """Neighbours suffice: mentions are in order of start, so the furthest end so far decides."""
    count, docid, reached = 0, None, 0
    for mention in side:
        if mention.docid != docid:
            docid, reached = mention.docid, mention.end
            continue
        count += mention.start <= reached
        reached = max(reached, mention.end)
    return count


class NelevalScorer(OriginalScorer):
    """Neleval 3.1.1: sets and overlap-{max,sum}{max,sum} by span and by span+type."""

    name = "neleval"
    description = "neleval 3.1.1: sets and overlap-{max,sum}{max,sum} by span and by span+type"
    source = "neleval 3.1.1"
    parameters = (
        Parameter("key", "all", choices=("all", *KEYS)),
        Parameter("by", "none", choices=("none", "doc", "type", "doc+type", "type+doc")),
        Parameter("overall", False),
    )
    evaluate = staticmethod(evaluate)
    evaluate_columns = staticmethod(evaluate_columns)
