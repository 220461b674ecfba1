"""The profiles ``tab`` and ``tab-2022`` against recorded runs of the Text Anonymization Benchmark's own program."""

import json
import math
from collections.abc import Iterator
from typing import Any

import pytest
from peers.vectors import cases

from sandscore.base.errors import SandscoreError
from sandscore.profiles.profile import CompanionFile, OriginalScorer, ProfileInput, ProfileResult
from sandscore.profiles.profile_registry import PROFILES
from sandscore.profiles.tab.corpus_grid import words_in
from sandscore.profiles.tab.masked_corpus import read_corpus, read_masks
from sandscore.profiles.tab.tab_profile import Tab2022Scorer
from sandscore.task_table.task import find_task

Case = dict[str, Any]
RELEASES = {"head": "tab", "head_blank": "tab", "v2022": "tab-2022"}
REFUSED_READING = ("gold_error", "masks_error")


def recorded() -> Iterator[Any]:
    for path in cases("tab"):
        for case in json.loads(path.read_text(encoding="utf-8")):
            for release, expected in case["expect"].items():
                yield pytest.param(case, release, expected, id=f"{case['id']}-{release}")


def companions(case: Case, release: str) -> dict[str, CompanionFile]:
    """The case's tokens and weights as files; where a unit has no weight the original was given 1."""
    blank = release == "head_blank"
    listed = zip(case["gold"], case["tokens"], strict=True)
    tokens = {one["doc_id"]: [[s, e, "" if blank else pos] for s, e, pos in found] for one, found in listed}
    files = {"tokens": CompanionFile("tokens.json", tokens, "0" * 64)} if release != "v2022" else {}
    if "weights" in case:
        files["weights"] = CompanionFile("weights.json", weights_of_every_unit(case), "0" * 64)
    return files


def weights_of_every_unit(case: Case) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    documents = read_corpus(case["gold"]).documents
    for name, spans in read_masks(case["masks"]).items():
        units = [*spans, *(word for span in spans for word in words_in(documents[name].text, *span))]
        given = case["weights"].get(name, {})
        found[name] = {f"{start}-{end}": given.get(f"{start}-{end}", 1.0) for start, end in units}
    return found


def evaluated(case: Case, release: str, sums: str = "float64") -> ProfileResult:
    row: type[OriginalScorer] = PROFILES.find(RELEASES[release])
    settings = {p.name: p.default for p in row.parameters} | {"sums": sums, "only_docs": "|".join(only(case))}
    given = ProfileInput(find_task("phi"), None, case["gold"], case["masks"], companions(case, release))
    return row.evaluate(given, settings)


def only(case: Case) -> list[str]:
    return list(case.get("only_docs") or ())


def refuses(case: Case, expected: Case) -> bool:
    """Whether the original does not read the files, or breaks on them where we refuse."""
    if any(key in expected for key in REFUSED_READING):
        return True
    kinds = {value["error"] for value in expected["raw"].values() if isinstance(value, dict) and "error" in value}
    return bool(kinds - {"ZeroDivisionError"})


@pytest.mark.parametrize(("case", "release", "expected"), list(recorded()))
def test_every_recorded_number(case: Case, release: str, expected: Case) -> None:
    if refuses(case, expected):
        with pytest.raises(SandscoreError) as refused:
            evaluated(case, release)
        assert refused.value.exit_code in (65, 78)
        for key in REFUSED_READING:
            if key in expected:
                assert f"the original stops here with {expected[key]['error']}" in str(refused.value)
                assert refused.value.exit_code == (78 if key == "gold_error" else 65)
        return
    result = evaluated(case, release)
    check_raw(case, release, result, expected["raw"])
    check_evaluated(result, expected)
    check_counts(result, expected["counts"])


def test_every_recorded_number_of_files_as_they_are_written() -> None:
    """The kernel's numbers beside the recorded ones; what it leaves to be decoded are files with mistakes, and one each
    that names a document twice, masks nothing at all, or has no text."""
    taken = 0
    for case in (case for path in cases("tab") for case in json.loads(path.read_text(encoding="utf-8"))):
        gold, masks = (memoryview(json.dumps(case[part]).encode()) for part in ("gold", "masks"))
        result = Tab2022Scorer.evaluate_written(gold, masks, {"only_docs": "|".join(only(case))})
        expected = case["expect"]["v2022"]
        assert result is None or not any(key in expected for key in REFUSED_READING)
        if result is not None:
            raw = {name: value for name, value in expected["raw"].items() if not name.startswith("weighted")}
            check_raw({}, "v2022", result, raw)
            check_evaluated(result, expected)
            check_counts(result, expected["counts"])
            taken += 1
    assert taken > 100


def check_raw(case: Case, release: str, result: ProfileResult, raw: Case) -> None:
    ours = dict(result.details["raw"])
    if any(name.startswith("weighted") for name in raw):
        narrow = evaluated(case, release, "float32").details["raw"]
        for name in ("weighted_token_precision", "weighted_mention_precision"):
            ours[f"{name}_float64"], ours[f"{name}_float32"] = ours[name], narrow[name]
    for name, value in raw.items():
        if isinstance(value, dict) and "error" in value:
            assert None in ours[name].values()
        elif value == "nan":
            assert math.isnan(ours[name])
        else:
            assert (ours[name], type(ours[name])) == (value, type(value)), name
            assert not isinstance(value, dict) or list(ours[name]) == list(value), name


def check_evaluated(result: ProfileResult, expected: Case) -> None:
    answer = expected.get("evaluate", expected.get("printed"))
    if isinstance(answer, dict) and "error" in answer:
        assert result.details["error"] == f"{answer['error']}: {answer['message']}"
        assert result.details["error"] in result.table
    elif "evaluate" in expected:
        assert result.details["evaluate"] == answer
        assert list(result.details["evaluate"]) == list(answer)
    elif "printed" in expected:
        assert result.table.splitlines() == answer


def check_counts(result: ProfileResult, counts: Case) -> None:
    named = {"tokens": "token_recall", "mentions": "mention_recall"}
    named |= {f"entities_{part}": f"recall_{part}_entities" for part in ("all", "direct", "quasi")}
    for name, measure in named.items():
        if name in counts:
            found = result.measures[measure]
            assert [found["n"], found["of"]] == counts[name], name


def test_nothing_recorded_goes_unread() -> None:
    answers = {key for case in recorded() for key in case.values[2]}
    assert answers <= {"raw", "counts", "evaluate", "printed", *REFUSED_READING}
