"""The pages of a site: the overview, one page a board, one page a submission."""

from collections.abc import Iterator, Mapping, Sequence
from textwrap import shorten

from markupsafe import Markup
from msgspec import Struct

from sandscore.base.terminal_text import in_attribute
from sandscore.ranking.board_exports import lower_is_better, score_name
from sandscore.records.board import Board
from sandscore.records.challenge import Challenge
from sandscore.records.disclosure_policy import DisclosurePolicy
from sandscore.site.board_columns import Column, columns_of
from sandscore.site.board_files import ShownBoard, ShownCard
from sandscore.site.board_proof import BoardProof, board_proof
from sandscore.site.board_sentences import BoardSentences, sentences_of, site_sentence
from sandscore.site.label_matrix import LabelMatrix, label_matrix
from sandscore.site.lead_strip import LeadStrip, lead_strip
from sandscore.site.page_templates import page
from sandscore.site.plots.board_plot import PlotSection, PlottedBoard, plot_sections
from sandscore.site.plots.heat_map import pairs_by_name
from sandscore.site.safety_lane import NoteLeak, row_leak
from sandscore.site.site_folder import file_name
from sandscore.site.standings import Standings, standings_of
from sandscore.site.submission_page import submission_view


def without_markup(said: str) -> str:
    """A sentence of the page as plain text."""
    return in_attribute(said.striptags() if isinstance(said, Markup) else said)


class BoardPage(Struct, frozen=True):
    """A board as it is shown, with everything that is drawn of it, and the cards that go with it."""

    board: Board
    name: tuple[str, ...]
    alone: bool
    cards: Mapping[str, Mapping[str, ShownCard]]
    columns: Sequence[Column]
    standings: Standings
    said: BoardSentences
    earlier: Sequence[Board]

    @property
    def slug(self) -> str:
        """The folder."""
        return file_name("-".join(self.name))

    @property
    def title(self) -> str:
        """What is found, and where another board of the site finds it too, what sets this one apart."""
        more = () if self.alone else self.name[1:]
        return ": ".join(part for part in (self.said.heading, ", ".join(more)) if part)

    @property
    def summary(self) -> str:
        """What a search engine, or a link to the board, shows of it: its first sentences."""
        parts = (self.said.lead, self.said.doubt, self.said.found)
        return shorten(" ".join(without_markup(part) for part in parts if part), 300, placeholder="…")

    @property
    def strip(self) -> LeadStrip | None:
        """Those who lead."""
        return lead_strip(self.standings.lines, self.said.contenders)

    @property
    def plots(self) -> Sequence[PlotSection]:
        return plot_sections(PlottedBoard(self.board, self.standings, self.said, self.earlier))

    @property
    def policy(self) -> DisclosurePolicy:
        """By which the board is shown as it is."""
        return self.said.policy

    @property
    def recomputed(self) -> bool:
        """Whether the site's cards have a count for each note, so that every number can be made again."""
        facts = [card.facts for cards in self.cards.values() for card in cards.values()]
        return bool(facts) and all(one.gold_annotations is not None for one in facts)

    @property
    def proof(self) -> BoardProof:
        """What the page's script checks, and compares."""
        return board_proof(self.board, self.cards, self.policy, whole=self.recomputed)

    @property
    def recomputing(self) -> str:
        """What the command line makes again in the site's folder."""
        if self.recomputed:
            return (
                "This site holds the score cards. In its folder, this recomputes every number of the board from them, "
                "and names the first that differs:"
            )
        if not self.policy.exact:
            return (
                "Exact scores are withheld while the phase runs. In its folder, this checks the order and the ranks of "
                "what is shown, and says what it could not recompute:"
            )
        cards = "This site holds cards of totals" if self.cards else "The score cards are not part of this site"
        return (
            f"{cards}: what each note counted is withheld. In its folder, this makes ratios, order, ranks and tie "
            "groups again from the counts and from the test results printed here, names the first that differs, and "
            "says what it could not recompute:"
        )

    @property
    def matrix(self) -> LabelMatrix | None:
        """What is hard."""
        return label_matrix(self.board, self.cards)

    @property
    def score(self) -> str:
        """What the numbers that rank are called."""
        return score_name(self.board)

    @property
    def lower(self) -> bool:
        """Whether lower numbers are better."""
        return lower_is_better(self.board)

    @property
    def unit(self) -> str:
        return self.said.unit


class Overview(Struct, frozen=True):
    """The site; ``log``: where the log of its boards lies, as seen from its folder."""

    boards: Sequence[BoardPage]
    challenge: Challenge | None
    log: str | None = None

    @property
    def title(self) -> str:
        if self.challenge is not None:
            return self.challenge.title or self.challenge.challenge
        named = [shown.board.config.challenge for shown in self.boards if shown.board.config.challenge]
        return named[0] if named else "Leaderboard"

    @property
    def sentence(self) -> str:
        """How many boards there are."""
        return site_sentence([shown.said for shown in self.boards])

    @property
    def citation(self) -> str | None:
        return self.challenge.publication.citation if self.challenge else None


def _of_one(cards: Mapping[str, ShownCard]) -> NoteLeak | None:
    """What the card says; of several data sets there is no share that a card says."""
    return next(iter(cards.values())).leak if len(cards) == 1 else None


def board_page(
    shown: ShownBoard, names: Sequence[tuple[str, ...]], at: int, earlier: Sequence[Board], challenge: Challenge | None
) -> BoardPage:
    """The board whose name is at that place, its columns chosen and its rows laid out."""
    name = names[at]
    alone = sum(other[0] == name[0] for other in names) == 1
    board = shown.board.view
    leaks = {
        row.submission: leak
        for row in board.rows
        if (leak := row_leak(row, _of_one(shown.cards.get(row.submission, {})), annotators=bool(board.agreement)))
        is not None
    }
    said = sentences_of(board, leaks, challenge, sum(map(len, shown.cards.values())))
    columns = columns_of(said)
    return BoardPage(board, name, alone, shown.cards, columns, standings_of(board, columns), said, earlier)


def submission_pages(shown: BoardPage, overview: Overview) -> Iterator[tuple[str, bytes]]:
    """The page of every row, by its name."""
    pairs = pairs_by_name(shown.board)
    lines = shown.standings.lines
    for at, line in enumerate(lines):
        view = submission_view(shown.said, lines, at, pairs, shown.cards.get(line.row.submission, {}))
        values = {"view": view, "shown": shown, "overview": overview, "home": "../", "current": ""}
        yield line.page, page("submission.html", **values)
