"""How long a submission waits after a failure of ours."""

MOST_FAILURES = 5
FIRST_SECONDS, LONGEST_SECONDS = 5.0, 900.0


def wait_after(failures: int, first: float = FIRST_SECONDS) -> float:
    """Doubles with each failure in a row; ``failures`` counts the one that just happened."""
    return float(min(LONGEST_SECONDS, first * 2 ** min(failures - 1, 30)))
