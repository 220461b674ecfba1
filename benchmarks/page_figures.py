"""A page of forty rows in the reader's hands: what it weighs, how long it checks itself, what Lighthouse says of it.

    python benchmarks/page_figures.py [--lighthouse]

Forty submissions, 125 patients of two notes each, five measures, 10,000 resamples. The page is opened in Debian's
Chromium (tools/browser.sh installs it) and its button is pressed; every number that its script makes again is held
against the board's, and CPU time is that of the page's thread. Exit code 1 where a limit is passed. With
``--lighthouse``, which npm fetches, the page is served compressed and judged on a phone and on a desk, without cards
and with them: its scores of performance want a machine with nothing else to do.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import gzip
import json
import shutil
import subprocess
import sys
import tempfile
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import product
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
import numpy as np
from msgspec.structs import replace
from playwright.sync_api import CDPSession, sync_playwright
from ranking_cards import card_content, drawn_rows

from sandscore.ranking.board_building import rank
from sandscore.ranking.board_exports import as_json
from sandscore.ranking.card_reading import read_card
from sandscore.records.board import BoardPolicy
from sandscore.records.ranking_rules import BoardRules
from sandscore.site.publication import PublicationSettings, publish

ROWS, PATIENTS, NOTES = 40, 125, 250
MEASURES = ("instance_strict", "token", "instance_relax", "date_type", "overlap")
SECONDS, BYTES, WITH_CARDS, JUDGED = 10.0, 60_000, 250_000, 95
CLOSE = 1e-9
LIGHTHOUSE = "lighthouse@13.5.0"
PUBLIC = BoardPolicy(notes="public", gold="public", cards="notes", feedback="full", ended=False)
CHECKED = """() => new Promise((told) => {
    document.addEventListener("sandscore-checked", (event) => told(event.detail), { once: true });
    document.querySelector("[data-verify]").click();
})"""


def board(folder: Path) -> Path:
    """Equal and unequal ones, a quarter of a point apart."""
    (folder / "cards").mkdir()
    patients = [f"p{note // 2}" for note in range(NOTES)]
    entries = []
    for at in range(ROWS):
        rows = counted(at)
        made = card_content(
            f"{at:012x}", rows, patients=patients, team=f"Team {at}", created=f"2026-01-{at % 28 + 1:02}"
        )
        path = folder / "cards" / f"{at}.json"
        path.write_text(json.dumps(made, separators=(",", ":")), encoding="utf-8")
        entries.append(replace(read_card(path), listed=f"cards/{at}.json"))
    ranked = rank(entries, BoardRules(resamples=10_000)).model_copy(update={"policy": PUBLIC})
    (folder / "board.json").write_text(as_json(ranked), encoding="utf-8")
    return folder / "board.json"


def counted(at: int) -> dict[str, list[tuple[int, int, int]]]:
    """By measure: words of their own; what strict spans miss others find, and some of what is found is mislabelled."""
    strict, words = (drawn_rows(0.95 - 0.0025 * at, NOTES, 2 * at + more, 1 + more) for more in (0, 1))
    stream = np.random.default_rng(at)
    rows = {"instance_strict": strict, "token": words}
    for name, forgiven in (("instance_relax", 0.3), ("overlap", 0.6)):
        gained = stream.binomial([min(fp, fn) for _, fp, fn in strict], forgiven).tolist()
        rows[name] = [(tp + more, fp - more, fn - more) for (tp, fp, fn), more in zip(strict, gained, strict=True)]
    lost = stream.binomial([tp for tp, _, _ in strict], 0.02).tolist()
    rows["date_type"] = [(tp - less, fp + less, fn + less) for (tp, fp, fn), less in zip(strict, lost, strict=True)]
    return {name: rows[name] for name in MEASURES}


def weights(made: Path, folder: Path) -> tuple[int, int, Path]:
    """Bytes as they are sent, without cards and with them; and the page with them."""
    sent = []
    for cards in ("none", "notes"):
        settings = PublicationSettings(cards=cards, url="https://example.org/board/")
        publish([made], folder / cards, settings)
        page = folder / cards / "date" / "index.html"
        sent.append(len(gzip.compress(page.read_bytes())))
    return sent[0], sent[1], page


def checked(page: Path) -> dict[str, Any]:
    """What the page's own script finds."""
    chromium = shutil.which("chromium")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        window = browser.new_page()
        window.set_default_timeout(300_000)
        window.goto(page.as_uri())
        session = window.context.new_cdp_session(window)
        session.send("Performance.enable", {"timeDomain": "threadTicks"})
        before = task_seconds(session)
        found: dict[str, Any] = window.evaluate(CHECKED)
        found["cpu"] = task_seconds(session) - before
        browser.close()
    return found


def task_seconds(session: CDPSession) -> float:
    """CPU seconds of the page's thread so far."""
    metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    return float(metrics["TaskDuration"])


def differences(found: dict[str, Any], made: dict[str, Any]) -> int:
    """How many of the numbers that the browser made again are not the board's."""
    told: list[tuple[Any, Any]] = [(found["numbers"]["units"], made["units"])]
    draws = made["config"]["randomisations"] or 9_999
    for row, again in zip(made["rows"], found["numbers"]["rows"], strict=True):
        names = ("rank", "rank_set", "group", "chosen_ci", "expected", "k", "p_vs_leader", "p_first")
        told += [(row[name], again[name]) for name in names]
        told += [(row["measures"][name]["f1_ci"], again["intervals"][name]) for name in MEASURES]
    for pair, again in zip(made["pairwise"], found["numbers"]["pairs"], strict=True):
        told += [(pair[name], again[name]) for name in ("a", "b", "delta", "delta_ci", "wins", "patients")]
        told += [(pair[name] * (draws + 1), again[name]) for name in ("p", "p_adjusted")]
    return sum(not alike(a, b) for a, b in told)


def alike(a: Any, b: Any) -> bool:
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(alike, a, b))
    if isinstance(a, int | float) and isinstance(b, int | float):
        return abs(a - b) <= CLOSE * max(1.0, abs(a))
    return bool(a == b)


class Compressing(SimpleHTTPRequestHandler):
    """Sends pages as web servers do, compressed, and says nothing of it."""

    def do_GET(self) -> None:
        place = Path(self.translate_path(self.path))
        if place.suffix != ".html" or not place.is_file():
            super().do_GET()
            return
        content = gzip.compress(place.read_bytes())
        self.send_response(200)
        for name, said in (("Type", "text/html; charset=utf-8"), ("Encoding", "gzip"), ("Length", str(len(content)))):
            self.send_header(f"Content-{name}", said)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_said: object) -> None:
        """Nothing."""


def judged(site: Path, preset: str) -> dict[str, int]:
    """Lighthouse's scores of the board's page, served from this machine."""
    handler = partial(Compressing, directory=str(site))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, tempfile.TemporaryDirectory() as folder:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/date/index.html"
        report = Path(folder) / "report.json"
        command = ["npx", "--yes", LIGHTHOUSE, address, "--output=json", f"--output-path={report}", "--quiet"]
        command += [
            "--chrome-flags=--headless=new --no-sandbox",
            *(["--preset=desktop"] if preset == "desktop" else []),
        ]
        chromium = shutil.which("chromium") or ""
        subprocess.run(command, check=True, timeout=500, env={**os.environ, "CHROME_PATH": chromium})
        server.shutdown()
        found = json.loads(report.read_text())["categories"]
    return {name: round(100 * one["score"]) for name, one in found.items() if one["score"] is not None}


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--lighthouse", action="store_true", help="have Lighthouse judge the page too")
    given = options.parse_args()
    broken = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made = board(folder)
        bare, whole, page = weights(made, folder)
        print(f"page of {ROWS} rows, gzipped, without cards: {bare:,} bytes (limit {BYTES:,})")
        print(f"the same with its cards: {whole:,} bytes (limit {WITH_CARDS:,})")
        broken += bare > BYTES or whole > WITH_CARDS
        found = checked(page)
        wrong = differences(found, json.loads(page.with_name("board.json").read_text()))
        print(f"checked in the browser: {found['level']}, {wrong} numbers are not the command line's")
        print(f"it took {found['cpu']:.1f} s of CPU (limit {SECONDS:.0f} s) and {found['seconds']:.1f} s by the clock")
        broken += found["level"] != "recomputed" or found["cpu"] > SECONDS or wrong > 0
        for cards, preset in product(("none", "notes"), ("phone", "desktop")) if given.lighthouse else ():
            scores = judged(folder / cards, preset)
            print(
                f"Lighthouse, cards {cards}, {preset}: {', '.join(f'{what} {score}' for what, score in scores.items())}"
            )
            broken += min(scores.values()) < JUDGED
    return int(broken > 0)


if __name__ == "__main__":
    sys.exit(main())
