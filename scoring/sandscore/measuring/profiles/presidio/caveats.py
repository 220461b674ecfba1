"""Where the original is known to mislead on the very input at hand."""

from collections.abc import Sequence

from sandscore.measuring.profiles.presidio.evaluation import (
    Evaluation,
    Options,
    evaluate_tags,
    without_merging_slip,
)
from sandscore.measuring.profiles.presidio.spans import TaggedDocument


def caveats(documents: Sequence[TaggedDocument], options: Options, found: Evaluation) -> tuple[str, ...]:
    """One sentence for each way in which these numbers are not what they seem."""
    notes = [
        _merged_away(documents, options, found),
        _counted_again(found),
        _found_and_missed(found),
        _slipped(found, options),
        _shortened(documents, options),
    ]
    return tuple(note for note in notes if note)


def _merged_away(documents: Sequence[TaggedDocument], options: Options, found: Evaluation) -> str:
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


def _counted_again(found: Evaluation) -> str:
    spans = found.predicted_spans
    counted = sum(score.counts.predicted for score in found.per_type.values())
    if spans == counted:
        return ""
    return (
        f"{spans} predicted spans are counted as {counted}: a prediction counts once for every gold span it"
        " overlaps, several of one type on one gold span count as one"
    )


def _found_and_missed(found: Evaluation) -> str:
    off = [
        name for name, score in found.per_type.items() if score.counts.tp + score.counts.fn != score.counts.annotated
    ]
    if not off:
        return ""
    return f"tp + fn is not the number of gold spans for {', '.join(sorted(off))}: some count as both"


def _slipped(found: Evaluation, options: Options) -> str:
    if not found.slips:
        return ""
    return (
        f"{found.slips} comparisons with several predictions fall on the other side of {options.threshold:g}"
        " without the original's slip of one character"
    )


def _shortened(documents: Sequence[TaggedDocument], options: Options) -> str:
    if not options.old:
        return ""
    names = {tag for d in documents for tag in (*d.gold, *d.predicted) if "-" in tag}
    if not names:
        return ""
    return f"release 0.2.5 takes two characters off every type with a hyphen: {', '.join(sorted(names))}"
