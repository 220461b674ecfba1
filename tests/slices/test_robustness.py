"""Scores on perturbed copies beside those on the notes: by hand, on cards, on boards, and through evaluate."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.running import sandscore

import sandscore as ss
from sandscore.board_tables.board_formats import as_markdown, as_text, records
from sandscore.challenges.challenge_reading import parse_challenge, rules_for
from sandscore.disclosure.board_view import recomputed_view
from sandscore.disclosure.keyed_names import published
from sandscore.ranking.board_building import rank
from sandscore.ranking.card_reading import card_entry, read_card
from sandscore.records.disclosure_policy import DisclosurePolicy
from sandscore.site import page_text
from sandscore.site.board_columns import columns_of
from sandscore.site.board_sentences import BoardSentences
from sandscore.site.row_titles import row_titles
from sandscore.slices.robustness import robustness_again
from sandscore.slices.slice_analysis import slices_again
from sandscore.verification.board_verification import verify

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "gold" / "example"
SERVER = ROOT / "submissions" / "template" / "server.py"


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundled starting point, which finds 3/14/2021, on two copies: other names, and all dates as 03/14/2021."""
    folder = tmp_path_factory.mktemp("robustness")
    gold, notes = EXAMPLE / "date.json", EXAMPLE / "notes.json"
    ss.perturb(str(notes), EXAMPLE, {"swap": "names:nigeria"}, output=folder / "nigeria", seed=2)
    ss.perturb(str(notes), EXAMPLE, {"dates": "us"}, output=folder / "american")
    (folder / "challenge.toml").write_text(
        'challenge = "c"\n[slices]\nby = ["note-type"]\n[robustness]\ncopies = ["nigeria"]\n', encoding="utf-8"
    )
    done = sandscore(
        *("evaluate", "date", "--command", f"{sys.executable} {SERVER}", "--notes", notes),
        *("--gold", gold, "--perturb", folder / "american", "--challenge", folder / "challenge.toml"),
        *("-o", folder / "out"),
    )
    assert done.code == 0, done.err
    assert "perturbed american" in done.out
    return folder


def read(path: Path) -> dict[str, Any]:
    card: dict[str, Any] = json.loads(path.read_bytes())
    return card


def test_a_row_for_each_copy(evaluated: Path) -> None:
    """Other names change nothing for who finds dates; the American way is all that it finds."""
    card = read(evaluated / "out" / "card.json")
    assert list(card["robustness"]) == ["american", "nigeria"]
    names, dates = (card["robustness"][name] for name in ("nigeria", "american"))
    assert (names["changes"], names["seed"]) == (["swap names:nigeria"], 2)
    strict = names["measures"]["instance_strict"]
    assert (strict["difference"], strict["ci"]) == (0, None)
    copy = read(evaluated / "out" / "perturbed" / "american" / "card.json")
    f1, other = card["measures"]["instance_strict"]["f1"], copy["measures"]["instance_strict"]["f1"]
    strict = dates["measures"]["instance_strict"]
    assert (strict["value"], strict["original"]) == (other, f1)
    assert strict["difference"] == pytest.approx(other - f1)
    assert other > f1
    assert card["slices"]["note-type"]["of"] == "notes"


def test_the_interval_is_that_of_paired_patients(evaluated: Path) -> None:
    """Patients drawn again with NumPy's own generator: the middle 95 % of the differences, a little narrower."""
    card = read(evaluated / "out" / "card.json")
    copy = read(evaluated / "out" / "perturbed" / "american" / "card.json")
    units = sorted(set(card["units"].values()))
    sums = np.zeros((2, len(units), 3))
    for side, one in enumerate((copy, card)):
        for note, rows in one["per_note"].items():
            sums[side, units.index(card["units"][note])] += rows["instance_strict"]
    draw = np.random.default_rng(1)
    times = draw.multinomial(len(units), [1 / len(units)] * len(units), size=20_000)
    tp, fp, fn = np.moveaxis(np.einsum("rp,spk->srk", times, sums), -1, 0)
    f1 = 2 * tp / (2 * tp + fp + fn)
    low, high = np.quantile(f1[0] - f1[1], (0.025, 0.975))
    told = card["robustness"]["american"]["measures"]["instance_strict"]["ci"]
    assert told[0] < low < high < told[1] or np.allclose(told, (low, high), atol=0.01)
    assert high - low > 0.5 * (told[1] - told[0])


def test_boards_show_both_beside_the_score(evaluated: Path, tmp_path: Path) -> None:
    content = (evaluated / "out" / "card.json").read_bytes()
    entry = card_entry(content, "card.json")
    challenge = parse_challenge((evaluated / "challenge.toml").read_bytes(), "challenge.toml")
    rules = rules_for(challenge, "date", None)[0].model_copy(update={"resamples": 200, "randomisations": 99})
    board = rank([entry], rules)
    plain = rank([entry], rules.model_copy(update={"slices": (), "robustness": ()}))
    row = board.rows[0]
    card = json.loads(content)
    worst = card["slices"]["note-type"]["worst"]["instance_strict"]
    assert row.slices["note-type"].slice == worst
    assert list(row.robustness) == ["nigeria"]
    assert row.model_copy(update={"slices": {}, "robustness": {}}) == plain.rows[0]
    assert "slices" not in plain.model_dump_json()
    (tmp_path / "card.json").write_bytes(content)
    (tmp_path / "board.json").write_text(board.model_dump_json(), encoding="utf-8")
    verified = verify(tmp_path / "board.json")
    assert (verified.level, verified.not_recomputed) == ("recomputed", ())
    told = json.loads(board.model_dump_json())
    told["rows"][0]["slices"]["note-type"]["value"] = 0.5
    (tmp_path / "board.json").write_text(json.dumps(told), encoding="utf-8")
    with pytest.raises(ss.SandscoreError, match="/rows/0/slices/note-type/value"):
        verify(tmp_path / "board.json")
    columns = {
        column.title: column.cell(row).text for column in columns_of(BoardSentences(board, row_titles(board.rows), {}))
    }
    assert columns["Worst note-type"].startswith(f"{page_text.ratio(row.slices['note-type'].value)} ({worst}")
    assert columns["On nigeria"] == "+0.000"
    assert records(board)[0]["worst_note-type"] == row.slices["note-type"].value
    head, _, line = (text.split("|") for text in as_markdown(board).splitlines() if text.startswith("|"))
    assert [cell.strip() for cell in head[-3:-1]] == ["worst note-type", "on nigeria"]
    low, high = row.slices["note-type"].ci or (0.0, 0.0)
    value = row.slices["note-type"].value or 0.0
    told = f"{value:.4f} [{low:.4f}, {high:.4f}] {worst}" if row.slices["note-type"].ci else f"{value:.4f} {worst}"
    assert [cell.strip().replace("\\", "") for cell in line[-3:-1]] == [told, "+0.0000"]
    assert f"{told}  +0.0000" in as_text(board)
    assert "worst note-type" not in as_text(board, 80)
    assert "worst" not in as_markdown(plain) + as_text(plain)
    hidden = recomputed_view(board, [entry], DisclosurePolicy(notes="hidden", gold="hidden", feedback="rounded"))
    assert (hidden.rows[0].slices, hidden.rows[0].robustness) == ({}, {})
    shown = recomputed_view(board, [entry], DisclosurePolicy(notes="hidden", gold="hidden", ended=True))
    assert shown.rows[0].slices == row.slices


def test_counts_by_patient_make_slices_and_copies_again(evaluated: Path) -> None:
    """To the last bit, also where patients go by hashes."""
    card = read_card(evaluated / "out" / "card.json").card
    shown = published(card, b"salt")
    for one in (card, shown):
        assert slices_again(one, "note-type") == one.slices["note-type"]
        assert robustness_again(one) == one.robustness
    units = {unit for copy in shown.robustness.values() for unit in copy.per_unit}
    assert units <= set(shown.units.values())
    assert not units & set(card.units.values())
    copy = read(evaluated / "out" / "perturbed" / "american" / "card.json")
    tp, fp, fn = np.sum([rows["instance_strict"] for rows in copy["per_note"].values()], axis=0).tolist()
    rows = [rows["instance_strict"] for rows in card.robustness["american"].per_unit.values()]
    assert np.sum(rows, axis=0).tolist() == [2 * tp, 2 * tp + fp + fn]


@pytest.mark.parametrize(
    "where",
    [
        ("slices", "note-type", "slices", None, "measures", "instance_strict", "ci"),
        ("slices", "note-type", "slices", None, "measures", "instance_strict", "gap"),
        ("robustness", "nigeria", "measures", "instance_strict", "difference"),
        None,
    ],
)
def test_a_card_that_says_more_than_its_counts_is_named(
    where: tuple[str | None, ...] | None, evaluated: Path, tmp_path: Path
) -> None:
    """The board is ranked from the card that was touched, and so agrees with it. Without counts it is believed, and
    ``verify`` says so."""
    card = read(evaluated / "out" / "card.json")
    worst = card["slices"]["note-type"]["worst"]["instance_strict"]
    if where is None:
        for one in (*card["slices"]["note-type"]["slices"].values(), *card["robustness"].values()):
            one.pop("per_unit", None)
    else:
        *path, last = (worst if step is None else step for step in where)
        place = card
        for step in path:
            place = place[str(step)]
        place[str(last)] = [0.1, 0.2] if last == "ci" else 0.125
    (tmp_path / "card.json").write_text(json.dumps(card), encoding="utf-8")
    challenge = parse_challenge((evaluated / "challenge.toml").read_bytes(), "challenge.toml")
    rules = rules_for(challenge, "date", None)[0].model_copy(update={"resamples": 200, "randomisations": 99})
    board = rank([read_card(tmp_path / "card.json")], rules)
    (tmp_path / "board.json").write_text(board.model_dump_json(), encoding="utf-8")
    if where is None:
        assert verify(tmp_path / "board.json").not_recomputed == ("slices/note-type", "robustness")
        return
    with pytest.raises(ss.SandscoreError, match="its counts by patient make"):
        verify(tmp_path / "board.json")


@pytest.mark.parametrize("changed", ["notes.json", "date.json"])
def test_a_copy_of_something_else_is_the_organisers(changed: str, evaluated: Path, tmp_path: Path) -> None:
    given = {name: evaluated / "nigeria" / name for name in ("notes.json", "date.json", "changes.json")}
    for name, file in given.items():
        (tmp_path / name).write_bytes(file.read_bytes() + b" " * (name == changed))
    words = ("evaluate", "date", "--url", "http://127.0.0.1:9", "--notes", EXAMPLE / "notes.json", "-o", tmp_path / "o")
    done = sandscore(*words, "--gold", EXAMPLE / "date.json", "--perturb", tmp_path)
    assert (done.code, "changed since it was proven" in done.err) == (78, True)
    done = sandscore(*words, "--gold", evaluated / "nigeria" / "date.json", "--perturb", evaluated / "american")
    assert (done.code, "is no copy of" in done.err) == (78, True)


def test_challenges_that_do_not_hold_together() -> None:
    for said, why in (
        ('[slices]\nby = ["labl"]', "did you mean label"),
        ('[slices]\nby = ["a/x.json", "b/x.json"]', "two are called 'x'"),
        ('[robustness]\ncopies = ["a/x", "b/x"]', "two are called 'x'"),
    ):
        with pytest.raises(ss.SandscoreError, match=why) as fault:
            parse_challenge(f'challenge = "c"\n{said}\n'.encode(), "challenge.toml")
        assert "line 3" in str(fault.value)
