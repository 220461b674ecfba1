"""The recipe that a published page prints works on that page: the site of a queue is verified as it is published.

Whatever the feedback, the policy of cards, and whether the phase has ended: nothing exact leaves before it has.
"""

import html
import json
import re
import shlex
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from queue_samples import queue
from ranking_cards import card_content, drawn_rows

from sandscore.cli.main import run
from sandscore.queue.board_making import rebuild
from sandscore.queue.children.child_messages import ScoredSubmission
from sandscore.queue.workspace import Workspace
from sandscore.ranking.card_reading import RankedCard, card_entry
from sandscore.records.ranking_rules import CardRule, FeedbackMode
from sandscore.site import board_files

pytestmark = pytest.mark.slow

RULES = """
challenge = "recipes"
resamples = 100
randomisations = 199
[data]
notes = "{notes}"
gold = "{gold}"
accept_disclosure = true
[[phases]]
name = "final"
feedback = "{feedback}"
cards = "{cards}"
ended = {ended}
"""
SECRETS = (
    b"note-7",
    b"patient-3",
    b"777.25",
    b"registry.example",
    b"feedfacecafe",
    b"mine-alone",
    b"0.8125390625",
)
"""On every exact card: ids of notes and patients, seconds of the run, the image, the predictions' hash, a label of the
participant's own, and a point of the curve of confidence."""


def scored(workspace: Workspace) -> list[ScoredSubmission]:
    """Three submissions of two teams, with exact cards where the queue keeps them."""
    made = []
    for at in range(3):
        name = f"s{at}"
        rows = {measure: drawn_rows(0.6 + 0.1 * at, 24, at) for measure in ("instance_strict", "token")}
        card = card_content(
            name,
            rows,
            gold=sha256(workspace.gold("date", "final").read_bytes()).hexdigest()[:12],
            team=f"team {at % 2}",
            created=f"2026-01-0{at + 1}T00:00:00Z",
            image=f"registry.example/{at}@sha256:0",
            patients=[f"patient-{note // 2}" for note in range(24)],
            run={"seconds": {"total": 777.25}},
            per_label={"mine-alone": {"token": {"tp": 0, "fp": 1 + at, "fn": 0}}},
            confidence={"average_precision": 0.8, "best_threshold": 1.0, "curve": [[0.8125390625, 0.5, 0.5]]},
        )
        card["signature"] = card["signature"].replace(card["signature"].split("|")[3], "predictions:feedfacecafe")
        place = workspace.private / f"{name}.json"
        place.write_text(json.dumps(card), encoding="utf-8")
        made.append(
            ScoredSubmission(
                id=name,
                team=card["team"],
                task="date",
                phase="final",
                version=1,
                created=card["created"],
                score=card["measures"]["instance_strict"]["f1"],
                waiting=False,
                card=str(place),
            )
        )
    return made


def site_of(folder: Path, **policy: Any) -> Path:
    policy = {"notes": "hidden", "gold": "hidden", **policy}
    policy["ended"] = str(policy["ended"]).lower()
    workspace = queue(folder, RULES.format(**policy))
    answer = rebuild(workspace, scored(workspace), ())
    assert answer.warnings == ()
    return workspace.root


def recipes(page: Path) -> list[list[str]]:
    printed = re.findall(r'<pre class="command"><code>(.*?)</code>', page.read_text(encoding="utf-8"), re.DOTALL)
    return [shlex.split(html.unescape(line)) for line in printed]


@pytest.mark.parametrize("ended", [True, False], ids=["ended", "running"])
@pytest.mark.parametrize("cards", ["none", "totals", "notes"])
@pytest.mark.parametrize("feedback", ["full", "rounded", "ladder", "blind"])
def test_every_page_is_verified_as_it_says(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    feedback: FeedbackMode,
    cards: CardRule,
    ended: bool,
) -> None:
    root = site_of(tmp_path, feedback=feedback, cards=cards, ended=ended)
    monkeypatch.chdir(root / "public" / "site")
    found = [recipe for page in sorted(Path().rglob("*.html")) for recipe in recipes(page)]
    assert found, "the board's page prints one"
    level = "recomputed" if ended and cards == "notes" else "totals"
    for program, *words in found:
        assert (program, words[-2:]) == ("sandscore", ["--log", "../log"])
        assert run(words) == 0, capsys.readouterr().err
        assert f"level: {level}" in capsys.readouterr().out.splitlines()
    refused = run(["verify", "date-final/board.json", "--require", "recomputed"])
    assert refused == (0 if level == "recomputed" else 65)

    board = json.loads(Path("date-final/board.json").read_bytes())
    named = [row["card"] for row in board["rows"] if row["card"]]
    assert len(named) == (3 if ended and cards != "none" else 0)
    public = b"".join(path.read_bytes() for path in sorted((root / "public").rglob("*")) if path.is_file())
    shown = [secret for secret in SECRETS if secret in public]
    assert shown == ([b"feedfacecafe", b"mine-alone", b"0.8125390625"] if ended and cards == "notes" else [])
    if not ended:
        assert b'"tp"' not in b"".join(path.read_bytes() for path in (root / "public" / "cards").glob("*"))
        assert all(row["measures"].get("token", {}).get("tp") is None for row in board["rows"])


@pytest.mark.parametrize("cards", ["none", "totals"])
def test_a_witness_who_is_shown_the_exact_cards_attests_a_board_that_hides_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], cards: CardRule
) -> None:
    root = site_of(tmp_path, feedback="full", cards=cards, ended=True)
    board, key = root / "public" / "site" / "date-final" / "board.json", tmp_path / "witness.key"
    assert run(["keys", "new", "example.org/witness", "-o", str(key)]) == 0
    named = ["--key", capsys.readouterr().out.strip(), "--require", "attested"]
    words = ["witness", str(board), "--cards", str(root / "private"), "--sign", str(key)]
    exact = root / "private" / "s1.json"
    honest = exact.read_text()
    wrong = [(shuffled(honest), "its cards make")]
    if cards == "totals":
        wrong.append((relabelled(honest), "no card at hand makes cards/s1.json, the card of totals of s1"))
    for content, told in wrong:
        exact.write_text(content)
        assert run(words) == 65
        assert told in capsys.readouterr().err
    exact.write_text(honest)
    if cards == "totals":
        (root / "private" / "s1-older.json").write_text(relabelled(honest))
    assert run(words) == 0, capsys.readouterr().err
    capsys.readouterr()
    assert run(["verify", str(board), *named]) == 0
    said = capsys.readouterr().out
    assert "level: attested\n" in said
    assert "attested by 0.2.0 from 3 cards: example.org/witness+" in said
    assert run(["verify", str(board), "--require", "recomputed"]) == 65


def relabelled(card: str) -> str:
    """Another count of a label, which boards do not show and cards of totals do."""
    said = json.loads(card)
    said["per_label"]["mine-alone"]["token"]["fp"] += 1
    return json.dumps(said)


def shuffled(card: str) -> str:
    """The same totals, of which each note has another's: only whoever has notes can tell."""
    said = json.loads(card)
    rows = list(said["per_note"].values())
    said["per_note"] = dict(zip(said["per_note"], [*rows[7:], *rows[:7]], strict=True))
    return json.dumps(said)


def test_public_data_are_recomputed_while_the_phase_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = site_of(tmp_path, notes="public", gold="public", feedback="full", cards="notes", ended=False)
    monkeypatch.chdir(root / "public" / "site")
    assert run(["verify", "date-final/board.json", "--require", "recomputed"]) == 0


def test_what_an_older_version_published_is_withdrawn(tmp_path: Path) -> None:
    """Its boards were exact, and its cards had a row for each note."""
    root = site_of(tmp_path, feedback="full", cards="totals", ended=False)
    board, card = root / "public" / "boards" / "address-final.json", root / "public" / "cards" / "old.v1.json"
    older = json.loads((root / "public" / "boards" / "date-final.json").read_bytes())
    board.write_text(json.dumps({name: value for name, value in older.items() if name not in ("policy", "withheld")}))
    card.parent.mkdir(exist_ok=True)
    card.write_text("{}")
    from sandscore.queue.workspace import open_workspace

    workspace = open_workspace(root)
    rebuild(workspace, scored(workspace), ())
    assert not board.exists()
    assert not card.exists()
    assert {path.name for path in (root / "private" / "withdrawn").iterdir()} == {"address-final.json", "old.v1.json"}
    assert not (root / "public" / "site" / "address-final").exists()


@pytest.mark.parametrize("gold", ["hidden", "public"])
def test_a_board_that_names_hidden_gold_by_its_own_hash_is_withdrawn(tmp_path: Path, gold: str) -> None:
    """Whoever guesses the annotations could see whether they are right; of public gold there is nothing to guess."""
    root = site_of(tmp_path, notes=gold, gold=gold, feedback="full", cards="notes", ended=True)
    current = root / "public" / "boards" / "date-final.json"
    older, said = current.with_name("date-final.v1.json"), json.loads(current.read_bytes())
    seen = root / "private" / "gold-seen" / "date.0123456789ab.json"
    seen.parent.mkdir(exist_ok=True)
    seen.write_text("{}")
    older.write_text(json.dumps(said | {"gold": {"": "0123456789ab"}}))
    from sandscore.queue.workspace import open_workspace

    workspace = open_workspace(root)
    rebuild(workspace, scored(workspace), ())
    assert current.exists()
    assert older.exists() is (gold == "public")
    assert (root / "private" / "withdrawn" / older.name).exists() is (gold == "hidden")


OLD = Path(__file__).parents[1] / "ranking" / "old_boards"
PUBLIC_DATA = b'challenge = "c"\n[data]\nnotes = "public"\ngold = "public"\n'


@pytest.mark.parametrize("cards", ["none", "totals", "notes"])
@pytest.mark.parametrize("kind", ["plain", "broken-ties", "two-sites", "borda"])
def test_pages_of_older_boards_are_verified_as_they_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], kind: str, cards: CardRule
) -> None:
    """Published by hand, and by an organiser whose data are public where cards have a count for each note."""
    (tmp_path / "challenge.toml").write_bytes(PUBLIC_DATA)
    words = ["publish", str(OLD / kind / "board.json"), "-o", str(tmp_path / "site"), "--cards", cards]
    assert run([*words, *(["--challenge", str(tmp_path / "challenge.toml")] if cards == "notes" else [])]) == 0
    monkeypatch.chdir(tmp_path / "site")
    found = [recipe for page in sorted(Path().rglob("*.html")) for recipe in recipes(page)]
    assert len(found) == 1
    capsys.readouterr()
    assert run(found[0][1:]) == 0, capsys.readouterr().err
    assert f"level: {'recomputed' if cards == 'notes' else 'totals'}" in capsys.readouterr().out


def test_a_card_that_was_just_released_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three cards, for the site none of them; of a board that stayed as it was all three are read from their files."""
    read = list[str]()

    def counted(content: bytes, path: str) -> RankedCard:
        read.append(path)
        return card_entry(content, path)

    monkeypatch.setattr(board_files, "card_entry", counted)
    rules = RULES.format(notes="public", gold="public", feedback="full", cards="notes", ended="true")
    workspace = queue(tmp_path, rules)
    cards = scored(workspace)
    rebuild(workspace, cards, ())
    assert len(read) == 0
    rebuild(workspace, cards, ())
    assert len(read) == 3
