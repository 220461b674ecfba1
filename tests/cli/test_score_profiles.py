"""Every profile through the command line: it goes on where its original would, and stops where that does."""

import json
from pathlib import Path
from typing import Any

import pytest
from cli.running import Ran, sandscore
from profile_words import written

from sandscore.base.bundled_content import example_gold, submissions
from sandscore.profiles.profile_registry import CHALLENGE, PROFILES

GOLD = example_gold()
GOOD = submissions() / "address-good" / "predictions.json"
ARRAY = "textPhysicalAddressAnnotations"
START_IS_TEXT = f'[{{"annotationSource": {{"resourceSource": {{"name": "d/110-01"}}}}, "{ARRAY}": [{{"start": "x"}}]}}]'
OTHERS = PROFILES.names
PARAMETERS = [
    "nlpsandbox-client(release=3.1.0)",
    "presidio(threshold=0.5,beta=1.0,unit=token,skip_words=none)",
    "presidio(release=0.2.5)",
    "presidio(entities=city|state)",
    "span-labels(overlap_threshold=0.7)",
    "span-labels(entities=city|state)",
    "neleval(key=span)",
    "neleval(by=type,overall=true)",
    "semeval(min_overlap_percentage=50.0,scenario=strict)",
]


NEEDING_FILES = ("tab",)


@pytest.fixture(autouse=True, scope="module")
def companions(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Profiles that need files are named with them."""
    notes = json.loads((GOLD / "notes.json").read_text(encoding="utf-8"))
    folder = tmp_path_factory.mktemp("companions")
    WRITTEN.update({profile: written(profile, folder, notes) for profile in NEEDING_FILES})


WRITTEN: dict[str, str] = {}


def score(profile: str, *more: Any, gold: Path = GOLD / "address.json", predictions: Any = GOOD, **streams: Any) -> Ran:
    files = ("--gold", gold, "--predictions", predictions, "--notes", GOLD / "notes.json")
    return sandscore("score", "address", *files, "--profile", WRITTEN.get(profile, profile), *more, **streams)


def card(profile: str, **more: Any) -> dict[str, Any]:
    ran = score(profile, "--format", "json", **more)
    assert ran.code == 0, ran.err
    found: dict[str, Any] = json.loads(ran.out)
    return found


def changed(path: Path, **fields: Any) -> Path:
    """The good predictions with the first annotation altered."""
    records = json.loads(GOOD.read_text(encoding="utf-8"))
    record = next(record for record in records if record[ARRAY])
    record[ARRAY][0] |= fields
    path.write_text(json.dumps(records))
    return path


def numbers(found: dict[str, Any]) -> dict[str, Any]:
    return {name: (m.get("tp"), m.get("fp"), m.get("fn"), m["recall"]) for name, m in found["measures"].items()}


@pytest.mark.parametrize("profile", OTHERS)
def test_text_is_the_originals_table_and_json_is_a_card(profile: str) -> None:
    text, found = score(profile), card(profile)
    assert text.code == 0
    assert len(text.out.splitlines()) > 3
    assert "signature:" not in text.out
    assert found["profile"].partition("(")[0] == profile
    assert profile in NEEDING_FILES or found["profile"] == profile
    assert f"address|{found['profile']}|" in found["signature"]
    assert any(0.5 < (measure["recall"] or 0) < 1 for measure in found["measures"].values())


@pytest.mark.parametrize("profile", PARAMETERS)
def test_parameters_parse_print_back_and_matter(profile: str) -> None:
    name = profile.partition("(")[0]
    found = card(profile)
    printed = found["profile"]
    assert f"|{printed}|" in found["signature"]
    assert card(printed)["profile"] == printed
    assert printed.startswith(f"{name}(")
    assert score(profile).out != score(name).out


@pytest.mark.parametrize("profile", [name for name in OTHERS if name not in NEEDING_FILES])
def test_default_parameters_are_not_printed(profile: str) -> None:
    assert card(f"{profile}()")["signature"] == card(profile)["signature"]


@pytest.mark.parametrize("profile", [CHALLENGE, *OTHERS])
def test_an_unknown_parameter_is_wrong_usage(profile: str) -> None:
    ran = score(f"{profile}(colour=blue)")
    assert (ran.code, ran.out) == (2, "")
    assert "colour" in ran.err


@pytest.mark.parametrize(
    "profile",
    [
        "nlpsandbox",
        "presidio(threshold=2)",
        "presidio(threshold=high)",
        "presidio(release=9)",
        "neleval(by=note)",
        "semeval(min_overlap_percentage=0)",
        "presidio(threshold=0.5",
        "presidio(threshold=0.5,threshold=0.6)",
    ],
)
def test_values_that_do_not_exist(profile: str) -> None:
    assert score(profile).code == 2


@pytest.mark.parametrize("profile", OTHERS)
def test_a_text_that_is_not_in_the_note_is_told_and_scored(profile: str, tmp_path: Path) -> None:
    """The text alone is wrong, so spans and their numbers stay; tokens and text lengths do not, where compared."""
    path = changed(tmp_path / "p.json", text="\N{SNOWMAN}" * 3)
    assert score(CHALLENGE, predictions=path).code == 65
    ran = score(profile, "--format", "json", predictions=path)
    assert ran.code == 0
    assert "text-mismatch" in ran.err
    found = json.loads(ran.out)
    assert found["problems"] == {"text-mismatch": 1}
    same = {"token", "strict", "flexible", "partial"} if profile in ("nlpsandbox-client", "span-labels") else set()
    before, after = numbers(card(profile)), numbers(found)
    assert {n: v for n, v in after.items() if n not in same} == {n: v for n, v in before.items() if n not in same}


@pytest.mark.parametrize("profile", OTHERS)
def test_an_unknown_type_is_told_and_scored(profile: str, tmp_path: Path) -> None:
    ran = score(profile, predictions=changed(tmp_path / "p.json", addressType="planet"))
    assert ran.code == 0
    assert "planet" in ran.err


@pytest.mark.parametrize("profile", OTHERS)
@pytest.mark.parametrize("text", ["", "7", "null", "[1, 2]", '[{"annotationSource"', START_IS_TEXT])
def test_files_the_original_cannot_read(profile: str, text: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    for wanted, ran in ((65, score(profile, predictions=path)), (78, score(profile, gold=path))):
        assert (ran.code, ran.out) == (wanted, ""), ran.err
        assert "the original" in ran.err or "i2b2 format" in ran.err
        assert "bug of ours" not in ran.err


@pytest.mark.parametrize("profile", OTHERS)
def test_packed_files_that_are_not(profile: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json.gz"
    path.write_bytes(b"[]")
    assert score(profile, predictions=path).code == 65
    assert score(profile, gold=path).code == 78


@pytest.mark.parametrize("profile", ["presidio", "i2b2"])
def test_profiles_that_need_the_notes_say_so(profile: str) -> None:
    ran = sandscore("score", "address", "--gold", GOLD / "address.json", "--predictions", GOOD, "--profile", profile)
    assert (ran.code, "--notes" in ran.err) == (2, True)


def test_a_note_without_text_is_the_fault_of_who_named_it(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    record = {"annotationSource": {"resourceSource": {"name": "d/no-such-note"}}}
    path.write_text(json.dumps([record | {ARRAY: [{"start": 0, "length": 1, "text": "a"}]}]))
    assert score("presidio", predictions=path).code == 65
    assert score("presidio", gold=path).code == 78


@pytest.mark.parametrize("profile", OTHERS)
def test_standard_input_reads_like_a_file(profile: str) -> None:
    piped = score(profile, predictions="-", stdin=GOOD.read_bytes())
    assert (piped.code, piped.out) == (0, score(profile).out)


@pytest.mark.parametrize("profile", OTHERS)
def test_other_peoples_measures_are_their_own(profile: str) -> None:
    assert score(profile, "--measure", "instance_relax(relax=5)").code == 2
