"""Every sentence of a board's pages, read again from the page's text and held against the board's numbers.

Two hundred boards are made: of no row and of many, with ties, rows without a score, two data sets, a score of which
less is better, every rule of ties, and every mode that hides. A sentence that no rule below knows is a failure.
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
from sandscore.records.board import BoardPolicy, BoardRules
from sandscore.records.challenge import Challenge
from sandscore.records.withheld_fields import policy_on
from sandscore.site.board_files import FoundCard, ReadBoard, shown_board
from sandscore.site.board_sentences import sentences_of
from sandscore.site.page_templates import page
from sandscore.site.plots.heat_map import pairs_by_name
from sandscore.site.site_pages import BoardPage, Overview, board_page
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


class Bare:
    """A board's page without its drawings, which say nothing in sentences and take long."""

    plots = ()

    def __init__(self, shown: BoardPage) -> None:
        self._shown = shown

    def __getattr__(self, name: str) -> Any:
        return getattr(self._shown, name)


def cards_of(stream: np.random.Generator) -> Iterator[Json]:
    """Of up to eight submissions; some alike, some without team, name or score, on one or two data sets."""
    count, patients = int(stream.choice([0, 1, 2, 3, 5, 8])), int(stream.choice([6, 30, 60]))
    spread, sites = float(stream.choice([0.0, 0.05, 0.4])), ["north", "south"][: int(stream.choice([1, 1, 2]))]
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
            changes["sites"] = str(stream.choice(["pooled", "macro"]))
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
    found: dict[str, dict[str, FoundCard]] = {}
    several = any(row.sites for row in board.rows)
    for one, card in zip(entries, cards, strict=True):
        place = one.dataset if several else ""
        found.setdefault(one.submission, {})[place or ""] = FoundCard(json.dumps(card).encode(), one)
    shown = shown_board(ReadBoard(board, "board.json", found), policy_on(board.policy, board.config), None)
    made = board_page(shown, [("date", *([phase] if phase else []))], 0, [], CHALLENGE)
    return json.loads(as_json(made.board)), made


def text_of(element: Element) -> str:
    return re.sub(r"\s+", " ", "".join(element.itertext())).strip()


def texts(markup: bytes, wanted: str) -> list[str]:
    root = html5lib.parse(markup, namespaceHTMLElements=False)
    return [text_of(one) for one in root.iter() if wanted in (one.get("class") or "").split()]


class Reading:
    """The board as numbers, and what each sentence must mean."""

    def __init__(self, board: Json, shown: BoardPage) -> None:
        self.board, self.shown = board, shown
        self.rows: list[Json] = board["rows"]
        self.ranked = [row for row in self.rows if row["rank_set"]]
        self.exact = shown.said.policy.exact
        self.lead = [row for row in self.ranked if row["rank_set"][0] == 1]
        self.pairs = {frozenset((pair["a"], pair["b"])): pair for pair in board["pairwise"]}

    @property
    def tau(self) -> dict[str, float]:
        found = self.board["stability"]["kendall_tau"]
        return {"mean": found["mean"], "low": found["q"][0], "high": found["q"][2]}

    def measure(self, row: Json) -> Json:
        found: Json = row["measures"].get(self.board["headline"], {})
        return found

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


def card_leak(reading: Reading, row: Json) -> tuple[int, int, int]:
    """The patients with gold, and between how many patients the leaking notes must be shared, counted by trying."""
    content = card_of(reading, row)
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
    of, least, most = card_leak(reading, reading.row(said["who"]))
    assert (int(said["n"]), int(said["of"])) == (most, of)
    assert bool(said["most"]) == (least != most)
    return leak_bound(most, of, float(said["bound"]) / 100)


def expected(reading: Reading, said: re.Match[str]) -> bool:
    row = reading.row(said["who"])
    given = [float(said[part]) for part in ("score", "low", "high")]
    return given == [float(f"{value:.3f}") for value in (row["expected"], *row["chosen_ci"])]


def shown_p(text: str, row: Json, reading: Reading) -> bool:
    """A p as it is printed: rounded, or at its floor, where no draw reached the pair."""
    pair = reading.pairs[frozenset((row["submission"], reading.rows[0]["submission"]))]
    draws = DRAWS if reading.board["config"]["test"] == "paired_bootstrap" else FLIPS
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


WHY = (
    r"K and first places ask how often a row wins when the (?:patients|notes) are drawn again, one pair at a time; the "
    r"adjusted p asks how often chance alone makes a gap as wide anywhere among all (?P<pairs>\d+) pairs\."
)
RARE = r"Everybody else is demonstrably behind somebody\."
RULES: list[Rule] = [
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
        rf"(?P<who>{WHO}): (?P<most>at most )?(?P<n>\d+) of (?P<of>\d+) patients have something slip through; of "
        r"patients like these, at most (?P<bound>[\d.]+) % \(95 %\)\.",
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
        rf"Expected of (?P<who>{WHO}) on new patients: (?P<score>[\d.]+) \((?P<low>[\d.]+)–(?P<high>[\d.]+)\)\.",
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
        r"The dot is the score that is shown\.",
        lambda r, _: not any(row["chosen_ci"] or r.measure(row).get("f1_ci") for row in r.rows),
    ),
    (
        r"The dot is the score, the line the 95 % interval that allows for the choice, the pale band that of the first "
        r"row\. Whether two rows differ is what the test of the two says, not whether their lines overlap\.",
        lambda r, _: any(row["chosen_ci"] or r.measure(row).get("f1_ci") for row in r.rows),
    ),
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
        blocks = [text for kind in ("lead", "plainly", "closed-box", "behind-said") for text in texts(first, kind)]
        blocks += texts(first, "said")
        for text in blocks:
            met.update(hold(reading, text))
        blocks = [shown.said.drawn, *([shown.said.repeated] if board["stability"] and reading.ranked else [])]
        for text in blocks:
            met.update(hold(reading, text))
        counted(reading, texts(first, "count"))
        met.update(hold(reading, " ".join(texts(page("index.html", **values), "lead"))))
        for at, line in enumerate(shown.standings.lines):
            row = board["rows"][at]
            held = shown.said.standing(line.row)
            assert (held is None) == (row["rank_set"] is None)
            if held:
                met.update(hold(reading, held))
                place_sentence(reading, row, held)
            if at and row["p_vs_leader"] is not None:
                assert shown_p(shown.said.p_of(line.row), row, reading)
    said = {pattern for pattern, _ in RULES} - {RARE}
    assert said - met == set(), "sentences that none of the boards says"


def test_the_page_of_a_row_says_where_it_stands() -> None:
    for seed in range(12):
        _, shown = made(seed)
        pairs, lines = pairs_by_name(shown.board), shown.standings.lines
        for at, line in enumerate(lines[:2]):
            view = submission_view(shown.said, lines, at, pairs, {})
            markup = page(
                "submission.html", view=view, shown=shown, overview=Overview([shown], None), home="../", current=""
            )
            said = shown.said.standing(line.row)
            assert texts(markup, "lead") == ([said] if said else [])


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
