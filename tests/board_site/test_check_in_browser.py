"""The check that a board's page makes of itself: the command line's numbers to the digit, and no lie passes.

Draws are held against numpy's own stream, hashes against hashlib, numbers against the board that ``verify`` accepts.
"""

import hashlib
import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from board_samples import PUBLIC
from leak_corpora import MaskedNote, card_of, of_length
from msgspec.structs import replace
from playwright.sync_api import Browser, Page
from published_pages import opened
from ranking_cards import card_content, drawn_rows

from sandscore.ranking.board_building import rank
from sandscore.ranking.board_exports import as_json
from sandscore.ranking.card_reading import read_card
from sandscore.records.ranking_rules import BoardRules
from sandscore.scoring.card_building import dumped
from sandscore.site.publication import publish
from sandscore.verification.board_verification import verify

pytestmark = pytest.mark.browser
RULES = BoardRules(resamples=700, randomisations=1999)
CHECKED = """() => new Promise((told) => {
    document.addEventListener("sandscore-checked", (event) => told(event.detail), { once: true });
    document.querySelector("[data-verify]").click();
})"""


def published(folder: Path, scored: list[dict[str, Any]], rules: BoardRules = RULES, **policy: Any) -> Path:
    """The page of a board of these cards, which may be shown to everybody unless the policy says otherwise."""
    (folder / "cards").mkdir()
    entries = []
    for at, card in enumerate(scored):
        path = folder / "cards" / f"{at}.json"
        path.write_text(json.dumps(card), encoding="utf-8")
        entries.append(replace(read_card(path), listed=f"cards/{at}.json"))
    board = rank(entries, rules).model_copy(update={"policy": PUBLIC.model_copy(update=policy)})
    (folder / "board.json").write_text(as_json(board), encoding="utf-8")
    publish([folder / "board.json"], folder / "site")
    return next((folder / "site").glob("*/board.json")).with_name("index.html")


def checked(page: Page) -> dict[str, Any]:
    found: dict[str, Any] = page.evaluate(CHECKED)
    return found


def formula(rows: list[tuple[int, int, int]], form: str, direction: str) -> dict[str, Any]:
    """A measure of an installed package: what leaks of what was there, the other counts beside it."""
    components = {"leaked": sum(fn for _, _, fn in rows), "there": sum(tp + fn for tp, _, fn in rows)}
    made = components["leaked"] / components["there"] if form.startswith("ratio") else components["leaked"]
    return {"score": made, "components": components, "formula": form, "direction": direction, "plugin": "leak 1"}


def ordinary() -> list[dict[str, Any]]:
    """Seven systems, two of them equal, on patients with one to three notes, of which one has nothing at all."""
    patients = [f"patient-{at * at % 17}" for at in range(40)]
    skills = (0.9, 0.88, 0.88, 0.8, 0.75, 0.5, 0.3)
    rows = [
        {"instance_strict": drawn_rows(skill, 40, min(at, 5)), "token": drawn_rows(skill, 40, at)}
        for at, skill in enumerate(skills)
    ]
    rows[2] = rows[1]
    for of in rows:
        of["token"][3] = (0, 0, 0)
    return [card_content(f"s{at}", of, patients=patients) for at, of in enumerate(rows)]


def numbered_notes() -> list[dict[str, Any]]:
    """Names that JavaScript would put into another order: here the first notes have the largest numbers."""
    made = ordinary()
    for card in made:
        names = {note: str(90 - at) for at, note in enumerate(card["per_note"])}
        card["per_note"] = {names[note]: of for note, of in card["per_note"].items()}
        card["units"] = {names[note]: unit for note, unit in card["units"].items()}
    return made


def one_without_anything() -> list[dict[str, Any]]:
    return [
        *ordinary(),
        card_content(
            "nothing",
            {name: [(0, 0, 0)] * 40 for name in ("instance_strict", "token")},
            patients=list(ordinary()[0]["units"].values()),
        ),
    ]


def less_is_better(form: str = "ratio(leaked/there)") -> list[dict[str, Any]]:
    made = ordinary()
    for card in made:
        rows = [tuple(of["instance_strict"]) for of in card["per_note"].values()]
        card["measures"] = {"leak": formula(rows, form, "lower")}
        card["per_note"] = {
            note: {"leak": [fn, tp + fn]} for note, (tp, _, fn) in zip(card["per_note"], rows, strict=True)
        }
    return made


def two_sites() -> list[dict[str, Any]]:
    return [card | {"dataset": site} for site in ("north", "south") for card in ordinary()]


def unicode_names() -> list[dict[str, Any]]:
    """In Python's order of names, which is not that of JavaScript's 16 bits."""
    names = ["é", "\U0001f9ea", "\uff21", "z", "<b>", "a b", "Ω"]
    return [card | {"submission": name} for card, name in zip(ordinary(), names, strict=True)]


def three_sites_with_holes() -> list[dict[str, Any]]:
    """One system was not scored on the second of three sites, another has nothing there on the third."""
    made = [card | {"dataset": site} for site in ("north", "south", "west") for card in ordinary()]
    for card in made:
        for at, counted in enumerate(card["per_note"].values()):
            if (card["dataset"] == "south" and at % 3 == 0) or (card["dataset"] == "west" and at % 2 == 0):
                counted |= {"instance_strict": [counted["instance_strict"][0], 0, counted["instance_strict"][2]]}
        sums = [sum(of["instance_strict"][i] for of in card["per_note"].values()) for i in range(3)]
        card["measures"]["instance_strict"] = card_content("x", [(sums[0], sums[1], sums[2])])["measures"][
            "instance_strict"
        ]
    return [card for card in made if (card["submission"], card["dataset"]) != ("s4", "south")]


def dated() -> list[dict[str, Any]]:
    """The later ones score more; two are of one moment, one does not say when."""
    days = ["2026-03-07", "2026-03-05", "2026-03-06", "2026-03-01", "2026-03-01", None, "2026-01-01"]
    return [card | {"created": day and f"{day}T00:00:00+00:00"} for card, day in zip(ordinary(), days, strict=True)]


def leaking() -> list[dict[str, Any]]:
    """Shares of the safety lane: of the first row two patients leak, too few for an interval of resamples."""
    made = []
    for name, leaks in (("a", (3, 7)), ("b", range(8)), ("c", range(12)), ("d", range(4, 19))):
        given = [
            MaskedNote(f"n{p}", f"p{p}", of_length(20), [(2, 8, "NAME", f"e{p}")], [] if p in leaks else [(2, 8)])
            for p in range(30)
        ]
        card = card_of(given, "patient_leak", "char_leak").model_copy(update={"submission": name})
        made.append(json.loads(dumped(card)))
    return made


def ruled(**changes: Any) -> BoardRules:
    return RULES.model_copy(update=changes)


WEIGHED = {"instance_strict": 2.0, "token": 0.1}
LEAK = ruled(headline="leak")
BOARDS: Mapping[str, tuple[Callable[[], list[dict[str, Any]]], BoardRules]] = {
    "ordinary": (ordinary, RULES),
    "numbered notes": (numbered_notes, RULES),
    "percentile, dense": (ordinary, RULES.model_copy(update={"interval": "percentile", "numbering": "dense"})),
    "one without a score": (one_without_anything, RULES.model_copy(update={"numbering": "average"})),
    "less is better": (less_is_better, LEAK),
    "two sites": (two_sites, RULES),
    "odd names": (unicode_names, RULES),
    "by leaks": (leaking, ruled(headline="patient_leak")),
    "Holm": (ordinary, ruled(tie_rule="holm")),
    "K decides ties": (ordinary, ruled(tie_rule="dream_k3")),
    "paired bootstrap": (ordinary, ruled(test="paired_bootstrap")),
    "BCa": (one_without_anything, ruled(interval="bca")),
    "ties by another measure": (ordinary, ruled(tie_break=("token",))),
    "ties by date": (dated, ruled(tie_break=("created",), numbering="dense")),
    "Borda": (one_without_anything, ruled(aggregation="borda", measures=WEIGHED)),
    "mean rank": (ordinary, ruled(aggregation="mean_rank", measures=WEIGHED)),
    "lexicographic": (ordinary, ruled(aggregation="lexicographic", measures=WEIGHED)),
    "mean of sites": (three_sites_with_holes, ruled(sites="macro")),
    "mean of sites that are there": (three_sites_with_holes, ruled(sites="macro", missing="exclude")),
    "mean of sites by Holm": (two_sites, ruled(sites="macro", tie_rule="holm", interval="bca")),
    "mean rank of sites": (three_sites_with_holes, ruled(sites="mean_rank")),
    "Borda of mean ranks": (
        three_sites_with_holes,
        ruled(sites="mean_rank", missing="exclude", aggregation="borda", measures=WEIGHED, tie_break=("token",)),
    ),
    "pooled, with holes": (three_sites_with_holes, ruled(missing="exclude")),
}


RANKS = {"Borda", "mean rank", "mean rank of sites", "Borda of mean ranks"}
"""Boards whose scores are made of ranks: tested by the paired bootstrap whatever else was asked for."""


def test_draws_and_hashes_are_those_of_everybody(browser: Browser, site: Path) -> None:
    with opened(browser, site / "address" / "index.html") as page:
        for seed in (0x0123456789ABCDEF, 0x89ABCDEF, 0xFFFFFFFF00000000, 0):
            for entropy, more in ((seed, []), ([seed, 1], [1])):
                drawn = page.evaluate(
                    """([seed, more]) => {
                        const stream = new sandscoreDraws.Stream([...sandscoreDraws.wordsOf(seed), ...more]);
                        return Array.from({ length: 300 }, () => { stream.next(); return [stream.top, stream.low]; });
                    }""",
                    [f"0x{seed:016x}", more],
                )
                assert [top << 32 | low for top, low in drawn] == np.random.PCG64(entropy).random_raw(300).tolist()
        for length in (0, 1, 55, 56, 63, 64, 65, 1000):
            text = "aé"[: length % 2 + 1] * length
            made = page.evaluate("(text) => sandscoreDraws.sha256(new TextEncoder().encode(text))", text)
            assert made == hashlib.sha256(text.encode()).hexdigest()


def flat(board: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Every number that the browser makes again, by its place."""
    for at, row in enumerate(board["rows"]):
        for name in ("rank", "rank_set", "group", "chosen_ci", "expected", "k", "p_vs_leader", "p_first", "score_ci"):
            yield f"/rows/{at}/{name}", row[name]
    for at, pair in enumerate(board["pairwise"]):
        for name in ("a", "b", "delta", "delta_ci", "wins", "patients"):
            yield f"/pairwise/{at}/{name}", pair[name]


@pytest.mark.parametrize("kind", BOARDS)
def test_the_browser_makes_every_number_that_verify_accepts(browser: Browser, tmp_path: Path, kind: str) -> None:
    cards, rules = BOARDS[kind]
    index = published(tmp_path, cards(), rules)
    assert verify(index.with_name("board.json")).level == "recomputed"
    board = json.loads(index.with_name("board.json").read_text())
    with opened(browser, index) as page:
        found = checked(page)
        assert found["faults"] == []
        assert found["level"] == "recomputed"
        ticks = page.locator(".ticks td").all_inner_texts()
        assert ticks == ["✓\nagrees"] * 8 * len(board["rows"])
        assert "Everything agrees" in page.locator("[data-verify-status]").inner_text()
    numbers = found["numbers"]
    made = dict(flat({"rows": numbers["rows"], "pairwise": numbers["pairs"]}))
    for where, value in flat(board):
        assert made[where] == (value if isinstance(value, str) or value is None else pytest.approx(value, abs=1e-11)), (
            where
        )
    for row, again in zip(board["rows"], numbers["rows"], strict=True):
        for name, measure in row["measures"].items():
            interval = next((measure[name] for name in ("f1_ci", "score_ci", "ci") if measure.get(name)), None)
            assert again["intervals"][name] == (interval and pytest.approx(interval, abs=1e-11))
    draws = 701 if board["config"]["test"] == "paired_bootstrap" or kind in RANKS else 2000
    for pair, again in zip(board["pairwise"], numbers["pairs"], strict=True):
        for name in ("p", "p_adjusted"):
            assert again[name] == (pair[name] and pytest.approx(pair[name] * draws, abs=1e-6))


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return published(tmp_path_factory.mktemp("honest"), ordinary())


def touched(text: str, change: str) -> str:
    proof = json.loads(re.findall(r'id="proof">(.*?)</script>', text)[0])
    row, card = proof["rows"][1], json.loads(proof["cards"][1][0])
    if change == "a number in the table":
        return re.sub(r'(id="row-s1".*?<td class="score"[^>]*><b>)0\.\d', r"\g<1>0.1", text, flags=re.DOTALL)
    if change == "places in the table":
        return re.sub(r'(id="row-s6".*?</td>\s*<td class="n">)[^<]*', r"\g<1>1", text, count=1, flags=re.DOTALL)
    if change in ("a count of a note", "a count of a note, and the hash"):
        note = next(iter(card["per_note"].values()))
        note["token"][0] += 1
        proof["cards"][1][0] = json.dumps(card)
        if "hash" in change:
            row["cards"][0][1] = hashlib.sha256(proof["cards"][1][0].encode()).hexdigest()
    elif change == "who has which patient":
        card["units"] = dict(zip(card["units"], [*list(card["units"].values())[1:], "patient-0"], strict=True))
        proof["cards"] = [[json.dumps(json.loads(of[0]) | {"units": card["units"]})] for of in proof["cards"]]
        for one, of in zip(proof["rows"], proof["cards"], strict=True):
            one["cards"][0][1] = hashlib.sha256(of[0].encode()).hexdigest()
    elif change == "an interval":
        row["chosen_ci"][0] += 1e-6
    elif change == "a p-value":
        proof["pairs"][4][0] += 1
    elif change == "the seed":
        proof["seed"] = "0x0000000000000001"
    elif change == "the order":
        proof["rows"][5], proof["rows"][6] = proof["rows"][6], proof["rows"][5]
        proof["cards"][5], proof["cards"][6] = proof["cards"][6], proof["cards"][5]
    elif change == "a ratio":
        row["measures"]["token"]["recall"] += 1e-6
    else:
        return text.replace('id="proof">{', 'id="proof">{{')
    return re.sub(r'id="proof">.*?</script>', lambda _: f'id="proof">{json.dumps(proof)}</script>', text)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("a number in the table", "s1: the table prints 0.1"),
        ("places in the table", "s6: the table prints places 1"),
        ("a count of a note", "s1: the SHA-256 of cards/s1.json"),
        ("a count of a note, and the hash", "s1: token: the counts"),
        ("who has which patient", "the interval"),
        ("an interval", "s1: the interval that allows for the choice"),
        ("a p-value", "what is said of the two does not follow"),
        ("the seed", "the seed"),
        ("the order", "the row at this place"),
        ("a ratio", "s1: token: recall"),
        ("no JSON", "what it embeds cannot be read"),
    ],
)
def test_a_touched_page_is_told_so(browser: Browser, honest: Path, tmp_path: Path, change: str, told: str) -> None:
    shutil.copy(honest, tmp_path / "index.html")
    page_file = tmp_path / "index.html"
    before = page_file.read_text()
    page_file.write_text(touched(before, change))
    assert page_file.read_text() != before
    with opened(browser, page_file) as page:
        found = checked(page)
        assert found["level"] == "contradicted"
        status = page.locator("[data-verify-status]")
        assert status.inner_text().startswith("This page contradicts itself")
        assert told in " ".join([status.inner_text(), *found["faults"]])
        assert status.get_attribute("class") == "warning"


@pytest.mark.parametrize(
    ("policy", "level", "columns"),
    [
        ({"cards": "totals"}, "totals", 4),
        ({"cards": "none"}, "totals", 4),
        ({"feedback": "rounded", "gold": "hidden", "cards": "totals"}, "shown", 2),
        ({"feedback": "ladder", "gold": "hidden", "cards": "none"}, "shown", 2),
        ({"feedback": "blind", "gold": "hidden", "cards": "none"}, "shown", 0),
    ],
)
def test_what_is_withheld_is_no_part_of_the_page(
    browser: Browser, tmp_path: Path, policy: dict[str, Any], level: str, columns: int
) -> None:
    index = published(
        tmp_path, ordinary(), RULES.model_copy(update={"feedback": policy.get("feedback", "full")}), **policy
    )
    text = index.read_text()
    assert '"cards":[]' in text
    assert "patient-" not in text
    with opened(browser, index) as page:
        found = checked(page)
        assert (found["level"], found["faults"]) == (level, [])
        ticked = page.locator(".ticks td.right").count()
        assert ticked == columns * page.locator(".ticks tbody tr").count()
        assert "Withheld, and so not checked" in page.locator("section:has(#check)").inner_text()
