"""Messages that an organiser should hear although the work goes on."""

import sys


def warn(sentence: str) -> None:
    """One line on standard error."""
    print(f"sandscore: {sentence}", file=sys.stderr)  # noqa: T201
