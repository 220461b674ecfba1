"""Files that an attempt leaves in its folder."""

PREDICTIONS = "predictions.json"
RUN = "run.json"
LOG = "log.txt"
PROBLEMS = "problems.json"
"""What validation found, without anything from gold or notes: for the team."""


def card_name(version: int) -> str:
    """The organiser's score card of a version: exact, with note ids. Older versions stay beside it."""
    return f"card.v{version}.json"
