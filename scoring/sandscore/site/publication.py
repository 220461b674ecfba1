"""``publish``: boards in, a folder of pages out."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from sandscore.attestation.board_statements import ENDING, signed_board
from sandscore.attestation.signing_keys import SignerKey
from sandscore.base.errors import UsageFault
from sandscore.ranking.board_exports import as_csv, as_json, as_markdown
from sandscore.records.board import Board, CardReference, Row
from sandscore.records.challenge import Challenge
from sandscore.site.board_files import ReadBoard, read_board, references
from sandscore.site.page_templates import page
from sandscore.site.plots.plot_library import as_it_comes
from sandscore.site.site_folder import Written, board_names, file_name, write_site
from sandscore.site.site_pages import BoardPage, Overview, board_page, submission_pages

OPTIONAL_COLUMNS = ("image", "created", "run")
"""What a row may say about its maker; with a configuration it is published only where that names it."""


class PublicationSettings(Struct, frozen=True):
    """How a site is made. ``cards``: publish score cards even though they name notes. ``sign``: each board with it."""

    challenge: Challenge | None = None
    cards: bool = False
    sign: SignerKey | None = None


def publish(boards: Sequence[Path], site: Path, settings: PublicationSettings | None = None) -> Written:
    """Read the boards, make every page, write what changed.

    Boards of the same task, phase, profile, headline and data sets are versions of one board, oldest first: the last
    is shown, the others mark in its history where gold or harness changed.
    """
    chosen = settings or PublicationSettings()
    read = _versions([read_board(path) for path in boards])
    names = board_names([versions[-1].board for versions in read])
    pages = [_shown(name, versions, chosen) for name, versions in zip(names, read, strict=True)]
    slugs = [shown.slug for shown in pages]
    if len({*slugs}) < len(slugs):
        raise UsageFault("two boards have names that make the same folder; rename a phase")
    with as_it_comes():
        files = dict(_files(Overview(pages, chosen.challenge), chosen.sign))
    return write_site(site, files)


def _versions(boards: Sequence[ReadBoard]) -> list[list[ReadBoard]]:
    found: dict[tuple[object, ...], list[ReadBoard]] = {}
    for read in boards:
        board = read.board
        found.setdefault((board.task, board.phase, board.profile, board.headline, *board.gold), []).append(read)
    return list(found.values())


def _shown(name: tuple[str, ...], versions: Sequence[ReadBoard], settings: PublicationSettings) -> BoardPage:
    latest = versions[-1]
    public = latest.complete and (settings.cards or latest.hides_notes)
    board = _allowed(latest.board, settings.challenge)
    public = public and board == latest.board
    board = board.model_copy(update={"rows": tuple(_beside(row) for row in board.rows)})
    earlier = [version.board for version in versions[:-1]]
    return board_page(board, name, earlier, latest.cards, recomputable=public)


def _allowed(board: Board, challenge: Challenge | None) -> Board:
    if challenge is None:
        return board
    hidden = {name: None for name in OPTIONAL_COLUMNS if name not in challenge.publication.columns}
    return board.model_copy(update={"rows": tuple(row.model_copy(update=hidden) for row in board.rows)})


def _beside(row: Row) -> Row:
    """The row with its cards where the site has them, or would have them: paths at home are nobody's business."""
    if row.card:
        return row.model_copy(update={"card": _moved(row, "", row.card)})
    sites = {name: site.model_copy(update={"card": _moved(row, name, site.card)}) for name, site in row.sites.items()}
    return row.model_copy(update={"sites": sites})


def _moved(row: Row, dataset: str, card: CardReference) -> CardReference:
    name = file_name(row.submission) + (f".{file_name(dataset)}" if dataset else "")
    return card.model_copy(update={"path": f"cards/{name}.json"})


def _files(overview: Overview, signer: SignerKey | None) -> Iterator[tuple[str, bytes]]:
    """Leaves first: what a page links to comes before it."""
    for shown in overview.boards:
        yield from _downloads(shown, signer)
        for name, content in submission_pages(shown, overview):
            yield f"{shown.slug}/{name}.html", content
    yield "how-to-read.html", page("how-to-read.html", overview=overview, home="", current="how")
    for shown in overview.boards:
        yield f"{shown.slug}/index.html", page("board.html", shown=shown, overview=overview, home="../", current="")
    yield "index.html", page("index.html", overview=overview, home="", current="index")


def _downloads(shown: BoardPage, signer: SignerKey | None) -> Iterator[tuple[str, bytes]]:
    if shown.recomputable:
        for row in shown.board.rows:
            for dataset, reference in references(row).items():
                yield f"{shown.slug}/{reference.path}", shown.cards[row.submission][dataset].content
    for ending, export in (("json", as_json), ("csv", as_csv), ("md", as_markdown)):
        content = export(shown.board).encode("utf-8", "replace")
        yield f"{shown.slug}/board.{ending}", content
        if signer is not None and ending == "json":
            yield f"{shown.slug}/board{ENDING}", signed_board("board.json", content, json.loads(content), signer)
