"""Imports point one way, and what is heavy is imported only where it is used."""

import subprocess
import sys
from pathlib import Path

import pytest

from sandscore.cli.main import VERBS

ROOT = Path(__file__).resolve().parents[2]
HEAVY = {"pandas", "docker", "synapseclient", "scipy", "matplotlib", "jinja2", "dask", "requests"}


SLOW = {"numpy", "msgspec", "pydantic", "jsonschema"}
UNUSED = {
    "arrays, which the kernel needs none of": {"numpy"},
    "a card that nobody asked for": {"pydantic"},
    "what explains refusals": {"jsonschema", "difflib"},
    "hashes that nobody asked for": {"hashlib", "_hashlib"},
    "dataclasses, which are slow to create": {"dataclasses"},
    "what only packed, long or shared-out inputs need": {"gzip", "tempfile", "random", "threading", "signal"},
    "matching that only crowded corpora need": {"scipy"},
}
SCORING = """
from sandscore.measures.hipaa_map import load_hipaa_map
from sandscore.measures.measure_registry import measures_for
from sandscore.measures.dataset_counts import measured
from sandscore.annotations.input_files import Inputs, load_files
from sandscore.task_table.task import TASKS
files = Inputs("gold/example/address.json", "submissions/address-good/predictions.json", "gold/example/notes.json")
loaded = load_files(TASKS["address"], files, want_hashes=False)
whole = measured(TASKS["address"], loaded, measures_for(TASKS["address"]), load_hipaa_map())
"""
FILES = ("--gold", "gold/example/date.json", "--predictions", "submissions/date-good/predictions.json")
CARDS = ("leaderboard/cards/date-good.json", "leaderboard/cards/date-weak.json")
_EVIDENCE = {"cryptography", "zipfile", "sandscore.attestation.signed_statement", "sandscore.attestation.log_reading"}
_OTHER = {"importlib.metadata", "sandscore.records.challenge", "tomllib", "csv", "sandscore.disclosure.gate"}
UNTOUCHED = {
    ("tasks",): {"pydantic", "numpy", "msgspec.inspect"},
    ("score", "date", *FILES): {*_EVIDENCE, *_OTHER, "jsonschema", "sandscore.records.board"},
    ("rank", *CARDS): {*_EVIDENCE, *_OTHER, "sandscore.scoring", "sandscore.annotations.input_files"},
    ("verify", "leaderboard/date-final/board.json"): {
        *(*_EVIDENCE, *_OTHER, "sandscore.scoring", "sandscore.annotations.input_files"),
        *("sandscore.records.totals_card", "sandscore.disclosure", "sandscore.verification.totals_verification"),
    },
    ("queue", "init", "{new}", "--challenge", "gold/example/challenge.toml"): {"numpy", "sandscore.ranking.analysis"},
    ("queue", "submit", "{queue}", "--task", "date", "--team", "a", *FILES[2:]): {
        *("numpy", "cryptography", "sandscore.annotations", "sandscore.scoring", "sandscore.records.board", "zipfile"),
    },
    ("queue", "list", "{queue}"): {
        *("numpy", "cryptography", "sandscore.measures.challenge_measures", "sandscore.records.board", "http.client"),
        *("sandscore.containers.run_context", "sandscore.disclosure.gate", "importlib.metadata"),
    },
    ("queue", "work", "{empty}", "--once"): {"numpy", "http.server", "sandscore.disclosure.board_view"},
}
"""By what is asked: packages and modules that it does without."""
RESAMPLING = """
from sandscore.ranking.resampling import f1_replicates
from sandscore.ranking.confidence_intervals import percentile_intervals
from sandscore.ranking.score_table import ScoreTable
"""


def modules_of(program: str) -> set[str]:
    """What a fresh interpreter holds after the program."""
    told = subprocess.run(
        [sys.executable, "-c", f"{program}\nimport sys\nprint('\\n' + ' '.join(sys.modules))"],
        capture_output=True, text=True, check=True, cwd=ROOT,
    )  # fmt: skip
    return {*told.stdout.splitlines()[-1].split()}


def imported_by(program: str) -> set[str]:
    """Top-level packages a fresh interpreter holds after the program."""
    return {name.partition(".")[0] for name in modules_of(program)}


def command(*words: str) -> str:
    return f"from sandscore.cli.main import run\nassert run({list(words)!r}) == 0"


@pytest.mark.parametrize(
    "program",
    [
        "import sandscore",
        command("--help"),
        command("tasks"),
        command("validate", "date", "gold/example/date.json", "--notes", "gold/example/notes.json"),
        command("score", "--help"),
    ],
    ids=["import", "help", "tasks", "validate", "score help"],
)
def test_light(program: str) -> None:
    assert not HEAVY & imported_by(program)


@pytest.mark.parametrize("words", [("--help",), ("tasks",), *((verb, "--help") for verb in VERBS)], ids=" ".join)
def test_saying_what_there_is_imports_no_package_that_computes(words: tuple[str, ...]) -> None:
    assert not SLOW & imported_by(command(*words))


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Two queues, and the place for a new one."""
    folder = tmp_path_factory.mktemp("queues")
    made = {name: str(folder / name) for name in ("queue", "empty", "new")}
    for name in ("queue", "empty"):
        imported_by(command("queue", "init", made[name], "--challenge", "gold/example/challenge.toml"))
    return made


@pytest.mark.parametrize("words", UNTOUCHED, ids=lambda words: " ".join(words[:2]))
def test_a_verb_imports_nothing_that_it_does_not_touch(words: tuple[str, ...], places: dict[str, str]) -> None:
    program = f"from sandscore.cli.main import main\ntry:\n    main({[word.format(**places) for word in words]!r})\n"
    assert not UNTOUCHED[words] & modules_of(f"{program}except SystemExit as end:\n    assert not end.code")


def test_a_card_is_made_and_written_without_checks_being_built() -> None:
    """Building the first of pydantic's looks for plug-ins, for which it imports what reads packages' archives."""
    words = ("score", "date", "--gold", "gold/example/date.json", "--predictions", "gold/example/date.json")
    assert "zipfile" not in imported_by(command(*words, "--no-intervals"))


def test_the_list_of_tasks_needs_no_paths() -> None:
    assert "pathlib" not in imported_by(command("tasks"))


@pytest.fixture(scope="module")
def scoring() -> set[str]:
    return imported_by(SCORING)


@pytest.mark.parametrize("why", UNUSED)
def test_scoring_without_hashes_and_card_leaves_out(why: str, scoring: set[str]) -> None:
    assert "msgspec" in scoring
    assert not UNUSED[why] & scoring


def test_resampling_what_was_scored_needs_no_cards() -> None:
    assert not {"pydantic", "scipy"} & imported_by(RESAMPLING)


def test_scoring_stays_light() -> None:
    words = ("score", "date", "--gold", "gold/example/date.json", "--predictions", "gold/example/date.json")
    assert not HEAVY & imported_by(command(*words))


def test_import_arrows() -> None:
    linter = Path(sys.executable).parent / "lint-imports"
    ran = subprocess.run([linter, "--no-cache"], capture_output=True, text=True, check=False, cwd=ROOT)
    assert ran.returncode == 0, ran.stdout


PLUGINS = """
import sys
from sandscore.cli.main import main
try:
    main(["tasks"])
except SystemExit as end:
    assert not end.code
import pydantic
from pydantic.plugin import _loader
assert "importlib.metadata" not in sys.modules
assert pydantic.create_model("Small", number=(int, ...))(number=1).number == 1
assert _loader._plugins is None, "the module itself, as it is another release's business what it holds"
assert "importlib.metadata" in sys.modules
"""


def test_pydantic_is_given_no_plugins_and_loses_nothing_else() -> None:
    subprocess.run([sys.executable, "-c", PLUGINS], cwd=ROOT, check=True, capture_output=True)
