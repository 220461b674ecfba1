"""The profiles ``tab`` and ``tab-2022``: our files and the benchmark's, by hand; the recorded runs are elsewhere."""

import json
import os
import re
import string
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cli.running import sandscore
from hypothesis import given
from hypothesis import strategies as st

from sandscore.base.bundled_content import hipaa_map
from sandscore.base.errors import ParticipantFault
from sandscore.kernel.kernel_library import LONGER_WORD, NOT_PASSING, PASSING, QUOTE, WORD_SIGN
from sandscore.profiles.tab import stretch_cover
from sandscore.profiles.tab.corpus_grid import CorpusGrid, words_in
from sandscore.profiles.tab.kernel_corpus import sign_class
from sandscore.profiles.tab.masked_corpus import MaskedDocument, read_masks
from sandscore.profiles.tab.stretch_cover import Covered, head_rule, rule_2022
from sandscore.task_table.task import TASKS

ROOT = Path(__file__).resolve().parents[2]
NOTE = {"identifier": "n1", "text": "Mr. Berg of Oslo", "patientId": "p", "type": "t"}
#                                   0   4        12


def document(*mentions: tuple[int, int, str]) -> dict[str, Any]:
    """The benchmark's form: one annotator, an entity a mention."""
    listed = [
        {"entity_id": f"e{n}", "entity_type": "X", "identifier_type": kind, "start_offset": start, "end_offset": end}
        for n, (start, end, kind) in enumerate(mentions)
    ]
    annotations = {"a": {"entity_mentions": listed}}
    return {"doc_id": "n1", "text": NOTE["text"], "dataset_type": "dev", "annotations": annotations}


def score(folder: Path, gold: Any, predictions: Any, profile: str, *more: str, code: int = 0) -> dict[str, Any]:
    for name, value in (("gold", gold), ("predictions", predictions)):
        (folder / f"{name}.json").write_text(json.dumps(value), encoding="utf-8")
    files = ("--gold", folder / "gold.json", "--predictions", folder / "predictions.json")
    ran = sandscore("score", "phi", *files, "--profile", profile, "--format", "json", *more)
    assert ran.code == code, ran.err
    return json.loads(ran.out) if code == 0 else {"said": ran.err}


def grid_of(text: str) -> CorpusGrid:
    return CorpusGrid([MaskedDocument("n1", text, ())])


def one(covered: Covered, start: int, end: int) -> bool:
    return bool(covered(np.array([start]), np.array([end]))[0])


def test_a_title_with_its_dot_needs_a_mask_only_in_the_newer_release() -> None:
    """``Mr. Berg``, Berg masked: spaCy's token is ``mr.``, which is not in the list; the older rule knows ``mr``."""
    grid = grid_of("Mr. Berg")
    masked = grid.covering([[(4, 8)]])
    assert not one(head_rule(grid, masked, [[(0, 3, "PROPN"), (4, 8, "PROPN")]]), 0, 8)
    assert one(rule_2022(grid, masked), 0, 8)


@pytest.mark.parametrize(("tag", "covered"), [("PROPN", False), ("ADP", True)])
def test_a_name_tagged_as_a_preposition_needs_no_mask(tag: str, covered: bool) -> None:
    grid = grid_of("Under")
    assert one(head_rule(grid, grid.covering([[]]), [[(0, 5, tag)]]), 0, 5) is covered


WORDS = (
    "mr|mrs|ms|and|or|from|until|to|about|after|as|at|before|between|by|during|for|in|into|of|on|over|since|with|the|a"
    "|an|no|nr|’s|'s"
)
MAY_STAY = re.compile(rf"\b(?:{WORDS})\b|[ ,.\-;:/&()\[\]–'\"’“”]", re.IGNORECASE)
PIECES = st.sampled_from(
    [
        "of",
        "Mr",
        "No",
        "s",
        "'s",
        "’S",
        "Ann",
        "a",
        "İ",
        "ſ",
        "mſ",
        "in",
        "x_1",
        "é",
        "e\u0301",
        *" .'’-\n—(",
        "😀",
        "K",
    ]
)


def by_characters(text: str, masked: set[int], start: int, end: int) -> bool:
    """Release 2022 from its description: sets of places, and what is found in the stretch in lower case."""
    left = set(range(start, end)) - masked
    for found in MAY_STAY.finditer(text[start:end].lower()) if left else ():
        left -= set(range(start + found.start(), start + found.end()))
    return not left


@given(st.lists(st.lists(PIECES, min_size=1, max_size=8).map("".join), min_size=1, max_size=3), st.data())
def test_the_older_rule_and_words_against_sets_of_places(texts: list[str], data: st.DataObject) -> None:
    def spans(text: str) -> st.SearchStrategy[list[tuple[int, int]]]:
        ends = st.tuples(st.integers(0, len(text)), st.integers(0, len(text)))
        return st.lists(ends.map(lambda both: (min(both), max(both))), max_size=5)

    grid = CorpusGrid([MaskedDocument(str(number), text, ()) for number, text in enumerate(texts)])
    masks = [data.draw(spans(text)) for text in texts]
    covered = rule_2022(grid, grid.covering(masks))
    for text, base, listed in zip(texts, grid.base.tolist(), masks, strict=True):
        masked = {at for start, end in listed for at in range(start, end)}
        for start, end in data.draw(spans(text)):
            if start < end:
                assert one(covered, base + start, base + end) == by_characters(text, masked, start, end)
                words = grid.words(np.array([base + start]), np.array([base + end]))
                assert words_in(text, start, end) == [*zip(words.start - base, words.end - base, strict=True)]


def test_what_the_kernel_is_told_of_characters_is_what_the_pattern_finds() -> None:
    """Of all characters there are: one is longer in lower case, none becomes a word or ceases to be one, and those that
    the pattern takes for letters are told as such."""
    every = "".join(map(chr, range(sys.maxunicode + 1)))
    assert [one for one in "".join(re.findall(r"[^\x00-\x7f]", every)) if len(one.lower()) != 1] == ["İ"]
    plain = every.replace("İ", "i")
    assert [one.span() for one in re.finditer(r"\w+", plain)] == [
        one.span() for one in re.finditer(r"\w+", plain.lower())
    ]
    letters = {one: ord(one.lower()) for one in string.ascii_letters}
    assert {*re.findall("[a-z]", plain.lower(), re.IGNORECASE)} == {*string.ascii_lowercase, "ı", "ſ"}
    letters |= {"ı": ord("i"), "ſ": ord("s"), "K": ord("k")}
    odd = {"İ": LONGER_WORD, "'": QUOTE, "’": QUOTE, "é": WORD_SIGN, "1": WORD_SIGN, "_": WORD_SIGN}
    rest = {"\n": NOT_PASSING, "—": NOT_PASSING, "\u0301": NOT_PASSING, " ": PASSING, "–": PASSING, "”": PASSING}
    told = letters | odd | rest
    assert {one: sign_class(one) for one in told} == told


def test_its_own_files_are_scored_and_the_card_names_their_documents(tmp_path: Path) -> None:
    gold = [document((0, 8, "DIRECT"), (12, 16, "QUASI"))]
    card = score(tmp_path, gold, {"n1": [[4, 8]]}, "tab-2022")
    measures = card["measures"]
    assert (measures["recall_direct_entities"]["n"], measures["recall_direct_entities"]["of"]) == (1, 1)
    assert (measures["recall_quasi_entities"]["n"], measures["recall_quasi_entities"]["of"]) == (0, 1)
    assert (card["gold_annotations"], card["predicted_annotations"], card["notes"]) == (2, 1, 1)
    assert list(card["per_note"]) == ["n1"]


def test_our_files_give_the_numbers_that_its_own_give(tmp_path: Path) -> None:
    theirs = score(tmp_path, [document((0, 8, "DIRECT"), (12, 16, "QUASI"))], {"n1": [[4, 8]]}, "tab-2022")
    (tmp_path / "notes.json").write_text(json.dumps([NOTE]), encoding="utf-8")
    name = {"annotationSource": {"resourceSource": {"name": "d/n1"}}}
    spans = [(0, "Mr. Berg", "PATIENT"), (12, "Oslo", "CITY")]
    gold = [name | {"textAnnotations": [span(*one) for one in spans]}]
    predicted = [name | {"textAnnotations": [span(4, "Berg", "PATIENT")]}]
    ours = score(tmp_path, gold, predicted, "tab-2022", "--notes", str(tmp_path / "notes.json"))
    assert ours["measures"] == theirs["measures"]


def span(start: int, text: str, kind: str) -> dict[str, Any]:
    return {"start": start, "length": len(text), "text": text, "type": kind}


def test_tokens_have_to_be_given_and_stand_on_the_card_by_their_hash(tmp_path: Path) -> None:
    gold, masks = [document((0, 8, "DIRECT"))], {"n1": [[4, 8]]}
    assert "needs the tagger's tokens" in score(tmp_path, gold, masks, "tab", code=78)["said"]
    tokens = tmp_path / "tokens.json"
    tokens.write_text('{"n1": [[0, 3, "PROPN"], [4, 8, "PROPN"]]}', encoding="utf-8")
    card = score(tmp_path, gold, masks, f"tab(tokens={tokens})")
    assert re.fullmatch(r"tab\(tokens=[0-9a-f]{12}\)", card["profile"])
    tokens.write_text('{"n1": [[0, 99, "PROPN"]]}', encoding="utf-8")
    assert "tokens.json" in score(tmp_path, gold, masks, f"tab(tokens={tokens})", code=78)["said"]


def test_the_original_returns_three_digits_or_dies(tmp_path: Path) -> None:
    """Of Mr, Berg and Oslo the mask holds Berg: 1 of 3 words, and all that it holds is right: F1 is 2/3 : 4/3."""
    tokens = tmp_path / "tokens.json"
    tokens.write_text('{"n1": [[0, 3, "PROPN"], [4, 8, "PROPN"], [12, 16, "PROPN"]]}', encoding="utf-8")
    gold = [document((0, 8, "DIRECT"), (12, 16, "QUASI"))]
    told = score(tmp_path, gold, {"n1": [[4, 8]]}, f"tab(tokens={tokens})")["details"]["evaluate"]
    assert (told["token_recall"], told["token_precision"], told["token_f1"]) == (0.333, 1.0, 0.5)
    dead = score(tmp_path, gold, {"n1": []}, f"tab(tokens={tokens})")["details"]["evaluate"]
    assert list(dead) == ["error"]


@pytest.mark.parametrize("masks", [[[1, 2, 3]], [[1, 2], [1]], [[1, "2"]], [{"1": 2}]], ids=str)
def test_a_mask_is_two_numbers(masks: list[Any]) -> None:
    with pytest.raises(ParticipantFault):
        read_masks({"n1": masks})


@pytest.mark.parametrize(
    ("weights", "said"), [("{}", "no weight"), ('{"n1": {"4-8": "x"}}', "no number"), ("[]", "by document")]
)
def test_weights_that_lack_something(weights: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "weights.json"
    file.write_text(weights, encoding="utf-8")
    gold = [document((0, 8, "DIRECT"))]
    assert said in score(tmp_path, gold, {"n1": [[4, 8]]}, f"tab-2022(weights={file})", code=78)["said"]


def test_a_document_that_nobody_annotated_is_the_participants_fault(tmp_path: Path) -> None:
    told = score(tmp_path, [document((0, 8, "DIRECT"))], {"zz": [[0, 1]]}, "tab-2022", code=65)["said"]
    assert "Document zz not present in gold corpus" in told


def test_places_are_quasi_identifiers_where_hipaa_protects_them() -> None:
    protected = json.loads(hipaa_map().read_bytes())["hipaa_phi"]
    for name in ("address", "location"):
        task = TASKS[name]
        assert {label: task.identifier_class(label) == "quasi" for label in task.labels} == protected


def test_the_page_counts_words_and_recorded_cases() -> None:
    page = (ROOT / "docs" / "profiles" / "tab-2022.md").read_text(encoding="utf-8")
    recorded = (json.loads(path.read_text(encoding="utf-8")) for path in (ROOT / "tests/vectors/tab").glob("*.json"))
    assert len(stretch_cover._WORDS_2022) == len(set(stretch_cover._WORDS_2022)) == 31
    assert "thirty-one words" in page
    assert f"{sum(map(len, recorded))} recorded cases" in page


def test_the_page_runs_as_it_is_written(tmp_path: Path) -> None:
    for folder in ("gold", "submissions"):
        (tmp_path / folder).symlink_to(ROOT / folder)
    page = (ROOT / "docs" / "profiles" / "tab.md").read_text(encoding="utf-8")
    [block] = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    path = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    ran = subprocess.run(["bash", "-ec", block], cwd=tmp_path, env=os.environ | path, capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr
