"""Publication as a call: boards to a folder of pages."""

import tempfile
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path

from sandscore.api.results import RankedBoard
from sandscore.attestation.signing_keys import read_key
from sandscore.challenges.challenge_reading import read_challenge
from sandscore.records.challenge import Challenge
from sandscore.records.ranking_rules import CardRule
from sandscore.site import publication
from sandscore.site.publication import PublicationSettings
from sandscore.site.site_folder import Written


def publish(
    boards: "Iterable[RankedBoard | str | Path] | RankedBoard | str | Path",
    folder: str | Path,
    *,
    challenge: Challenge | str | Path | None = None,
    cards: CardRule | None = None,
    sign: str | Path | None = None,
    url: str | None = None,
) -> Written:
    """Boards to a leaderboard: pages that need no server and no network, CSV, JSON and Markdown.

    Boards that differ in their age alone are versions of one board, oldest first. ``cards`` publishes score cards
    even though they name notes. ``sign`` is the file of a secret key: beside each board lies what it signed.
    ``url`` is where the site will lie: with it come preview images, a feed, badges and citations.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     "index.html" in ss.publish("leaderboard/date-final/board.json", folder).changed
    True
    """
    given = [boards] if isinstance(boards, RankedBoard | str | Path) else list(boards)
    configured = read_challenge(Path(challenge)) if isinstance(challenge, str | Path) else challenge
    signer = None if sign is None else read_key(Path(sign))
    with ExitStack() as stack:
        places = [_place(board, stack) for board in given]
        return publication.publish(places, Path(folder), PublicationSettings(configured, cards, signer, url=url))


def _place(board: RankedBoard | str | Path, stack: ExitStack) -> Path:
    if not isinstance(board, RankedBoard):
        return Path(board)
    place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="sandscore-"))) / "board.json"
    board.save(place)
    return place
