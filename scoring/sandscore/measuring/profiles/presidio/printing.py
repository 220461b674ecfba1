"""The original's own table of results."""

from sandscore.measuring.profiles.presidio.evaluation import Evaluation, Options


def size(found: Evaluation, options: Options) -> int | None:
    """How many gold spans there are; release 0.2.5 does not say."""
    return None if options.old else sum(score.counts.annotated for score in found.per_type.values())


def printed(found: Evaluation, options: Options) -> str:
    """The original's own table; where release 0.2.5 fails for want of a number there is a dash."""
    lines = [f"{'Entity':>20}{'Precision':>20}{'Recall':>20}{'Number of samples':>20}"]
    rows = [(name, score, score.counts.annotated) for name, score in found.per_type.items()]
    for name, score, number in [*rows, ("PII", found.pii, size(found, options))]:
        ratios = f"{_percent(score.precision):>20}{_percent(score.recall):>20}"
        lines.append(f"{name:>20}{ratios}{'–' if number is None else number:>20}")
    return "\n".join([*lines, f"PII F measure: {_percent(found.pii.f_beta)}"])


def _percent(value: float | None) -> str:
    return f"{float('nan') if value is None else value:.2%}"
