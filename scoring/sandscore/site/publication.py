"""``publish``: boards in, a folder of pages out."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from sandscore.attestation.board_statements import signed_board
from sandscore.attestation.evidence_files import STATEMENT_ENDING
from sandscore.attestation.signing_keys import SignerKey
from sandscore.base.errors import UsageFault
from sandscore.base.removable_rooms import REMOVABLE
from sandscore.disclosure.policy_choice import policy_for
from sandscore.ranking.board_exports import as_json
from sandscore.ranking.card_reading import RankedCard
from sandscore.records.challenge import Challenge
from sandscore.records.disclosure_policy import lowered
from sandscore.records.ranking_rules import CardRule
from sandscore.records.withheld_fields import policy_on
from sandscore.site.board_files import NO_CARDS, ReadBoard, ShownBoard, read_board, references, shown_board
from sandscore.site.page_templates import page
from sandscore.site.plots.plot_library import as_it_comes
from sandscore.site.site_folder import Written, board_names, write_site
from sandscore.site.site_pages import BoardPage, Overview, board_page, submission_pages

if TYPE_CHECKING:
    from sandscore.site.share_kit import SiteShare


class PublicationSettings(Struct, frozen=True):
    """How a site is made.

    ``cards``: no more than these, where a board's policy would let more of them out. ``sign``: each board with it.
    ``log``: where the log of all its boards lies, as seen from the site's folder. ``url``: where the site will lie.
    """

    challenge: Challenge | None = None
    cards: CardRule | None = None
    sign: SignerKey | None = None
    log: str | None = None
    url: str | None = None
    known: Mapping[str, RankedCard] = NO_CARDS
    """Cards that were read, or made, just now, by the SHA-256 of their bytes."""


def publish(boards: Sequence[Path], site: Path, settings: PublicationSettings | None = None) -> Written:
    """Read the boards, make every page, write what changed.

    Boards of the same task, phase, profile, headline and data sets are versions of one board, oldest first: the last
    is shown, the others mark in its history where gold or harness changed.
    """
    chosen = settings or PublicationSettings()
    read = _versions([read_board(path, chosen.known) for path in boards])
    names = board_names([versions[-1].board for versions in read])
    pages = [_shown(names, at, versions, chosen) for at, versions in enumerate(read)]
    slugs = [shown.slug for shown in pages]
    if len({*slugs}) < len(slugs):
        raise UsageFault("two boards have names that make the same folder; rename a phase")
    with as_it_comes():
        files = dict(_files(Overview(pages, chosen.challenge, chosen.log), chosen))
    return write_site(site, files)


def _versions(boards: Sequence[ReadBoard]) -> list[list[ReadBoard]]:
    found: dict[tuple[object, ...], list[ReadBoard]] = {}
    for read in boards:
        board = read.board
        found.setdefault((board.task, board.phase, board.profile, board.headline, *board.gold), []).append(read)
    return list(found.values())


def _shown(
    names: Sequence[tuple[str, ...]], at: int, versions: Sequence[ReadBoard], settings: PublicationSettings
) -> BoardPage:
    *earlier, latest = (_released(read, settings) for read in versions)
    return board_page(latest, names, at, [one.board.view for one in earlier], settings.challenge)


def _released(read: ReadBoard, settings: PublicationSettings) -> ShownBoard:
    """By the policy that the board carries with it; else by the challenge's, and else without a row for each note."""
    board, challenge = read.board, settings.challenge
    if board.policy is None and challenge is not None:
        policy = policy_for(challenge, board.task, board.phase)
    else:
        policy = policy_on(board.policy, board.config)
    return shown_board(read, lowered(policy, settings.cards), challenge.publication.columns if challenge else None)


def _files(overview: Overview, settings: PublicationSettings) -> Iterator[tuple[str, bytes]]:
    """Leaves first: what a page links to comes before it."""
    share = _share(overview, settings.url)
    if share is not None:
        from sandscore.site.share_kit import shared_files

        yield from shared_files(share)
    for shown in overview.boards:
        yield from _downloads(shown, settings.sign)
        for name, content in submission_pages(shown, overview):
            yield f"{shown.slug}/{name}.html", content
    yield "how-to-read.html", page("how-to-read.html", overview=overview, home="", current="how")
    for shown in overview.boards:
        values = {"shown": shown, "overview": overview, "home": "../", "current": "", "share": share}
        yield f"{shown.slug}/index.html", page("board.html", **values)
    yield "index.html", page("index.html", overview=overview, home="", current="index", share=share)


def _share(overview: Overview, url: str | None) -> "SiteShare | None":
    """Only a site that says where it will lie can be linked to by others."""
    if url is None:
        return None
    from sandscore.site.share_kit import SiteShare, site_address

    return SiteShare(overview, site_address(url))


def _downloads(shown: BoardPage, signer: SignerKey | None) -> Iterator[tuple[str, bytes]]:
    for row in shown.board.rows:
        for dataset, reference in references(row).items():
            yield f"{shown.slug}/{reference.path}", shown.cards[row.submission][dataset].content
    with REMOVABLE:
        from sandscore.board_tables.board_formats import as_csv, as_markdown

    for ending, export in (("json", as_json), ("csv", as_csv), ("md", as_markdown)):
        content = export(shown.board).encode("utf-8", "replace")
        yield f"{shown.slug}/board.{ending}", content
        if signer is not None and ending == "json":
            yield (
                f"{shown.slug}/board{STATEMENT_ENDING}",
                signed_board("board.json", content, json.loads(content), signer),
            )
