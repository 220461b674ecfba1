"""Scoring as a call: predictions against gold to a score card, for a notebook or into files."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from msgspec import Struct

from sandscore.annotations.input_files import Inputs
from sandscore.api.output_files import write
from sandscore.base.errors import UsageFault
from sandscore.measures.hipaa_map import load_hipaa_map
from sandscore.measures.measure_registry import measures_for
from sandscore.profiles.profile_registry import Profile, find_profile
from sandscore.records.scorecard import Scorecard
from sandscore.scoring.card_building import Identity, Question, pieces, published
from sandscore.scoring.scoring_flow import UNWATCHED, Scored, Watch, score_files
from sandscore.task_table.task import find_task


class ScoreRequest(Struct, frozen=True, kw_only=True):
    """What to score, by whose rules, and what the card says of it."""

    task: str
    gold: Any
    predictions: Any
    notes: Any = None
    complete: bool = False
    strict: bool = False
    jobs: int = 1
    profile: str = "challenge"
    measures: tuple[str, ...] = ()
    hipaa_map: str | Path | None = None
    team: str | None = None
    submission: str | None = None
    image: str | None = None
    dataset: str | None = None
    created: str | None = None
    run: Any = None


class ScoreFiles(Struct, frozen=True, kw_only=True):
    """Where results go: card, error files, report; with a ``salt`` ids are hidden in card and report."""

    card: str | None = None
    salt: bytes | None = None
    errors: str | None = None
    entity_map: str | None = None
    report: str | None = None
    challenge: str | None = None
    """A challenge.toml, whose licence may let the report show notes."""


class _Scoring(Struct, frozen=True):
    """A request that was understood."""

    request: ScoreRequest
    question: Question
    profile: Profile | None

    def scored(self, watch: Watch) -> Scored:
        asked = self.request
        inputs = Inputs(asked.gold, asked.predictions, asked.notes)
        return score_files(
            self.question,
            self.profile,
            inputs,
            complete=asked.complete,
            strict=asked.strict,
            jobs=asked.jobs,
            watch=watch,
        )


def score_to_files(request: ScoreRequest, files: ScoreFiles, watch: Watch = UNWATCHED) -> Scored:
    """Scores, and writes what was asked for; the card in the value is the one that was written."""
    scoring = _understood(request)
    write_errors = _error_files(scoring, files)
    scored = scoring.scored(watch)
    for sentence in (*write_errors(scored), *scored.card.warnings):
        watch.warning(sentence)
    card = scored.card if files.salt is None else published(scored.card, files.salt)
    if files.card:
        write(files.card, pieces(card))
    if files.report:
        _write_report(scored, card, files, files.report)
    return Scored(card, scored.loaded, scored.given, scored.table)


def _understood(request: ScoreRequest) -> _Scoring:
    task, profile = find_task(request.task), find_profile(request.profile)
    measures_for(task, request.measures)
    if profile is not None and request.measures:
        raise UsageFault("--measure goes with our own profile; another scorer has its own measures")
    hipaa = load_hipaa_map(request.hipaa_map) if task.hipaa or request.hipaa_map else None
    run = _run_facts(request.run) if request.run is not None else None
    identity = Identity(request.team, request.submission, request.image, request.dataset, request.created, run)
    return _Scoring(request, Question(task, request.measures, hipaa, identity), profile)


def _run_facts(run: Any) -> dict[str, Any]:
    from sandscore.api.run_facts import read_run

    return read_run(run)


def _error_files(scoring: _Scoring, files: ScoreFiles) -> Callable[[Scored], Any]:
    """What writes the error files that were asked for, and says what is not in them."""
    if files.salt is not None and files.errors:
        raise UsageFault("--errors writes what gold holds, --publish hides it; score twice")
    if files.errors is None:
        if files.entity_map is not None:
            raise UsageFault("--entity-map goes with --errors: it names the types in the error files")
        return lambda _: ()
    from sandscore.site.error_files.error_file_request import requested

    task, created = scoring.question.task, scoring.request.created
    return requested(files.errors, files.entity_map, task, scoring.profile, created).write


def _write_report(scored: Scored, card: Scorecard, files: ScoreFiles, place: str) -> None:
    """Notes are shown only where the challenge's licence says so, and never beside hidden ids."""
    from sandscore.measures.note_documents import documents_of
    from sandscore.ranking.challenge_reading import read_challenge
    from sandscore.site.submission_report import write_report

    allowed = bool(files.challenge) and read_challenge(Path(str(files.challenge))).publication.text
    own = scored.given is None and files.salt is None
    write_report(card, documents_of(scored.loaded) if own else None, Path(place), allow_text=allowed)
