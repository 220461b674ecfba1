"""How many examples a property is tried on: all that the test names, or a fifth of them under ``make quick``."""

from hypothesis import settings

_ALL = 100
"""What hypothesis tries where nobody says how many."""


def up_to(most: int) -> int:
    """As many as the profile leaves of so many."""
    return max(1, most * settings().max_examples // _ALL)
