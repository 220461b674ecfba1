"""Where nobody wants notes' texts, what annotations say waits for them; nothing that is wrong goes unsaid."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from kernel_comparison import must_agree, waited

from sandscore import api
from sandscore.annotations.data_set import TextsNeededError
from sandscore.annotations.input_files import Inputs, load_files
from sandscore.kernel import compiled_calls
from sandscore.kernel.block_readers import WaitingTexts
from sandscore.task_table.task import find_task

DATE = find_task("date")
TEXTS = ('seen on 1 May\n"again" 2 May', "né 3 mai 😀, 4 mai", "nothing", "ends 5 May")
DAYS = ("1 May", "2 May", "3 mai", "4 mai", "5 May")


def notes() -> list[Any]:
    return [{"identifier": f"n{i}", "patientId": f"p{i}", "text": text} for i, text in enumerate(TEXTS)]


def records(order: Callable[[list[Any]], list[Any]] = list) -> list[Any]:
    found = []
    for i, text in enumerate(TEXTS):
        rows = [
            {"start": text.index(day), "length": len(day), "text": day, "confidence": 90, "dateFormat": "D MMM"}
            for day in DAYS
            if day in text
        ]
        source = {"resourceSource": {"name": f"x/n{i}"}}
        found.append({"annotationSource": source, "textDateAnnotations": order(rows)})
    return order(found)


def inputs(folder: Path, predictions: list[Any], listed: list[Any], pure: bool = True, lines: bool = False) -> Inputs:
    for role, rows in (("notes", listed), ("gold", records()), ("predictions", predictions)):
        written = "\n".join(json.dumps(row, ensure_ascii=pure) for row in rows) if lines else None
        (folder / f"{role}.json").write_text(written or json.dumps(rows, ensure_ascii=pure), encoding="utf-8")
    return Inputs(*(folder / f"{role}.json" for role in ("gold", "predictions", "notes")))


@pytest.mark.parametrize("lines", [False, True])
@pytest.mark.parametrize("pure", [False, True])
@pytest.mark.parametrize("order", [list, lambda rows: rows[::-1]], ids=["in order", "backwards"])
def test_what_is_right_needs_no_texts(order: Any, pure: bool, lines: bool, tmp_path: Path) -> None:
    given = inputs(tmp_path, records(order), notes(), pure, lines)
    found = waited(DATE, given)
    assert isinstance(found.dataset.texts, WaitingTexts), "not the usual order"
    must_agree(found, load_files(DATE, given), with_texts=False)


def changed(**values: Any) -> list[Any]:
    found = records()
    found[1]["textDateAnnotations"][1] |= values
    return found


@pytest.mark.parametrize(
    "predictions",
    [
        pytest.param(changed(start=15), id="begins later"),
        pytest.param(changed(start=0), id="begins elsewhere"),
        pytest.param(changed(start=4000), id="beyond the note"),
        pytest.param(changed(length=6), id="longer than its text"),
        pytest.param(changed(text="4 mal"), id="another text"),
        pytest.param(changed(start=-1), id="not of the schema"),
        pytest.param([*records(), records()[1]], id="an entry more"),
        pytest.param(
            [*records(), {**records()[1], "annotationSource": {"resourceSource": {"name": "x/n9"}}}], id="no note"
        ),
    ],
)
def test_what_is_wrong_is_said_as_ever(predictions: list[Any], tmp_path: Path) -> None:
    given = inputs(tmp_path, predictions, notes())
    found, expected = waited(DATE, given), load_files(DATE, given)
    assert expected.findings["predictions"].errors
    must_agree(found, expected, with_texts=False)
    assert found.dataset.texts is not None
    assert [*found.dataset.texts] == list(TEXTS)


def test_notes_that_are_wrong_are_said_as_ever(tmp_path: Path) -> None:
    given = inputs(tmp_path, records(), [*notes(), notes()[1]])
    found, expected = waited(DATE, given), load_files(DATE, given)
    assert [problem.code for problem in found.findings["notes"].problems] == ["duplicate-note"]
    assert found.findings["notes"].problems == expected.findings["notes"].problems


def test_confidences_that_are_fractions_are_diagnosed(tmp_path: Path) -> None:
    for record in (predictions := changed(confidence=0.5)):
        for row in record["textDateAnnotations"]:
            row["confidence"] = 0.5
    given = inputs(tmp_path, predictions, notes())
    found, expected = (one.findings["predictions"] for one in (waited(DATE, given), load_files(DATE, given)))
    assert found.diagnosis
    assert found.diagnosis == expected.diagnosis


def test_who_asks_for_a_text_is_told(tmp_path: Path) -> None:
    texts = waited(DATE, inputs(tmp_path, records(), notes())).dataset.texts
    assert texts is not None
    with pytest.raises(TextsNeededError):
        texts[0]
    with pytest.raises(TextsNeededError):
        assert texts.characters


def test_cards_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs(tmp_path, records(), notes())
    files: dict[str, Any] = {role: tmp_path / f"{role}.json" for role in ("gold", "predictions", "notes")}
    usual = api.score("date", **files)
    monkeypatch.setattr(compiled_calls, "LEAST_WAITING", 0)
    monkeypatch.setattr(compiled_calls, "TIMES", 1 << 40)
    asked: list[int] = []
    monkeypatch.setattr(WaitingTexts, "compare", spied(WaitingTexts.compare, asked))
    assert api.score("date", **files).card == usual.card
    assert len(asked) == 1
    asking: list[dict[str, Any]] = [{"slices": ["note-length"]}, {"measures": ["char_leak"]}, {"measures": ["semeval"]}]
    for more in asking:
        assert api.score("date", **files, **more).card.per_note.keys() == usual.card.per_note.keys()
    assert len(asked) == 1, "those look at notes"


def spied(compare: Callable[..., None], asked: list[int]) -> Callable[..., None]:
    def spy(*given: Any) -> None:
        asked.append(1)
        compare(*given)

    return spy
