"""Every change costs what CONTRIBUTING says: each is made in a copy of the checkout, works, and touches these files."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from checkout_copy import ROOT, CheckoutCopy
from plugins.test_strangers import installed
from queue_samples import RIGHT, annotations, challenge_folder

pytestmark = pytest.mark.slow

GENERATED_ROWS = {"pyproject.toml", "scoring/sandscore/base/own_rows.py"}
"""``python -m tools.make_rows`` writes them."""
EXAMPLE = ("--gold", "gold/example/address.json", "--notes", "gold/example/notes.json")
SCORE = ("score", "address", *EXAMPLE, "--predictions", "submissions/address-weak/predictions.json")

MEASURE = '''
"""``same_start``: annotations of both sides that begin at one place."""

from sandscore.measures.measure import Components, DocumentMeasure, Settings
from sandscore.records.document import Document


class SameStart(DocumentMeasure):
    """One-to-one by their first character."""

    name = "same_start"
    description = "annotations that begin at one place"
    source = "this test"

    @staticmethod
    def count(document: Document, settings: Settings) -> Components:
        gold, predicted = ({a.start for a in side} for side in (document.gold, document.predictions))
        return {"tp": len(gold & predicted), "fp": len(predicted - gold), "fn": len(gold - predicted)}
'''
FORMAT = '''
"""Starts as lines: a note and where an annotation in it begins."""

from sandscore.formats.corpus import Corpus, LossJournal
from sandscore.formats.file_format import TYPES_ONLY, FileFormat


class StartsFormat(FileFormat):
    """One line an annotation; nothing can be read back."""

    name = "starts"
    description = "one line an annotation: note and start"
    source = "this test"
    suffixes = (".starts",)
    cannot_hold = TYPES_ONLY

    @staticmethod
    def reads(paths, journal, notes, /):
        return Corpus(())

    @staticmethod
    def writes(corpus: Corpus, journal: LossJournal, /) -> bytes:
        lines = [f"{e.note.id}\\t{mark.annotation.start}\\n" for e in corpus.entries for mark in e.marks]
        return "".join(lines).encode()
'''
PROFILE = '''
"""A scorer that knows one number."""

from sandscore.profiles.profile import OriginalScorer, ProfileInput, ProfileResult


class CountingScorer(OriginalScorer):
    """Counts the records of both sides."""

    name = "counting"
    description = "how many records there are"
    source = "this test"

    @staticmethod
    def evaluate(given: ProfileInput, settings: object, /) -> ProfileResult:
        same = len(given.gold) == len(given.predictions)
        ratio = 1.0 if same else 0.0
        return ProfileResult({"records": {"precision": ratio, "recall": ratio, "f1": ratio}}, table="all there")
'''
TASK = """
[tasks.medication]
array = "textMedicationAnnotations"
kind = "medication"
follows = "ours"
label = "route"
labels = ["oral", "iv"]
types = ["MEDICATION"]
"""
OWN_TASK = """
[tasks.medication]
array = "textMedicationAnnotations"
label = "route"
labels = ["oral", "iv"]
"""


ENGINE = '''
"""The silent engine: it runs nothing, and finds nothing in any note."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

from sandscore.containers.engines.engine_registry import EngineRow
from sandscore.containers.engines.sandbox import Sandbox, State
from sandscore.records.run_record import EngineFacts, ImageFacts


class SilentRow(EngineRow):
    """Every image is silent."""

    name = "silent"
    description = "runs nothing"
    source = "this test"

    @contextmanager
    def connect(self, seconds=120.0):
        yield SilentEngine()

    def requirements(self):
        return iter(())

    def examine(self):
        return iter(())


class SilentEngine:
    """Keeps the promises of a batch submission."""

    name = SilentRow.name

    def facts(self):
        return EngineFacts(name=self.name)

    def require_limits(self):
        """There is nothing to limit."""

    def remove_leftovers(self):
        return 0

    def find_image(self, reference, limits):
        return ImageFacts(reference=reference, id="sha256:" + "0" * 64, size_bytes=0)

    @contextmanager
    def folders(self, notes, output_bytes, limits, marks):
        yield SilentFolders(json.loads(notes))

    @contextmanager
    def sandbox(self, image, limits, marks, network, mounts, log):
        yield SilentSandbox(limits, log)


class SilentFolders:
    """No annotation for any note."""

    mounts = {}

    def __init__(self, notes):
        self.notes = notes

    def take(self, name, most_bytes):
        named = [{"resourceSource": {"name": note.get("note_name", note["identifier"])}} for note in self.notes]
        return json.dumps([{"annotationSource": source, "textDateAnnotations": []} for source in named]).encode()


class SilentSandbox(Sandbox):
    """Ended as soon as it is asked for."""

    def start(self):
        pass

    def state(self):
        return State(running=False, out_of_memory=False, exit_code=0)

    def measure(self):
        pass

    def kill(self):
        pass

    def ended_by_itself(self):
        return True
'''
ENGINE_RUN = """
from sandscore.containers.annotation_run import RunJob, run
from sandscore.containers.engines.engine_registry import ENGINES
from sandscore.containers.run_context import Annotator
from sandscore.containers.sent_notes import read_notes
from sandscore.records.run_record import RunLimits
from sandscore.task_table.task import find_task
assert ENGINES.names[-1] == "silent" and ENGINES.plugin("silent") is None
notes, digest = read_notes("gold/example/notes.json")
image = Annotator("image", "any", "batch")
done = run(RunJob(find_task("date"), image, notes, digest, RunLimits(), engine="silent"))
assert done.record.outcome == "finished", done.record.reason
assert done.answers == [b"[]"] * len(notes)
"""
OWNS = """    def owns(self, root: Path, chosen: Chosen) -> str | None:
        return "a queue in a JSON file" if (root / "private" / FILE).exists() else None

"""
PLOT = '''
"""The plot of how many rows a board has."""

from sandscore.site.plots.board_plot import BoardPlot, PlottedBoard
from sandscore.site.plots.canvas import WIDE, Canvas, PlotForm
from sandscore.site.plots.svg import Plot, plot


class CountSection(BoardPlot):
    """As many as there are."""

    template = "count.html"
    place = 9

    @staticmethod
    def figure(given: PlottedBoard) -> Plot:
        rows = len(given.board.rows)

        def drawn(form: PlotForm) -> Canvas:
            canvas = Canvas(form.width, 20)
            canvas.write(0, 10, f"{rows} rows are counted")
            return canvas

        return plot(drawn, "count", "How many", WIDE)
'''


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> CheckoutCopy:
    return CheckoutCopy(tmp_path_factory.mktemp("changes") / "copy")


@pytest.fixture
def copy(shared: CheckoutCopy) -> Iterator[CheckoutCopy]:
    yield shared
    shared.restore()


def listed_anew(copy: CheckoutCopy) -> None:
    made = copy.ran("-m", "tools.make_rows")
    assert made.returncode == 0, made.stderr[-2000:]


def test_a_measure_is_one_module(copy: CheckoutCopy) -> None:
    copy.package("measures/same_start.py").write_text(MEASURE.lstrip())
    listed_anew(copy)
    assert copy.touched() == GENERATED_ROWS | {"scoring/sandscore/measures/same_start.py"}
    assert '"same_start"' in copy.says(*SCORE, "--measure", "same_start", "--format", "json")


def test_a_format_is_one_module(copy: CheckoutCopy, tmp_path: Path) -> None:
    copy.package("formats/start_lines.py").write_text(FORMAT.lstrip())
    listed_anew(copy)
    assert copy.touched() == GENERATED_ROWS | {"scoring/sandscore/formats/start_lines.py"}
    written = tmp_path / "address.starts"
    copy.says("convert", "--from", "ours", "--to", "starts", "gold/example", "-o", str(written))
    assert len(written.read_text().splitlines()) > 10


def test_a_profile_is_one_package(copy: CheckoutCopy) -> None:
    folder = copy.package("profiles/counting")
    folder.mkdir()
    (folder / "__init__.py").write_text('"""A profile of this test."""\n')
    (folder / "counting_profile.py").write_text(PROFILE.lstrip())
    listed_anew(copy)
    own = {f"scoring/sandscore/profiles/counting/{name}.py" for name in ("__init__", "counting_profile")}
    assert copy.touched() == GENERATED_ROWS | own
    assert "all there" in copy.says(*SCORE, "--profile", "counting")


def test_a_home_of_queues_is_one_package(copy: CheckoutCopy, tmp_path: Path) -> None:
    folder = copy.package("queue/homes/json_file")
    folder.mkdir()
    (folder / "__init__.py").write_text('"""A home of this test."""\n')
    theirs = (ROOT / "tests" / "strangers" / "json_home.py").read_text(encoding="utf-8")
    before, init, after = theirs.partition("    def init(")
    (folder / "json_file_row.py").write_text(f"{before}{OWNS}{init}{after}")
    listed_anew(copy)
    own = {f"scoring/sandscore/queue/homes/json_file/{name}.py" for name in ("__init__", "json_file_row")}
    assert copy.touched() == GENERATED_ROWS | own
    assert served_by_json_file(copy, tmp_path)["home"] is None, "ours are known by the file that they keep"


def test_somebody_elses_home_of_queues_is_no_code(copy: CheckoutCopy, tmp_path: Path) -> None:
    text = (ROOT / "tests" / "strangers" / "json_home.py").read_text(encoding="utf-8")
    points = {"sandscore.homes": "json-file = somebodys_home:JsonFileRow\n"}
    copy.beside = (installed(tmp_path / "packages", "somebodys_home", text, points),)
    assert served_by_json_file(copy, tmp_path)["home"] == "json-file"
    assert copy.touched() == set()


def served_by_json_file(copy: CheckoutCopy, folder: Path) -> dict[str, object]:
    """The settings of a queue in a JSON file that has scored a submission."""
    queue, predictions = str(folder / "queue"), folder / "date.json"
    predictions.write_bytes(annotations(RIGHT))
    challenge = str(challenge_folder(folder / "challenge"))
    copy.says("queue", "init", queue, "--home", "json-file", "--challenge", challenge)
    copy.says("queue", "submit", queue, "--task", "date", "--team", "A", "--predictions", str(predictions))
    copy.says("queue", "work", queue, "--once")
    [listed] = json.loads(copy.says("queue", "list", queue, "--format", "json"))
    assert (listed["status"], listed["scores"]["instance_strict"]) == ("SCORED", 1.0)
    settings: dict[str, object] = json.loads((folder / "queue" / "settings.json").read_bytes())
    return settings


def test_an_engine_is_one_module(copy: CheckoutCopy) -> None:
    copy.package("containers/engines/silent_engine.py").write_text(ENGINE.lstrip())
    listed_anew(copy)
    assert copy.touched() == GENERATED_ROWS | {"scoring/sandscore/containers/engines/silent_engine.py"}
    ran = copy.ran("-c", ENGINE_RUN)
    assert ran.returncode == 0, ran.stderr[-2000:]


def test_a_plot_is_one_module_and_one_template(copy: CheckoutCopy, tmp_path: Path) -> None:
    copy.package("site/plots/count_plot.py").write_text(PLOT.lstrip())
    copy.package("site/templates/plots/count.html").write_text("<section>\n{{ figure }}\n</section>\n")
    site = "scoring/sandscore/site"
    assert copy.touched() == {f"{site}/plots/count_plot.py", f"{site}/templates/plots/count.html"}
    copy.says("publish", "leaderboard/date-final/board.json", "-o", str(tmp_path / "site"))
    [shown] = (tmp_path / "site").glob("*/index.html")
    assert "2 rows are counted" in shown.read_text(encoding="utf-8")


MEDICATION = (
    '[{"annotationSource": {"resourceSource": {"name": "%s"}}, "textMedicationAnnotations": '
    '[{"start": 0, "length": 1, "text": "%s", "confidence": 90, "route": "oral"}]}]'
)


def medication(copy: CheckoutCopy, folder: Path) -> tuple[str, str]:
    """Predictions with one annotation, and the notes they are about."""
    notes = folder / "notes.json"
    notes.write_text('[{"identifier": "n1", "patientId": "p1", "text": "Aspirin."}]')
    predictions = folder / "medication.json"
    predictions.write_text(MEDICATION % ("n1", "A"))
    return str(predictions), str(notes)


def test_a_task_is_one_table(copy: CheckoutCopy, tmp_path: Path) -> None:
    table = copy.package("task_table/tasks.toml")
    table.write_text(table.read_text() + TASK)
    made = copy.ran("tools/make_schemas.py")
    assert made.returncode == 0, made.stderr[-2000:]
    generated = {"schemas/medication.schema.json", "schemas/submission.schema.json", "docs/predictions.md"}
    assert copy.touched() == generated | {
        f"scoring/sandscore/task_table/{name}" for name in ("tasks.toml", "tasks.json")
    }
    predictions, notes = medication(copy, tmp_path)
    copy.says("validate", "medication", predictions, "--notes", notes)
    assert "route" in copy.says("score", "medication", "--gold", predictions, "--predictions", predictions)


def test_an_organisers_own_task_is_no_code(copy: CheckoutCopy, tmp_path: Path) -> None:
    own = tmp_path / "tasks.toml"
    own.write_text(OWN_TASK)
    predictions, notes = medication(copy, tmp_path)
    copy.says("validate", "medication", predictions, "--notes", notes, "--task-file", str(own))
    assert copy.touched() == set()
