"""A score card for people."""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

import click

from sandscore.base.terminal_text import UNDEFINED, hanging, padded, printable, terminal_width, width
from sandscore.records.scorecard import AnyScore, FormulaScore, RatioScore, Scorecard
from sandscore.scoring.card_building import pieces
from sandscore.scoring.scoring_flow import Scored

if TYPE_CHECKING:
    from sandscore.api.scoring_calls import ShownIntervals
    from sandscore.records.group_scores import Slice
    from sandscore.records.totals_card import TotalsCard

HEADLINE = "instance_strict"
_NAME, _NARROW_NAME, _NUMBERS = 28, 22, 58
"""Columns of a measure's name, where there is room and where there is not, and of the numbers beside it."""


def ratio(value: float | None) -> str:
    """Three decimals, or a dash where there is nothing to divide by."""
    return UNDEFINED if value is None else f"{value:.3f}"


def as_text(card: Scorecard) -> list[str]:
    """The table of measures and the lines under it."""
    limit = terminal_width()
    name = _NAME if limit is None or limit >= _NAME + _NUMBERS else _NARROW_NAME
    who = " ".join(printable(part) for part in (card.team, card.submission) if part)
    lines = [
        f"{card.task}, profile {card.profile}{f': {who}' if who else ''}",
        f"{card.notes} notes, {card.gold_annotations} gold annotations, {card.predicted_annotations} predicted"
        + ("" if card.text_checked else "; texts and bounds were not checked (no --notes)"),
        "",
        f"{'measure':{name}}{'tp':>7}{'fp':>7}{'fn':>7}{'precision':>11}{'recall':>8}{'F1':>8}{'macro F1':>10}",
        *(_row(padded(measure, name), score, limit) for measure, score in card.measures.items()),
        "",
        *_closing(card),
    ]
    return [f"{line}\n" for line in lines]


def _row(name: str, score: AnyScore, limit: int | None) -> str:
    counts = "".join(f"{UNDEFINED if c is None else c:>7}" for c in (score.tp, score.fp, score.fn))
    macro = score.macro.f1 if score.macro else None
    row = f"{name}{counts}{ratio(score.precision):>11}{ratio(score.recall):>8}{ratio(score.f1):>8}{ratio(macro):>10}"
    if isinstance(score, FormulaScore):
        parts = ", ".join(f"{part} {number}" for part, number in score.components.items())
        return _beside(
            row, f"{score.formula} of {parts}{f'; {printable(score.plugin)}' if score.plugin else ''}", limit
        )
    if isinstance(score, RatioScore):
        return _beside(row, _share(score), limit)
    if score.reason:
        return _beside(row, f"({printable(score.reason)})", limit)
    if score.conditional_accuracy is not None:
        return _beside(row, f"label right on {score.conditional_accuracy:.1%} of the matched spans", limit)
    return row


def _share(score: RatioScore) -> str:
    """What stands beside a share: what it is made of, and below what it lies."""
    if score.reason:
        return f"({printable(score.reason)})"
    bound = f"; at most {score.bound:.3f} ({score.bound_level:.0%} one-sided)" if score.bound is not None else ""
    return f"{score.n} of {score.of}{', lower is better' if score.direction == 'lower' else ''}{bound}"


def _beside(row: str, remark: str, limit: int | None) -> str:
    """A remark on a row, in the next line where the row leaves no room."""
    if limit is None or width(row) + 2 + width(remark) <= limit:
        return f"{row}  {remark}"
    return f"{row}\n{hanging('  ', remark, limit)}"


def _closing(card: Scorecard) -> list[str]:
    lines = []
    if card.errors:
        kinds = card.errors
        lines.append(
            f"errors: {kinds.missed} missed, {kinds.spurious} spurious, {kinds.boundary} with a wrong boundary, "
            f"{kinds.wrong_label} with a wrong label"
        )
    if card.note_leak is not None:
        lines.append(f"notes that leak: {card.note_leak:.1%} of those with gold")
    if card.agreement is not None:
        said = f"strict F1 {ratio(card.agreement.strict_f1)}, kappa of words {ratio(card.agreement.token_kappa)}"
        lines.append(f"gold of {card.agreement.annotators} annotators, added up; they agree with each other: {said}")
    if card.confidence and card.confidence.average_precision is not None:
        best = card.confidence.best_threshold
        lines.append(
            f"confidence: average precision {ratio(card.confidence.average_precision)}"
            + (f", best F1 at {best:g} and above" if best is not None else "")
        )
    return [*lines, *_slices(card), *_robustness(card), f"signature: {card.signature}"]


def _slices(card: Scorecard) -> list[str]:
    """Each way of slicing by one measure; the card has all of them."""
    lines = []
    for name, table in card.slices.items():
        measure = HEADLINE if HEADLINE in table.whole else next(iter(table.whole), None)
        if measure is None:
            continue
        shown = f"recall of {measure}" if measure in table.recalls else measure
        lines += ["", f"{printable(name)}: {shown}; intervals hold for all slices together (95 %)"]
        for group, told in table.slices.items():
            lines.append(f"  {padded(group, _NAME)} {told.patients:>6,} {table.unit}  {_slice(told, measure)}")
        if measure in table.worst:
            lines.append(f"  worst: {printable(table.worst[measure])}")
    return [*lines, ""] if lines else []


def _robustness(card: Scorecard) -> list[str]:
    """What the same annotator scores on perturbed copies, by one measure."""
    lines = []
    for name, copy in card.robustness.items():
        said = f"({printable(copy.reason)})" if copy.reason else UNDEFINED
        if score := copy.measures.get(HEADLINE) or next(iter(copy.measures.values()), None):
            ends = f" [{score.ci[0]:+.3f}, {score.ci[1]:+.3f}]" if score.ci else ""
            apart = UNDEFINED if score.difference is None else f"{score.difference:+.3f}"
            said = f"{ratio(score.value)}, {apart}{ends} to the notes themselves"
        lines.append(f"perturbed {padded(name, _NARROW_NAME)} {said}; {printable(', '.join(copy.changes))}")
    return lines


def _slice(told: "Slice", measure: str) -> str:
    if told.too_few:
        return "too few"
    score = told.measures[measure]
    ends = f" [{score.ci[0]:.3f}, {score.ci[1]:.3f}]" if score.ci else ""
    gap = f"; {score.gap:+.3f} to all" if score.gap is not None else ""
    apart = f" [{score.gap_ci[0]:+.3f}, {score.gap_ci[1]:+.3f}]" if score.gap_ci else ""
    return f"{ratio(score.value)}{ends}{gap}{apart}"


def as_json(card: Scorecard) -> Iterator[str]:
    """The card itself."""
    return (piece.decode() for piece in pieces(card))


FORMATS: dict[str, Callable[[Scorecard], Iterable[str]]] = {"text": as_text, "json": as_json}


def interval_lines(shown: "ShownIntervals") -> list[str]:
    """Between which bounds scores would lie on other patients, a line or more."""
    if shown.by_measure is None:
        return [f"{shown.patients:,} patients: --intervals computes how sure these scores are\n"]
    known = {name: ends for name, ends in shown.by_measure.items() if ends is not None}
    if not known:
        return []
    said = ", ".join(f"{printable(name)} {low:.3f} to {high:.3f}" for name, (low, high) in known.items())
    return [hanging(f"95 % over {shown.patients:,} patients: ", said, terminal_width()) + "\n"]


def print_scored(scored: Scored, output_format: str, intervals: "ShownIntervals | None" = None) -> None:
    """The card, or for people what another scorer would have printed."""
    if scored.table is not None and output_format == "text":
        click.echo(scored.table)
        return
    pieces_of = FORMATS[output_format](scored.card) if scored.totals is None else _TOTALS[output_format](scored.totals)
    for piece in pieces_of:
        click.echo(piece, nl=False)
    for line in interval_lines(intervals) if intervals is not None else ():
        click.echo(line, nl=False)


def _totals_text(card: "TotalsCard") -> list[str]:
    """The table of a card that is published without a count for each note."""
    heads = f"{'measure':{_NAME}}{'tp':>7}{'fp':>7}{'fn':>7}{'precision':>11}{'recall':>8}{'F1':>8}"
    lines = [f"{card.task}, profile {card.profile}: totals of {card.notes} notes", "", heads]
    for measure, score in card.measures.items():
        counts = "".join(f"{UNDEFINED if c is None else c:>7}" for c in (score.tp, score.fp, score.fn))
        ratios = f"{ratio(score.precision):>11}{ratio(score.recall):>8}{ratio(score.f1):>8}"
        lines.append(f"{padded(measure, _NAME)}{counts}{ratios}")
    return [f"{line}\n" for line in (*lines, "", f"signature: {card.signature}")]


_TOTALS: "dict[str, Callable[[TotalsCard], Iterable[str]]]" = {
    "text": _totals_text,
    "json": lambda card: [card.content().decode()],
}
