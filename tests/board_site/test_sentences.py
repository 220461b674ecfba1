"""Every sentence of a board's pages, read again from the page's text and held against the board's numbers.

Two hundred boards are made: of no row and of many, with ties, rows without a score, two data sets, a score of which
less is better, every rule of ties, every way of joining scores, and every mode that hides. All paragraphs, captions and
facts of the board's page, of the overview and of two submissions are read: a sentence that no rule below knows is a
failure, and so is a rule that no board meets.
"""

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any
from xml.etree.ElementTree import Element

import html5lib
import numpy as np
import pytest
from ranking_cards import card_content, drawn_rows

from sandscore.ranking.board_building import rank
from sandscore.ranking.board_exports import as_json
from sandscore.ranking.card_reading import card_entry
from sandscore.records.annotator_agreement import AnnotatorPair, agreement_of, cohens_kappa
from sandscore.records.board import BoardPolicy
from sandscore.records.challenge import Challenge
from sandscore.records.ranking_rules import BoardRules
from sandscore.records.withheld_fields import policy_on
from sandscore.site.board_files import FoundCard, ReadBoard, shown_board
from sandscore.site.board_sentences import sentences_of
from sandscore.site.page_templates import page
from sandscore.site.plots.board_plot import PlotSection
from sandscore.site.plots.heat_map import pairs_by_name
from sandscore.site.site_pages import BoardPage, Overview, board_page
from sandscore.site.standings import score_of
from sandscore.site.submission_page import submission_view

BOARDS = 200
DRAWS, FLIPS = 100, 199
WHO = r"(?:Entry s\d+ \((?:team s\d+|shared)\)|Entry s\d+|team s\d+|shared(?: · s\d+)?|s\d+)"
CROWD = r"(?P<rows>[\d,]+) (?P<what>teams?|submissions?)(?: of (?P<teams>\d+) teams?)?"
DRAWN = r"(?:(?P<share>fewer than 1|more than 99|\d+) of 100|(?P<whole>all|none) of 100) redraws of the (?P<unit>\w+)"
CHALLENGE = Challenge.model_validate(
    {"challenge": "c", "phases": [{"name": "final", "closes": "2026-11-22T00:00:00Z"}, {"name": "other"}]}
)
Json = dict[str, Any]


class Undrawn:
    """What stands around a drawing, without the drawing, which says nothing in sentences and takes long."""

    plot = ""

    def __init__(self, of: object) -> None:
        self._of = of

    def __getattr__(self, name: str) -> Any:
        return getattr(self._of, name)


class Bare(Undrawn):
    """A board's page."""

    @property
    def plots(self) -> list[PlotSection]:
        return [PlotSection(one.template, Undrawn(one.figure)) for one in self._of.plots]  # type: ignore[attr-defined]


def cards_of(stream: np.random.Generator) -> Iterator[Json]:
    """Of up to eight submissions; some alike, some without team, name or score, on one or two data sets."""
    count, patients = int(stream.choice([0, 1, 2, 3, 5, 8])), int(stream.choice([6, 30, 60]))
    spread, sites = float(stream.choice([0.0, 0.05, 0.4, 0.9])), ["north", "south"][: int(stream.choice([1, 1, 2]))]
    lower, leaking = bool(stream.random() < 0.15), bool(stream.random() < 0.6)
    alike, empty, nothing = int(stream.integers(0, 9)), int(stream.integers(0, 25)), bool(stream.random() < 0.06)
    for at in range(count):
        skill = 0.95 - spread * at / count
        who: Json = {"team": [f"team s{at}", f"team s{at}", "shared", None][int(stream.integers(0, 4))]}
        who |= {"name": f"Entry s{at}"} if stream.random() < 0.3 else {}
        for place, site in enumerate(sites):
            notes = patients * 2
            rows = drawn_rows(skill, notes, place if at in {alike, alike + 1} else 10 * at + place, place + 1)
            rows = [(0, 0, 0)] * notes if (at == empty or nothing) and not lower else rows
            card = card_content(f"s{at}", rows, dataset=site, gold=f"{place:012x}") | who
            card["units"] = {note: f"p{number // 2}" for number, note in enumerate(card["units"])}
            if at % 4 or alike % 2:
                card["created"] = f"2026-03-{1 + (7 * at + place) % 28:02d}T00:00:00+00:00"
            if alike % 4 == 0 and not lower:
                split = {"day": (max(0, rows[0][0] - 1), 1, 0), "year": tuple(map(sum, zip(*rows[1:], strict=True)))}
                card["per_label"] = {
                    label: {"instance_strict": dict(zip(("tp", "fp", "fn"), counts, strict=True))}
                    for label, counts in split.items()
                }
                card["errors"] = {"missed": 1, "spurious": 2, "boundary": 0, "wrong_label": 3}
            if alike == 5 and at < 2:
                card["confidence"] = curve_of(stream)
            if alike % 3 == 0:
                card["agreement"] = agreement_of(2, [annotators(alike, place)]).model_dump()
            with_gold = [row for row in rows if row[0] + row[2]]
            missed = sum(row[2] > 0 for row in with_gold)
            if leaking and with_gold:
                card["note_leak"] = int(stream.integers(0, missed + 1)) / len(with_gold)
            if lower:
                n, of = sum(row[2] for row in rows), sum(row[0] + row[2] for row in rows)
                score = {"score": n / of, "components": {"n": n, "of": of}, "formula": "ratio(n/of)"}
                card["measures"] = {"leak": score | {"plugin": "leaks 1.0", "direction": "lower"}}
                card["per_note"] = {
                    note: {"leak": [row[2], row[0] + row[2]]} for note, row in zip(card["per_note"], rows, strict=True)
                }
            yield card


def curve_of(stream: np.random.Generator) -> Json:
    """Of three thresholds; in one of three without a best."""
    rows = [[float(sure), float(stream.random()), sure / 100] for sure in (90, 60, 30)]
    best = max(rows, key=lambda row: 2 * row[1] * row[2] / (row[1] + row[2]))[0] if stream.random() < 0.7 else None
    return {"average_precision": float(stream.random()), "best_threshold": best, "curve": rows}


def annotators(seed: int, place: int) -> AnnotatorPair:
    """Two who agree on some spans and some words; on nothing at all where there is none."""
    spans, words = (seed, 1 + place, 2), (7 * seed, 1 + place, 2, 50)
    return AnnotatorPair(
        first=1, second=2, notes=9, tokens=words, f1=2 * seed / (2 * seed + 3 + place), kappa=cohens_kappa(words),
        **dict(zip(("tp", "fp", "fn"), spans, strict=True)),
    )  # fmt: skip


def rules_of(stream: np.random.Generator, cards: Sequence[Json]) -> BoardRules:
    headline = next(iter(cards[0]["measures"])) if cards else "instance_strict"
    changes: Json = {"tie_rule": str(stream.choice(["stepdown", "stepdown", "holm", "dream_k3", "dream_k19"]))}
    if headline != "leak":
        changes["test"] = str(stream.choice(["randomisation", "randomisation", "paired_bootstrap"]))
        if len({card["dataset"] for card in cards}) > 1:
            changes["sites"] = str(stream.choice(["pooled", "macro", "mean_rank"]))
        changes["aggregation"] = str(stream.choice(["headline", "headline", "headline", "borda", "lexicographic"]))
        changes["measures"] = {headline: 1.0}
        changes["interval"] = str(stream.choice(["percentile_t", "percentile_t", "percentile", "bca"]))
    ended = bool(stream.random() < 0.3)
    return BoardRules(headline=headline, resamples=DRAWS, randomisations=FLIPS, ended=ended, **changes)


def made(seed: int) -> tuple[Json, BoardPage]:
    """The board as it is published, and its page."""
    stream = np.random.default_rng(seed)
    cards = list(cards_of(stream))
    rules, phase = rules_of(stream, cards), [None, "final", "other"][int(stream.integers(0, 3))]
    mode = str(stream.choice(["full", "full", "full", "full", "rounded", "ladder", "blind"]))
    entries = [card_entry(json.dumps(card).encode(), f"{at}.json") for at, card in enumerate(cards)]
    if cards:
        board = rank(entries, rules.model_copy(update={"feedback": mode}), phase)
    else:
        filler = card_entry(json.dumps(card_content("s0", [(1, 0, 0)] * 9)).encode(), "0.json")
        board = rank([filler], rules, phase).model_copy(update={"rows": (), "pairwise": (), "stability": None})
    notes = "public" if mode == "full" else "hidden"
    policy = BoardPolicy(notes=notes, gold=notes, cards="notes", feedback=mode, ended=rules.ended)  # type: ignore[arg-type]
    board = board.model_copy(update={"policy": policy})
    earlier = [board.model_copy(update={"gold": {"example": "f" * 12}})] if seed % 5 == 0 else []
    found: dict[str, dict[str, FoundCard]] = {}
    several = any(row.sites for row in board.rows)
    for one, card in zip(entries, cards, strict=True):
        place = one.dataset if several else ""
        found.setdefault(one.submission, {})[place or ""] = FoundCard(json.dumps(card).encode(), one)
    shown = shown_board(ReadBoard(board, "board.json", found), policy_on(board.policy, board.config), None)
    made = board_page(shown, [("date", *([phase] if phase else []))], 0, earlier, CHALLENGE)
    return json.loads(as_json(made.board)), made


def body_of(markup: bytes) -> Element:
    """Without scripts and styles, which are long and no sentences."""
    shorter = re.sub(rb"<(script|style)\b.*?</\1>", b"", markup, flags=re.DOTALL)
    root: Element = html5lib.parse(shorter, namespaceHTMLElements=False)
    return root


def told(markup: bytes) -> Iterator[str]:
    """What a page says: its paragraphs, the captions of its drawings and tables, and how its numbers were made."""
    for one in body_of(markup).iter():
        if one.tag in {"p", "figcaption", "caption", "summary"} or "made" in (one.get("class") or "").split():
            yield text_of(one)


def text_of(element: Element) -> str:
    return re.sub(r"\s+", " ", "".join(element.itertext())).strip()


def texts(markup: bytes, wanted: str) -> list[str]:
    return [text_of(one) for one in body_of(markup).iter() if wanted in (one.get("class") or "").split()]


class Reading:
    """The board as numbers, and what each sentence must mean."""

    def __init__(self, board: Json, shown: BoardPage) -> None:
        self.board, self.shown = board, shown
        self.rows: list[Json] = board["rows"]
        self.ranked = [row for row in self.rows if row["rank_set"]]
        self.exact = shown.said.policy.exact
        self.lead = [row for row in self.ranked if row["rank_set"][0] == 1]
        self.here: Json = {}
        """The row whose page is read."""
        self.pairs = {frozenset((pair["a"], pair["b"])): pair for pair in board["pairwise"]}

    @property
    def tau(self) -> dict[str, float]:
        found = self.board["stability"]["kendall_tau"]
        return {"mean": found["mean"], "low": found["q"][0], "high": found["q"][2]}

    def measure(self, row: Json) -> Json:
        found: Json = row["measures"].get(self.board["headline"], {})
        return found

    def has_interval(self, row: Json) -> bool:
        of = self.measure(row)
        return bool(row["chosen_ci"] or row.get("score_ci") or of.get("f1_ci") or of.get("score_ci") or of.get("ci"))

    def row(self, said: str) -> Json:
        named = re.findall(r"s\d+", said)
        if named:
            return next(row for row in self.rows if row["submission"] == named[-1])
        (one,) = [row for row in self.rows if row["team"] == "shared" and not row.get("name")]
        return one

    def separated(self, a: Json, b: Json) -> bool:
        pair = self.pairs.get(frozenset((a["submission"], b["submission"])))
        adjusted = pair and (pair["p_holm"] if pair["p_adjusted"] is None else pair["p_adjusted"])
        return adjusted is not None and adjusted <= 0.05 and pair is not None and pair["delta"] != 0

    def beaten(self, row: Json) -> int:
        """By how many rows further up it is demonstrably beaten."""
        return sum(self.separated(other, row) for other in self.rows[: self.rows.index(row)])

    def is_crowd(self, said: re.Match[str], rows: Sequence[Json]) -> bool:
        assert int(said["rows"]) == len(rows)
        teams = {row["team"] or row["submission"] for row in rows}
        if said["what"].startswith("team"):
            return len(teams) == len(rows) and all(row["team"] for row in rows)
        return said["teams"] is None or int(said["teams"]) == len(teams)

    def is_share(self, said: str, share: float) -> bool:
        if said.startswith("fewer"):
            return 0 < share < 0.005
        if said.startswith("more"):
            return 0.995 < share < 1
        return abs(100 * share - int(said)) <= 0.5

    def is_drawn(self, said: re.Match[str], share: float) -> bool:
        if said["whole"]:
            return share == (1.0 if said["whole"] == "all" else 0.0)
        return 0 < share < 1 and self.is_share(said["share"], share)

    def are_shares(self, said: str, shares: Sequence[float], of: int = 100) -> bool:
        low, _, high = said.partition(" to ")
        if of != 100:
            return (int(low), int(high or low)) == (round(min(shares) * of), round(max(shares) * of))
        return self.is_share(low, min(shares)) and self.is_share(high or low, max(shares))


Rule = tuple[str, Callable[[Reading, re.Match[str]], bool]]


def agree_as_said(reading: Reading, said: re.Match[str]) -> bool:
    """Of the data set that is named, or of the only one."""
    assert (said["site"] is None) == (len(reading.board["gold"]) == 1)
    found = reading.board["agreement"][said["site"] or next(iter(reading.board["gold"]))]
    shown = f"{found['strict_f1']:.3f}", f"{found['token_kappa']:.3f}"
    return (int(said["people"]), said["f1"], said["kappa"]) == (found["annotators"], *shown)


def names(said: str) -> set[str]:
    return {"".join(re.findall(r"s\d+", one)[-1:]) or one for one in re.split(r", | and ", said)}


def named(reading: Reading, said: str, rows: Sequence[Json]) -> bool:
    return len(rows) <= 3 and {reading.row(one)["submission"] for one in re.split(r", | and ", said)} == {
        row["submission"] for row in rows
    }


def first_shown(reading: Reading) -> list[Json]:
    return [row for row in reading.rows if row["rank"] is not None and row["rank"] == reading.rows[0]["rank"]]


def recalls(reading: Reading) -> list[tuple[int, int]]:
    measures = [row["measures"][reading.board["headline"]] for row in reading.lead]
    return [(one["tp"], one["tp"] + one["fn"]) for one in measures]


def finds(reading: Reading, said: re.Match[str]) -> bool:
    totals = recalls(reading)
    whole = {of for _, of in totals}
    of = int(said["of"])
    assert (said["who"] == "The leader finds") == (len(reading.lead) == 1)
    assert of == 100 or whole == {of}
    return reading.are_shares(said["share"], [part / every for part, every in totals], of)


def card_of(reading: Reading, row: Json) -> Json:
    """As it is published."""
    (card,) = reading.shown.cards[row["submission"]].values()
    content: Json = json.loads(card.content)
    return content


def leaks_of(content: Json) -> tuple[int, int, int]:
    """The patients with gold, and between how many patients the leaking notes must be shared, counted by trying."""
    counts = {note: of["instance_strict"] for note, of in content["per_note"].items()}
    with_gold = [note for note, (tp, _, fn) in counts.items() if tp + fn]
    missed = [content["units"][note] for note in with_gold if counts[note][2]]
    leaking = round(content["note_leak"] * len(with_gold))
    sizes = sorted((missed.count(patient) for patient in {*missed}), reverse=True)
    most, least = min(leaking, len(sizes)), next(n for n in range(len(sizes) + 1) if sum(sizes[:n]) >= leaking)
    return len({content["units"][note] for note in with_gold}), least, most


def leak_bound(n: int, of: int, bound: float) -> bool:
    """Clopper and Pearson's by its definition: at that share, n or fewer of so many have a chance of 5 %. The bound is
    printed rounded up to a tenth of a per cent."""
    from math import comb

    def at_most(p: float) -> float:
        return sum(comb(of, k) * p**k * (1 - p) ** (of - k) for k in range(n + 1))

    return (n == of and bound == 1) or (at_most(bound) <= 0.05 + 1e-9 and at_most(bound - 0.0011) > 0.05 - 1e-9)


def patients_leak(reading: Reading, said: re.Match[str]) -> bool:
    of, least, most = leaks_of(card_of(reading, reading.row(said["who"])))
    assert (int(said["n"]), int(said["of"])) == (most, of)
    assert bool(said["most"]) == (least != most)
    return leak_bound(most, of, float(said["bound"]) / 100)


def expected(reading: Reading, said: re.Match[str]) -> bool:
    row = reading.row(said["who"])
    given = [float(said[part]) for part in ("score", "low", "high")]
    assert (said["unit"] == "notes") == any("no patient ids" in one for one in reading.board["warnings"])
    return given == [float(f"{value:.3f}") for value in (row["expected"], *row["chosen_ci"])]


def bootstraps(reading: Reading) -> bool:
    """Where ranks are what is ranked by, swapping two answers would move everybody else."""
    rules = reading.board["config"]
    by_ranks = rules["aggregation"] in ("borda", "mean_rank") or rules["sites"] == "mean_rank"
    return by_ranks or rules["test"] == "paired_bootstrap"


def shown_p(text: str, row: Json, reading: Reading) -> bool:
    """A p as it is printed: rounded, or at its floor, where no draw reached the pair."""
    pair = reading.pairs[frozenset((row["submission"], reading.rows[0]["submission"]))]
    draws = DRAWS if bootstraps(reading) else FLIPS
    assert text.startswith("≤") == (pair["p"] is not None and pair["p"] <= 1 / (draws + 1) + 1e-12)
    if text.startswith("<"):
        return float(row["p_vs_leader"]) < 0.001
    room = 0.05 * row["p_vs_leader"] if "≤" in text else 0.0005
    return bool(abs(float(text.lstrip("≤")) - row["p_vs_leader"]) <= room)


def clash(reading: Reading, said: re.Match[str]) -> bool:
    row = reading.row(said["who"])
    assert shown_p(said["p"], row, reading)
    if said["k"].startswith(">"):
        assert row["k"] > 2 * DRAWS
    else:
        assert abs(float(said["k"].split(" ")[0].replace("\u202f", "")) - row["k"]) <= 0.5
    assert int(said["pairs"]) == sum(pair["p"] is not None for pair in reading.board["pairwise"])
    strong: bool = row["k"] > 20
    return (strong and row["p_vs_leader"] > 0.05) or bool(row["k"] <= 3 and row["p_vs_leader"] <= 0.05)


def interval_as_said(reading: Reading, said: re.Match[str]) -> bool:
    assert any(map(reading.has_interval, reading.rows))
    return ("that allows for the choice" in said["kind"]) == any(row["chosen_ci"] for row in reading.rows)


def apart_among(reading: Reading, count: int) -> int:
    """How many pairs of the first rows the test tells apart."""
    return sum(
        reading.separated(a, b) for at, a in enumerate(reading.rows[:count]) for b in reading.rows[at + 1 : count]
    )


def dated(reading: Reading) -> list[Json]:
    scored = {row.submission for row in reading.shown.board.rows if score_of(reading.shown.board, row)[0] is not None}
    return [row for row in reading.rows if row["created"] and row["submission"] in scored]


def withheld_as_said(reading: Reading, said: re.Match[str]) -> bool:
    return sorted(said["pointers"].split(", ")) == sorted(reading.board["withheld"])


def ring_as_said(reading: Reading, said: re.Match[str]) -> bool:
    """By hand: which labels gold has fewer than ten times, of the cards that are shown."""
    found: dict[str, int] = {}
    for of in reading.shown.cards.values():
        summed: dict[str, int] = {}
        for card in of.values():
            for label, row in json.loads(card.content)["per_label"].items():
                counts = row["instance_strict"]
                summed[label] = summed.get(label, 0) + counts["tp"] + counts["fn"]
        found = {label: max(found.get(label, 0), count) for label, count in summed.items()} | {
            label: count for label, count in found.items() if label not in summed
        }
    return (said["ring"] is not None) == any(0 < count < 10 for count in found.values())


def adjusted_how(reading: Reading, said: re.Match[str]) -> bool:
    """Ranks have no coins to be thrown over, and so no stepdown either."""
    assert (said["test"] == "paired bootstrap") == bootstraps(reading)
    assert int(said["pairs"]) == sum(pair["p"] is not None for pair in reading.board["pairwise"])
    return bool((said["how"] == "Holm’s method") == (reading.board["adjustment"] == "holm"))


def slips(reading: Reading, said: re.Match[str]) -> bool:
    """On the page of one row, of one of its cards."""
    cards = reading.shown.cards[reading.here["submission"]].values()
    return any(slips_by(json.loads(card.content), said) for card in cards)


def curve_as_said(reading: Reading, said: re.Match[str]) -> bool:
    """The average of one of its cards; the threshold of the row with the largest harmonic mean, where one is known."""
    cards = reading.shown.cards[reading.here["submission"]].values()
    curves = [content["confidence"] for one in cards if "confidence" in (content := json.loads(one.content))]
    of = next(one for one in curves if f"{one['average_precision']:.3f}" == said["average"])
    best = max(of["curve"], key=lambda row: 2 * row[1] * row[2] / (row[1] + row[2]))[0]
    return (said["best"] is None) == (of["best_threshold"] is None) and said["best"] in {None, f"{best:g}"}


def slips_by(content: Json, said: re.Match[str]) -> bool:
    counted = content["notes"], content["gold_annotations"], content["predicted_annotations"]
    if counted != tuple(int(said[part]) for part in ("notes", "gold", "said")):
        return False
    if (said["share"] is None) != (content["note_leak"] is None):
        return False
    if said["share"] is None or said["n"] is None:
        return said["share"] is None or bool(abs(float(said["share"]) - 100 * content["note_leak"]) <= 0.5)
    of, least, most = leaks_of(content)
    share = bool(abs(float(said["share"]) - 100 * content["note_leak"]) <= 0.5)
    return (
        share
        and (int(said["n"]), int(said["of"]), bool(said["most"])) == (most, of, least != most)
        and leak_bound(most, of, float(said["bound"]) / 100)
    )


NOTHING_SAID = (
    r"The numbers$|Columns$|Filter by name$|Show every rowrows that may be firstthe best of each team$|Compare "
    r"with$|Check in this browser$|← Finding dates in clinical notes$|"
    r"The whole board of Finding dates in clinical notes$|How to read these pages$|· Verify here · Cite · Download · "
    r"How to read this page$"
)
"""What can be pressed: no sentence."""
ALWAYS = (
    r"Made by sandscore \d\.\d\.\d\. This page loads nothing from anywhere and tells nobody that you read it\.|"
    r"It takes JavaScript; the command below does the same without\.|Whoever changes a page can change its script too: "
    r"what counts is the command below, on your own machine, and hashes that you know from elsewhere\.|"
    r"Every measure with its counts$|This submission against the leader and those next to it$|Kinds of error$|"
    r"(?:instance_strict|leak) on each data set$|F1 by submission and label$|Scores per label$|Places, and how often "
    r"each "
    r"row is among the first$|Per cent of resamples in which the row is ahead of the column; bold where the test tells "
    r"the two apart$|Counted by instance_strict; the label with the most errors comes first\."
)
"""What no board can make false: other tests hold that pages load nothing, that tables have these columns and orders."""
WHY = (
    r"K and first places ask how often a row wins when the (?:patients|notes) are drawn again, one pair at a time; the "
    r"adjusted p asks how often chance alone makes a gap as wide anywhere among all (?P<pairs>\d+) pairs\."
)
RARE = r"Everybody else is demonstrably behind somebody\."
BARE = r"The dot is the score\."
RULES: list[Rule] = [
    (NOTHING_SAID, lambda r, _: True),
    (ALWAYS, lambda r, _: True),
    (
        r"(?:Can be recomputed from (?P<cards>\d+) cards?|Cards are kept back)(?= ·)",
        lambda r, m: said_cards(r) == int(m["cards"] or 0),
    ),
    (
        r"This page carries (?P<cards>\d+) score cards?, to the byte\. From them your browser can make again the "
        r"cards’ "
        r"hashes, counts, ratios, order, ranks, places, tests and intervals, with the same (?P<draws>\d+) draws as the "
        r"command line\.",
        lambda r, m: (said_cards(r), DRAWS) == (int(m["cards"]), int(m["draws"])) and r.shown.recomputed and r.exact,
    ),
    (
        r"This page carries no score cards with a count for each note\. Your browser can make ratios(?P<more>, order, "
        r"ranks, places and tie groups)? again from the counts(?: and the tests)? that are printed here\.",
        lambda r, m: not r.shown.recomputed and r.exact and (m["more"] is None or bool(r.pairs)),
    ),
    (
        r"Exact scores are withheld while the phase runs\. (?:Your browser can check|In its folder, this checks) the "
        r"order "
        r"and the ranks of what is shown(?:\.|, and says what it could not recompute:)",
        lambda r, _: not r.exact and not r.pairs,
    ),
    (
        r"This site holds the score cards\. In its folder, this recomputes every number of the board from them, and "
        r"names "
        r"the first that differs:",
        lambda r, _: r.exact and r.shown.recomputed and said_cards(r) > 0,
    ),
    (
        r"(?P<which>This site holds cards of totals|The score cards are not part of this site): what each note "
        r"counted is "
        r"withheld\. In its folder, this makes ratios, order, ranks and tie groups again from the counts and from the "
        r"test "
        r"results printed here, names the first that differs, and says what it could not recompute:",
        lambda r, m: r.exact and not r.shown.recomputed and (m["which"].startswith("This")) == (said_cards(r) > 0),
    ),
    (
        r"Withheld, and so not checked: (?P<what>.*?)\. (?=Not checked)",
        lambda r, m: bool(r.board["withheld"]) and len(m["what"].split(", ")) <= len(r.board["withheld"]),
    ),
    (
        r"Not checked here: the sentences, the drawings(?P<sites>, what stands of single data sets)?(?P<tau>, how "
        r"stable "
        r"the order is)? and the columns right of the score as printed\.",
        lambda r, m: (
            bool(m["tau"]) == (r.board["stability"] is not None)
            and bool(m["sites"]) == any(row["sites"] for row in r.rows)
        ),
    ),
    (r"Withheld, and so named in board\.json: (?P<pointers>.*)\.$", withheld_as_said),
    (
        r"Downloads: CSV, JSON \((?P<what>every number, with all pairs|what is shown here)\), Markdown\.",
        lambda r, m: (
            (m["what"][0] == "e") == r.exact and (not r.exact or len(r.pairs) == len(r.rows) * (len(r.rows) - 1) / 2)
        ),
    ),
    (r"The table is empty: nobody has handed in anything that counts\.", lambda r, _: not r.rows),
    (
        r"Submissions, best first(?:, each with the (?P<kind>95 % interval.*?))?\.$",
        lambda r, m: interval_as_said(r, m) if m["kind"] else not any(map(r.has_interval, r.rows)),
    ),
    (
        r"Ranked by (?P<what>exact spans|leak) \((?P<score>F1|Score)(?P<lower>; lower is better)?\)\.",
        lambda r, m: (
            r.board["config"]["aggregation"] == "headline"
            and {"exact spans": "instance_strict"}.get(m["what"], m["what"]) == r.board["headline"]
            and bool(m["lower"]) == (m["what"] == "leak")
            and (m["score"] == "F1")
            == (m["what"] != "leak" and not any("score" in row and row["score"] is not None for row in r.rows))
        ),
    ),
    (
        r"Ranked by an aggregate of several scores; the first is for exact spans\.",
        lambda r, _: r.board["config"]["aggregation"] != "headline",
    ),
    (
        r"1 board(?P<hidden>, 1 of them in an open phase)?\.",
        lambda r, m: bool(m["hidden"]) != r.exact,
    ),
    (r"Mind: it lacks a score in (?P<what>.*)\.$", lambda r, m: m["what"].split(", ") == r.here["missing"]),
    (r"Mind: (?P<what>.*)\.$", lambda r, m: m["what"] in r.board["warnings"]),
    (
        r"c, board “Finding dates in clinical notes”, gold (?P<gold>.*), sandscore \d\.\d\.\d\.$",
        lambda r, m: m["gold"].split(", ") == list(r.board["gold"].values()),
    ),
    (
        r"(?P<draws>\d+) bootstrap resamples of (?P<units>\d+) (?P<unit>note|patient)s?, (?P<kind>\w+), 95 %$",
        lambda r, m: (
            (int(m["draws"]), int(m["units"])) == (DRAWS, r.board["units"])
            and (m["unit"] == "note") == any("no patient ids" in said for said in r.board["warnings"])
            and {"studentised": "percentile_t", "BCa": "bca"}.get(m["kind"], m["kind"]) == r.board["config"]["interval"]
        ),
    ),
    (
        r"(?P<test>approximate randomisation|paired bootstrap) of (?P<pairs>\d+) pairs?, adjusted for their number by "
        r"(?P<how>Holm’s method|a stepdown over the same coins)$",
        adjusted_how,
    ),
    (
        r"a new group begins where (?P<rule>.*)$",
        lambda r, m: (
            ("K exceeds 3" in m["rule"], "K exceeds 19" in m["rule"], "the test" in m["rule"])
            == (
                *(r.board["config"]["tie_rule"] == f"dream_k{k}" for k in (3, 19)),
                "dream" not in r.board["config"]["tie_rule"],
            )
        ),
    ),
    (
        r"(?P<seed>0x[0-9a-f]{16}), which follows from challenge, phase, gold and measure$",
        lambda r, m: (
            m["seed"] == r.board["seed"] and r.board["log_root"] is None and r.board["config"]["seed_rule"] == "names"
        ),
    ),
    (
        r"How often the row is ahead of the column, in per cent, when the (?P<unit>\w+) are drawn again\. Blue is "
        r"ahead, "
        r"orange is behind\.",
        lambda r, m: (
            (m["unit"] == "notes") == any("no patient ids" in said for said in r.board["warnings"]) and bool(r.pairs)
        ),
    ),
    (
        r"The test tells no two of these rows apart, so no cell has a frame\.",
        lambda r, _: apart_among(r, len(r.rows)) == 0,
    ),
    (
        r"A frame: the test tells the two apart \(adjusted p at most 0\.05\)\.",
        lambda r, _: apart_among(r, len(r.rows)) > 0,
    ),
    (
        r"Circles show how often it comes first(?P<more>, or among the first 3)? in the resamples\.",
        lambda r, m: bool(m["more"]) == (len(r.rows) > 3) and len(r.rows) > 1,
    ),
    (
        r"The first (?P<drawn>\d+) of (?P<rows>\d+) rows; the table above has them all\.",
        lambda r, m: (
            (int(m["drawn"]), int(m["rows"]))
            == (sum(line.score is not None for line in r.shown.standings.lines), len(r.rows))
        ),
    ),
    (
        r"(?P<n>\d+) rows? beyond the edge (?P<verb>has|have) an arrow for a dot\.",
        lambda r, m: (m["verb"] == "has") == (m["n"] == "1") and int(m["n"]) < len(r.rows) - len(r.lead) + 1,
    ),
    (
        r"Every dot is a submission; the line is the best score so far(?P<band> and the band its 95 % interval)?\.",
        lambda r, m: len(dated(r)) > 1 and (bool(m["band"]) <= any(map(r.has_interval, r.rows))),
    ),
    (r"A dashed mark \(new gold\): what came before it was scored again\.", lambda r, _: bool(r.shown.earlier)),
    (
        r"(?P<n>\d+) without a date or a score (?P<verb>is|are) left out\.",
        lambda r, m: int(m["n"]) == len(r.rows) - len(dated(r)) and (m["verb"] == "is") == (m["n"] == "1"),
    ),
    (
        r"F1 of each submission on each label, counted by instance_strict\. The label with the most trouble for all "
        r"of them "
        r"comes first\.(?P<ring> A ring \(°\) marks a label that gold has fewer than 10 times: its numbers say "
        r"little\.)?",
        ring_as_said,
    ),
    (
        r"(?P<notes>\d+) notes, (?P<gold>\d+) annotations? in gold, (?P<said>\d+) predicted\.(?: In (?P<share>[\d.]+) "
        r"% of the "
        r"notes that hold anything to find, at least one character of it stayed uncovered\.(?: Of (?P<most>at most "
        r")?(?P<n>\d+) "
        r"of (?P<of>\d+) (?P<unit>patients|notes) something slips through; of (?P=unit) like these, at most "
        r"(?P<bound>[\d.]+) % \(95 %\)\.)?)?",
        slips,
    ),
    (r"Nobody is on this board yet\.", lambda r, _: not r.rows),
    (r"Nobody on this board has a score\.", lambda r, _: bool(r.rows) and r.exact and not r.ranked),
    (r"Nobody leads yet\.", lambda r, _: not r.exact and not first_shown(r)),
    (rf"(?P<who>{WHO}) is alone on this board\.", lambda r, m: [r.row(m["who"])] == r.rows == r.lead),
    (rf"(?P<who>{WHO}) leads\.", lambda r, m: named(r, m["who"], r.lead) and len(r.lead) == 1),
    (rf"(?P<who>{WHO}(?:, {WHO})* and {WHO}) lead\.", lambda r, m: named(r, m["who"], r.lead) and len(r.lead) > 1),
    (rf"{CROWD} share the lead\.", lambda r, m: r.is_crowd(m, r.lead) and len(r.lead) > 3),
    (rf"(?P<who>{WHO}) stands first for now\.", lambda r, m: named(r, m["who"], first_shown(r)) and not r.exact),
    (
        rf"(?P<who>{WHO}(?:, {WHO})* and {WHO}) stand first for now\.",
        lambda r, m: named(r, m["who"], first_shown(r)) and not r.exact,
    ),
    (
        rf"{CROWD} stand first for now, with one shown score\.",
        lambda r, m: r.is_crowd(m, first_shown(r)) and len(first_shown(r)) > 3,
    ),
    (
        r"This test cannot say which (?P<which>is better|of them is best)\.",
        lambda r, m: (
            not any(r.separated(a, b) for a in r.lead for b in r.lead if a is not b)
            and len(r.lead) > 1
            and (m["which"] == "is better") == (len(r.lead) == 2)
        ),
    ),
    (
        r"The test tells it from everybody else\.",
        lambda r, _: len(r.lead) == 1 and all(r.separated(r.lead[0], row) for row in r.ranked if row not in r.lead),
    ),
    (
        RARE,
        lambda r, _: len(r.lead) == 1 and all(r.beaten(row) for row in r.ranked if row not in r.lead),
    ),
    (r"(?P<who>The leaders? finds?) (?P<share>[\w ]*?) of (?P<of>\d+) dates\.", finds),
    (
        r"The gold(?: of (?P<site>\w+))? is that of (?P<people>\d+) annotators, and scores are against all of them "
        r"together\. Held against each other they reach an F1 of (?P<f1>[\d.]+) on exact spans and a Cohen’s kappa of "
        r"(?P<kappa>-?[\d.]+) on words, which is about what a person can reach here\.",
        agree_as_said,
    ),
    (
        r"In (?P<share>[\w ]*?) of 100 notes that hold any, at least one slips through, if only in part\.",
        lambda r, m: r.are_shares(m["share"], [card_of(r, row)["note_leak"] for row in r.lead]),
    ),
    (
        rf"(?P<who>{WHO}): (?P<most>at most )?(?P<n>\d+) of (?P<of>\d+) (?P<unit>patients|notes) have something slip "
        r"through; of (?P=unit) like these, at most (?P<bound>[\d.]+) % \(95 %\)\.",
        patients_leak,
    ),
    (
        rf"(?P<who>{WHO}) is first of (?P<all>\d+) in {DRAWN}\.",
        lambda r, m: (
            r.is_drawn(m, r.row(m["who"])["p_first"])
            and int(m["all"]) == sum(row["p_first"] is not None for row in r.rows)
            and r.row(m["who"]) in r.lead
        ),
    ),
    (
        rf"Expected of (?P<who>{WHO}) on new (?P<unit>patients|notes): (?P<score>[\d.]+) "
        rf"\((?P<low>[\d.]+)–(?P<high>[\d.]+)\)\.",
        expected,
    ),
    (
        rf"K against (?P<who>{WHO}) is (?P<k>[^,]+), and its adjusted p is (?P<p>[≤<\d.]+): the two need not agree\. "
        + WHY,
        clash,
    ),
    (
        r"(?P<others>\d+) others?, clearly behind",
        lambda r, m: (
            int(m["others"]) == len(r.ranked) - len(r.lead)
            and all(r.beaten(row) for row in r.ranked if row not in r.lead)
        ),
    ),
    (r", ", lambda r, _: r.exact),
    (r"(?P<n>\d+) without a score", lambda r, m: int(m["n"]) == len(r.rows) - len(r.ranked) > 0),
    (
        r"Scores are rounded to steps at least as wide as their standard error\.",
        lambda r, _: r.board["policy"]["feedback"] == "rounded",
    ),
    (
        r"This is the Ladder: each team shows one score, and a new one only where it is better by more than the "
        r"standard error of the difference\. It is told in steps of 1/(?P<units>\d+) \((?P<step>[\d.]+)\)\.",
        lambda r, m: (
            int(m["units"]) == r.board["units"]
            and float(m["step"]) == round(1 / r.board["units"], 3)
            and len({row["team"] or row["submission"] for row in r.rows}) == len(r.rows)
        ),
    ),
    (r"No score is shown before the phase ends\.", lambda r, _: all(not row["measures"] for row in r.rows)),
    (
        r"Exact scores, intervals, tests and places are kept back and follow when the phase "
        r"(?P<when>ends|closes on 2026-11-22)\.",
        lambda r, m: (
            (m["when"] == "ends") == (r.board["phase"] != "final")
            and not r.ranked
            and not r.pairs
            and not any(row["chosen_ci"] or row["p_first"] for row in r.rows)
        ),
    ),
    (
        r"It may hold places? (?P<low>\d+)(?:–(?P<high>\d+))? of (?P<all>\d+): (?P<better>\d+) demonstrably better, "
        r"(?P<worse>\d+) demonstrably worse\.",
        lambda r, m: int(m["all"]) == len(r.ranked),
    ),
    (
        r"Precision against recall as less and less sure predictions are let in\. Average precision (?P<average>[\d.]+)"
        r"(?:; F1 is best, at the diamond, when predictions of confidence (?P<best>[\d.]+) and above are kept)?\.",
        curve_as_said,
    ),
    (
        r"The dot is the score that is shown\.",
        lambda r, _: not any(map(r.has_interval, r.rows)),
    ),
    (
        r"The dot is the score, the line the (?P<kind>95 % interval.*?), the pale band that of the first row\. Whether "
        r"two rows differ is what the test of the two says, not whether their lines overlap\.",
        interval_as_said,
    ),
    (r"The dot is the score, the line its (?P<kind>95 % interval[^.]*?)\.", interval_as_said),
    (BARE, lambda r, _: not any(map(r.has_interval, r.rows))),
    (
        r"Rankings of (?P<draws>\d+) resamples agree with this one by Kendall’s tau-b of (?P<mean>[-\d.]+) on average "
        r"\(95 %: (?P<low>[-\d.]+) to (?P<high>[-\d.]+); 1 is the same order\)\.",
        lambda r, m: (
            int(m["draws"]) == DRAWS
            and [m["mean"], m["low"], m["high"]] == [f"{r.tau[part]:.2f}" for part in ("mean", "low", "high")]
        ),
    ),
    (
        r"The bar spans the places a row may really hold, the dot is its place today\.",
        lambda r, _: bool(r.ranked),
    ),
    (
        r"A change of tint is a change of tie group\. A new tie group begins where (?P<rule>.*?); of any other two "
        r"rows it says nothing\.",
        lambda r, m: (
            m["rule"]
            == {"dream_k3": "DREAM’s K exceeds 3", "dream_k19": "DREAM’s K exceeds 19"}.get(
                r.board["config"]["tie_rule"], "the test tells a row from the first of its group"
            )
        ),
    ),
    (
        r"“≤” before a p: the smallest possible with this many draws[;.]",
        lambda r, _: any("≤" in r.shown.said.p_of(row) for row in r.shown.board.rows),
    ),
    (
        r"K “>(?P<k>\d+)”: not one of (?P<draws>\d+) redraws was lost\.",
        lambda r, m: (
            (int(m["k"]), int(m["draws"])) == (2 * DRAWS, DRAWS)
            and any(row["k"] == pytest.approx(2 * DRAWS + 1) for row in r.rows if row["k"])
        ),
    ),
]


def hold(reading: Reading, text: str) -> list[str]:
    """The whole text, sentence by sentence; the rules that it met."""
    met, rest = [], text
    while rest:
        found = next(((rule, match) for rule in RULES if (match := re.match(rule[0], rest))), None)
        assert found is not None, f"no rule knows: {rest}"
        (pattern, is_true), match = found
        assert is_true(reading, match), match[0]
        met.append(pattern)
        rest = rest[match.end() :] if match[0] == ", " else rest[match.end() :].lstrip()
        rest = f", {rest[1:].lstrip()}" if rest.startswith(",") else rest
    return met


def counted(reading: Reading, parts: Sequence[str]) -> None:
    """Who and how many, in the line below the heading."""
    crowd = re.fullmatch(CROWD, parts[0])
    assert crowd is not None
    assert reading.is_crowd(crowd, reading.rows)
    number, unit = parts[1].split(" ")
    assert int(number) == reading.board["units"]
    assert unit.rstrip("s") == reading.shown.said.unit.rstrip("s")
    phase, ended = reading.board["phase"], reading.board["config"]["ended"]
    state = "closed" if ended else "" if reading.exact else "open"
    when = {"closed": " 2026-11-22", "open": " until 2026-11-22", "": "closes 2026-11-22"}[state]
    said = f"{state}{when}" if phase == "final" else state
    assert parts[2:3] == ([", ".join(part for part in (phase, said) if part)] if phase or said else [])


def place_sentence(reading: Reading, row: Json, text: str) -> None:
    low, high = row["rank_set"]
    held = re.match(r"It may hold places? (\d+)(?:–(\d+))? of \d+: (\d+) .* better, (\d+) ", text)
    assert held is not None
    assert (int(held[1]), int(held[2] or held[1])) == (low, high)
    assert int(held[3]) == reading.beaten(row)
    below = reading.rows[reading.rows.index(row) + 1 :]
    assert int(held[4]) == sum(reading.separated(row, other) for other in below)


def test_no_page_says_what_its_board_does_not() -> None:
    met: set[str] = set()
    for seed in range(BOARDS):
        board, shown = made(seed)
        reading, overview = Reading(board, shown), Overview([shown], CHALLENGE)
        values = {"shown": Bare(shown), "overview": overview, "home": "../", "current": "", "share": None}
        first = page("board.html", **values)
        for markup in (first, page("index.html", **values)):
            counts = {" ".join(texts(markup, "counts"))}
            for text in told(markup):
                if text not in counts:
                    met.update(hold(reading, text))
        counted(reading, texts(first, "count"))
        met.update(hold(reading, shown.said.drawn))
        pairs = pairs_by_name(shown.board)
        for at, line in enumerate(shown.standings.lines):
            row = reading.here = board["rows"][at]
            held = shown.said.standing(line.row)
            assert (held is None) == (row["rank_set"] is None)
            if held:
                met.update(hold(reading, held))
                place_sentence(reading, row, held)
            if at and row["p_vs_leader"] is not None:
                assert shown_p(shown.said.p_of(line.row), row, reading)
            if at < 2:
                cards = shown.cards.get(line.row.submission, {})
                values["view"] = submission_view(shown.said, shown.standings.lines, at, pairs, cards)
                markup = page("submission.html", **values)
                assert texts(markup, "lead") == ([held] if held else [])
                title = {" ".join(texts(markup, "lede"))}
                for text in told(markup):
                    if text not in title:
                        met.update(hold(reading, text))
    said = {pattern for pattern, _ in RULES} - {RARE, BARE}
    assert said - met == set(), "sentences that none of the boards says"


def said_cards(reading: Reading) -> int:
    return sum(map(len, reading.shown.cards.values()))


def test_who_leads_alone_need_not_beat_everybody() -> None:
    """The first beats the second alone, and the second the third; by hand."""
    entries = [card_entry(json.dumps(card_content(f"s{at}", [(9 - at, 0, at)] * 9)).encode(), "") for at in range(3)]
    ranked = rank(entries, BoardRules(resamples=DRAWS, randomisations=FLIPS))
    places = {"s0": (1, 2), "s1": (2, 2), "s2": (2, 3)}
    apart = {("s0", "s1"): 0.01, ("s0", "s2"): 0.2, ("s1", "s2"): 0.01}
    rows = tuple(row.model_copy(update={"rank_set": places[row.submission]}) for row in ranked.rows)
    pairs = tuple(pair.model_copy(update={"p_adjusted": apart[pair.a, pair.b]}) for pair in ranked.pairwise)
    said = sentences_of(ranked.model_copy(update={"rows": rows, "pairwise": pairs}), {})
    assert str(said.lead.striptags()) == "team s0 leads."
    assert said.doubt == "Everybody else is demonstrably behind somebody."
    assert said.behind == "2 others, clearly behind"


def test_no_interval_is_spoken_of_where_none_is() -> None:
    ranked = rank([card_entry(json.dumps(card_content("s0", [(9, 0, 1)] * 9)).encode(), "")], BoardRules(resamples=100))
    (row,) = ranked.rows
    measures = {name: of.model_copy(update={"f1_ci": None}) for name, of in row.measures.items()}
    bare = row.model_copy(update={"chosen_ci": None, "measures": measures})
    kinds = {
        "The dot is the score, the line its 95 % interval that allows for the choice.": row,
        "The dot is the score, the line its 95 % interval.": row.model_copy(update={"chosen_ci": None}),
        "The dot is the score.": bare,
    }
    for said, one in kinds.items():
        assert sentences_of(ranked.model_copy(update={"rows": (one,)}), {}).strip == said


def test_a_false_sentence_is_found() -> None:
    """The reader of sentences is no rubber stamp: a board under another's page fails."""
    caught = 0
    for seed in range(40):
        board, shown = made(seed)
        if not (shown.said.policy.exact and len(board["rows"]) > 2):
            continue
        first, *others = board["rows"]
        reading = Reading({**board, "rows": [first | {"rank_set": [2, 2]}, *others]}, shown)
        with pytest.raises(AssertionError):
            hold(reading, str(shown.said.lead.striptags()))
        caught += 1
    assert caught > 5
