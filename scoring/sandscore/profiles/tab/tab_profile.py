"""The Text Anonymization Benchmark's evaluation: what of the identifiers is masked, and what is masked beside them.

Two releases that differ in what may stay visible: ``tab`` is the program's newest state, which asks a tagger (here a
file of tokens), ``tab-2022`` the one nearest the paper.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from operator import le
from typing import Any

import numpy as np
from msgspec import Struct

from sandscore.base.errors import OrganiserFault, ParticipantFault
from sandscore.base.removable_rooms import compiled
from sandscore.measures.measure_syntax import Parameter, Scalar
from sandscore.profiles.profile import CompanionFile, OriginalScorer, ProfileInput, ProfileResult
from sandscore.profiles.profile_documents import chosen
from sandscore.profiles.tab.corpus_grid import CorpusGrid, Unit
from sandscore.profiles.tab.masked_corpus import is_corpus, read_corpus, read_masks
from sandscore.profiles.tab.masked_notes import are_records, read_corpus_of, read_masks_of
from sandscore.profiles.tab.stretch_cover import Token, head_rule, rule_2022
from sandscore.profiles.tab.tab_measures import (
    CorpusMarks,
    MaskPrecision,
    Number,
    Recalls,
    Share,
    marks_of,
    mask_units,
    precision_of,
    recalls_of,
    weighing,
    word_units,
)

_WIDTHS: dict[str, type[Any]] = {"float64": float, "float32": np.float32}
_PRINTED = {
    "token_recall": "Token-level recall on all identifiers",
    "mention_recall": "Mention-level recall on all identifiers",
    "recall_direct_entities": "Entity-level recall on direct identifiers",
    "recall_quasi_entities": "Entity-level recall on quasi identifiers",
    "token_precision": "Uniform token-level precision on all identifiers",
    "mention_precision": "Uniform mention-level precision on all identifiers",
}
_BY_TYPE = "token_recall_by_type"
_RETURNED = (
    "token_recall",
    _BY_TYPE,
    "mention_recall",
    "recall_all_entities",
    "recall_direct_entities",
    "recall_quasi_entities",
    "token_precision",
    "mention_precision",
    "token_f1",
)
"""What release ``tab`` returns, in its order, three digits each."""
Figures = dict[str, Any]
"""Numbers by the names that the original gives them."""
Tokens = Mapping[str, Sequence[Token]]
Weights = Mapping[str, Mapping[str, float]]


class MaskedText(Struct, frozen=True):
    """All that is scored: the documents that the masks name, the masks of each; and how many documents gold lists."""

    grid: CorpusGrid
    masks: Sequence[Sequence[Unit]]
    known: int
    read: int
    warnings: tuple[str, ...] = ()

    @property
    def listed(self) -> "MaskedDocuments":
        """The documents alone."""
        documents = self.grid.documents
        marked = sum(len(marks.start) for document in documents for marks in document.annotators)
        names = tuple(document.identifier for document in documents)
        return MaskedDocuments(names, self.known, self.read, marked, sum(map(len, self.masks)), self.warnings)


class MaskedDocuments(Struct, frozen=True):
    """Who is masked, of how many ``known`` documents; how many gold lists; the mentions and masks of the masked."""

    names: tuple[str, ...]
    known: int
    read: int
    mentions: int
    masks: int
    warnings: tuple[str, ...] = ()


def evaluate_head(given: ProfileInput, settings: Mapping[str, Scalar]) -> ProfileResult:
    """Release ``tab``; the original ends with an exception where F1 or a type's recall divides by nothing."""
    text = _masked_text(given, settings)
    tokens = _tokens(given.companions.get("tokens"), text)
    grid, marks = text.grid, marks_of(text.grid)
    listed = [tokens[document.identifier] for document in grid.documents]
    recalls = recalls_of(grid, marks, head_rule(grid, grid.covering(text.masks), listed))
    raw = _raw(recalls) | _precisions(given, settings, text, marks)
    death = _death_by_type(recalls) or _death_of_f1(raw)
    if death is None:
        raw["token_f1"] = (
            2 * raw["token_precision"] * raw["token_recall"] / (raw["token_precision"] + raw["token_recall"])
        )
    returned = {"error": death} if death else {name: _three_digits(raw[name]) for name in _RETURNED}
    return _result(recalls, raw, text.listed, death, {"evaluate": returned})


def evaluate_2022(given: ProfileInput, settings: Mapping[str, Scalar]) -> ProfileResult:
    """Release ``tab-2022``; the original ends with an exception where a type's mentions hold no word."""
    text = _masked_text(given, settings)
    grid, marks = text.grid, marks_of(text.grid)
    recalls = recalls_of(grid, marks, rule_2022(grid, grid.covering(text.masks)))
    raw = _raw(recalls) | _precisions(given, settings, text, marks)
    return _result(recalls, raw, text.listed, _death_by_type(recalls), {})


def evaluate_2022_written(
    gold: memoryview, predictions: memoryview, settings: Mapping[str, Scalar]
) -> ProfileResult | None:
    """The same of the benchmark's own files, where the kernel reads them."""
    if not compiled() or chosen(settings["only_docs"]) is not None:
        return None
    from sandscore.profiles.tab.kernel_corpus import count_written

    counts = count_written(gold, predictions)
    if counts is None:
        return None
    raw = _raw(counts.recalls) | {"token_precision": counts.tokens.ratio, "mention_precision": counts.mentions.ratio}
    listed = MaskedDocuments(counts.names, counts.known, counts.read, counts.marked, counts.masks)
    return _result(counts.recalls, raw, listed, _death_by_type(counts.recalls), {})


def _masked_text(given: ProfileInput, settings: Mapping[str, Scalar]) -> MaskedText:
    warnings: tuple[str, ...] = ()
    if given.notes is None and not are_records(given.gold):
        corpus, masks = read_corpus(given.gold), read_masks(given.predictions)
    else:
        corpus, warnings = read_corpus_of(given)
        masks = read_masks_of(given)
    kept = chosen(settings["only_docs"])
    masks = {name: spans for name, spans in masks.items() if kept is None or name in kept}
    unknown = next((name for name in masks if name not in corpus.documents), None)
    if unknown is not None:
        raise ParticipantFault(
            f"the original stops here with RuntimeError: Document {unknown} not present in gold corpus"
        )
    grid = CorpusGrid([corpus.documents[name] for name in masks])
    return MaskedText(grid, [*masks.values()], len(corpus.documents), corpus.read, warnings)


def _left_out(listed: MaskedDocuments) -> tuple[str, ...]:
    left_out = listed.known - len(listed.names)
    if not left_out:
        return ()
    return (f"{left_out} of {listed.known} documents have no masks: the original does not score them",)


def _raw(recalls: Recalls) -> Figures:
    """Every recall called alone, not rounded; a type without words has no recall."""
    raw: Figures = {}
    for part, suffix in (("all", ""), ("direct", "_direct"), ("quasi", "_quasi")):
        raw[f"token_recall{suffix}"] = recalls.words[part].ratio
        raw[f"mention_recall{suffix}"] = recalls.mentions[part].ratio
        raw[f"recall_{part}_entities"] = recalls.entities[part].ratio
    raw["mention_recall_by_type"] = {kind: share.ratio for kind, share in recalls.mentions_by_type.items()}
    raw[_BY_TYPE] = {kind: share.ratio if share.total else None for kind, share in recalls.words_by_type.items()}
    return raw


def _precisions(
    given: ProfileInput, settings: Mapping[str, Scalar], text: MaskedText, marks: CorpusMarks
) -> dict[str, Number]:
    """Uniform ones, and weighted ones where there are weights."""
    masks = mask_units(text.grid, text.masks)
    units = {"token": word_units(text.grid, masks), "mention": masks}
    uniform = {f"{name}_precision": precision_of(text.grid, marks, one).ratio for name, one in units.items()}
    weights = given.companions.get("weights")
    if weights is None:
        return uniform
    weigh = weighing(_table_of(weights, "weights"), _WIDTHS[str(settings["sums"])])
    sums: dict[str, MaskPrecision] = {}
    try:
        for name, one in units.items():
            sums[f"weighted_{name}_precision"] = precision_of(text.grid, marks, one, weigh)
    except KeyError as lacking:
        raise OrganiserFault(f"{weights.name}: no weight for {lacking}") from None
    except (TypeError, ValueError):
        raise OrganiserFault(f"{weights.name}: a weight is no number") from None
    return uniform | {name: one.ratio for name, one in sums.items()}


def _tokens(file: CompanionFile | None, text: MaskedText) -> Tokens:
    if file is None:
        raise OrganiserFault(
            "the profile tab needs the tagger's tokens: --profile 'tab(tokens=FILE)', a JSON object from document to"
            " [[start, end, part of speech], …]; tab-2022 needs none"
        )
    table = _table_of(file, "tokens")
    for document in text.grid.documents:
        listed = table.get(document.identifier)
        if not isinstance(listed, list) or not _are_tokens(listed, len(document.text)):
            raise OrganiserFault(f"{file.name}: no list of [start, end, part of speech] for {document.identifier}")
    return table


def untagged(notes: Sequence[Mapping[str, Any]]) -> Figures:
    """Tokens of the notes between blanks, whose parts of speech nobody knows."""
    words = {note["identifier"]: re.finditer(r"\S+", note["text"]) for note in notes}
    return {"tokens": {name: [[one.start(), one.end(), ""] for one in found] for name, found in words.items()}}


def _are_tokens(listed: list[Any], most: int) -> bool:
    if not {*map(type, listed)} <= {list} or not {*map(len, listed)} <= {3}:
        return False
    starts, ends, parts = zip(*listed, strict=True) if listed else ((), (), ())
    if not {*map(type, starts), *map(type, ends)} <= {int} or not {*map(type, parts)} <= {str}:
        return False
    return min(starts, default=0) >= 0 and max(ends, default=0) <= most and all(map(le, starts, ends))


def _table_of(file: CompanionFile, what: str) -> Figures:
    if not isinstance(file.value, dict):
        raise OrganiserFault(f"{file.name}: {what} must be a JSON object by document")
    return file.value


def _death_by_type(recalls: Recalls) -> str | None:
    wordless = any(share.total == 0 for share in recalls.words_by_type.values())
    return "ZeroDivisionError: division by zero" if wordless else None


def _death_of_f1(raw: Mapping[str, Any]) -> str | None:
    both = raw["token_precision"], raw["token_recall"]
    if any(both):
        return None
    kind = "float division" if any(isinstance(one, float) for one in both) else "division"
    return f"ZeroDivisionError: {kind} by zero"


def _three_digits(value: Any) -> Any:
    return {name: round(one, 3) for name, one in value.items()} if isinstance(value, dict) else round(value, 3)


def _result(recalls: Recalls, raw: Figures, listed: MaskedDocuments, death: str | None, more: Figures) -> ProfileResult:
    stopped = (f"the original stops here with {death}",) if death else ()
    return ProfileResult(
        measures=dict(_components(recalls, raw)),
        details={"raw": raw, **more} | ({"error": death} if death else {}),
        table=stopped[0] if stopped else "\n".join(_lines(raw, listed)),
        warnings=listed.warnings + _left_out(listed) + stopped,
        documents=listed.names,
        annotations=(listed.mentions, listed.masks),
    )


def _components(recalls: Recalls, raw: Mapping[str, Any]) -> Iterator[tuple[str, Figures]]:
    shares: dict[str, Share] = {"token_recall": recalls.words["all"], "mention_recall": recalls.mentions["all"]}
    shares |= {f"recall_{part}_entities": share for part, share in recalls.entities.items()}
    for name, value in raw.items():
        if isinstance(value, dict) or name.endswith(("_direct", "_quasi")):
            continue
        share = shares.get(name)
        ratio = next(kind for kind in ("precision", "recall", "f1") if kind in name)
        number = None if value != value else value  # noqa: PLR0124 (NaN is no JSON)
        counted = {} if share is None else {"n": share.hits, "of": share.total}
        yield name, {"precision": None, "recall": None, "f1": None} | {ratio: number} | counted


def _lines(raw: Mapping[str, Any], listed: MaskedDocuments) -> Iterator[str]:
    yield f"Reading annotated corpus with {listed.read} documents"
    yield "========="
    yield f"Computing evaluation metrics for masks.json ({len(listed.names)} documents)"
    for name, words in _PRINTED.items():
        yield f"==> {words}: {raw[name]:.3f}"
        if name == "token_recall":
            yield f"==> {words}, factored by type:"
            yield from (f"\t{kind}:{share:.3f}" for kind, share in raw[_BY_TYPE].items())


_SHARED = (Parameter("weights", "", file=True), Parameter("sums", "float64", choices=tuple(_WIDTHS)))
_ONLY = Parameter("only_docs", "")


class TabScorer(OriginalScorer):
    """Newest state of the benchmark's program; the tagger's tokens come from a file."""

    name = "tab"
    description = "Text Anonymization Benchmark, 2025: identifiers masked, with the tagger's tokens from a file"
    source = "text-anonymization-benchmark, commit c5246a2"
    parameters = (Parameter("tokens", "", file=True), *_SHARED, _ONLY)
    own_files = staticmethod(is_corpus)
    example_companions = staticmethod(untagged)
    evaluate = staticmethod(evaluate_head)


class Tab2022Scorer(OriginalScorer):
    """The state nearest the paper; needs nothing but the texts."""

    name = "tab-2022"
    description = "Text Anonymization Benchmark, 2022: identifiers masked, with a list of words that may stay"
    source = "text-anonymization-benchmark, commit 6c2f8da"
    parameters = (*_SHARED, _ONLY)
    own_files = staticmethod(is_corpus)
    evaluate = staticmethod(evaluate_2022)
    evaluate_written = staticmethod(evaluate_2022_written)
