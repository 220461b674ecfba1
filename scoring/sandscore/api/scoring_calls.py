"""Scoring as a call: predictions against gold to a score card, for a notebook or into files."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from sandscore import api
from sandscore.annotations.input_files import UNWATCHED, Inputs, ReadingWatch
from sandscore.api.output_files import write
from sandscore.base.byte_sources import InputFile
from sandscore.base.errors import OrganiserFault, UsageFault
from sandscore.base.removable_rooms import REMOVABLE
from sandscore.base.terminal_text import one_line
from sandscore.formats.foreign_input import ForeignReading, Labels
from sandscore.measures.hipaa_map import load_hipaa_map
from sandscore.measures.measure_registry import measures_for
from sandscore.profiles.profile_registry import Profile, find_profile
from sandscore.records.slicing_names import SLICE_RULES, slicing_name
from sandscore.scoring.card_building import Identity, Question, pieces
from sandscore.scoring.scoring_flow import InvalidPredictions, Scored, score_files
from sandscore.task_table.task import ALL_TASKS, Task, find_task

if TYPE_CHECKING:
    from sandscore.api.results import Problems, Result
    from sandscore.api.running_calls import Run
    from sandscore.leaks.identifier_classes import ClassMap
    from sandscore.records.carried_run import CarriedRun
    from sandscore.records.disclosure_policy import DisclosurePolicy
    from sandscore.records.ranking_rules import CardRule
    from sandscore.records.run_record import RunRecord
    from sandscore.records.scorecard import Scorecard


class ScoringPlan(Struct, frozen=True, kw_only=True):
    """What to score, by whose rules, and what the card says of it."""

    task: str | Task
    predictions: InputFile
    gold: InputFile | None = None
    more_gold: tuple[InputFile, ...] = ()
    """The gold of further annotators of the same notes: counts are added up over all of them."""
    notes: InputFile | None = None
    index: InputFile | None = None
    """Of gold and notes, as ``sandscore index`` makes it: in place of both, or beside what it was made of."""
    complete: bool = False
    source: str | None = None
    """The format of the predictions, where they are no file of ours and the content leaves a doubt."""
    gold_source: str | None = None
    labels: Labels = None
    annotator: str | None = None
    strict: bool = False
    jobs: int = 1
    profile: str = "challenge"
    measures: tuple[str, ...] = ()
    hipaa_map: str | Path | None = None
    class_map: str | Path | None = None
    slices: tuple[str, ...] = ()
    """By what the data set is sliced: rules, or files of slices."""
    team: str | None = None
    submission: str | None = None
    image: str | None = None
    dataset: str | None = None
    created: str | None = None
    run: "Run | RunRecord | Mapping[str, Any] | str | Path | None" = None
    """What came of the run that made the predictions, its record, or where run.json lies."""


class ScoreFiles(Struct, frozen=True, kw_only=True):
    """Where results go: card, error files, report. With ``publish`` the card is what everybody may have of it."""

    card: str | None = None
    publish: bool = False
    salt: bytes | None = None
    """The challenge's secret, which names notes and patients where a published card has a row for each."""
    phase: str | None = None
    cards: "CardRule | None" = None
    """No more than this of the card, where the policy would let more of it out."""
    errors: str | None = None
    entity_map: str | None = None
    report: str | None = None
    challenge: str | None = None
    """A challenge.toml: its policy, and its licence, which may let the report show notes."""


class ShownIntervals(Struct, frozen=True):
    """Intervals by measure, and how many patients they rest on; None where that many take too long unasked."""

    patients: int
    by_measure: "Mapping[str, tuple[float, float] | None] | None"


def score(  # noqa: PLR0913 (named, one for each option)
    task: str | Task,
    *,
    gold: Any,
    predictions: Any,
    notes: Any = None,
    measures: Sequence[str] = (),
    profile: str = "challenge",
    complete: bool = False,
    source: str | None = None,
    gold_source: str | None = None,
    labels: Labels = None,
    annotator: str | None = None,
    hipaa_map: str | Path | None = None,
    class_map: str | Path | None = None,
    slices: Sequence[str | Path] = (),
    jobs: int = 1,
    strict: bool = True,
    team: str | None = None,
    submission: str | None = None,
    image: str | None = None,
    dataset: str | None = None,
    created: str | None = None,
    run: "Run | RunRecord | Mapping[str, Any] | str | Path | None" = None,
) -> "Result":
    """Predictions against gold, to a score card.

    Predictions that are not valid are refused: ``InvalidPredictions`` names what is wrong with them. The profile of
    another scorer goes on with them where ``strict`` is false, with a warning. Paths may be of any format that
    ``convert`` reads: ``source`` and ``gold_source`` name it where the content leaves a doubt, ``labels`` maps types,
    ``annotator`` is one of several. ``gold=[one, other]``: several annotators' gold, over which all counts are added
    up; or an index as ``sandscore index`` writes it, which knows the notes too. ``slices`` are rules (``label``,
    ``site``, …) or files that say what is in which slice: ``result.card.slices`` has every measure by slice, and the
    worst. ``team`` and what follows it is copied to the card.

    >>> result = ss.score("date", gold=gold, predictions=predictions, notes=notes)
    >>> round(result.f1, 3)
    0.934
    """
    from sandscore.api.given_inputs import given_inputs, several_golds
    from sandscore.api.results import Result
    from sandscore.api.validation_calls import problems_of

    if isinstance(jobs, bool) or not isinstance(jobs, int) or jobs < 1:
        raise UsageFault(f"jobs: found {one_line(repr(jobs))}; expected a number of processes, 1 or more")
    first, others = several_golds(gold, find_task(task))
    given = given_inputs(find_task(task), gold=first, predictions=predictions, notes=notes)
    more = [given_inputs(find_task(task), gold=one, notes=notes) for one in others]
    request = ScoringPlan(
        task=task,
        gold=given.inputs.gold,
        predictions=given.inputs.predictions or "",
        more_gold=tuple(one.inputs.gold or "" for one in more),
        notes=given.inputs.notes,
        index=next((one.inputs.index for one in (given, *more) if one.inputs.index is not None), None),
        complete=complete,
        source=source,
        gold_source=gold_source,
        labels=labels,
        annotator=annotator,
        strict=strict,
        jobs=jobs,
        profile=profile,
        measures=tuple(measures),
        hipaa_map=hipaa_map,
        class_map=class_map,
        slices=tuple(map(str, slices)),
        team=team,
        submission=submission,
        image=image,
        dataset=dataset,
        created=created,
        run=run,
    )
    remarks = [remark for one in (given, *more) for remark in one.remarks]
    try:
        scored = _understood(request).scored(UNWATCHED, remarks.append)
    except InvalidPredictions as fault:
        fault.problems = problems_of(fault.found, remarks)
        raise
    problems = problems_of(scored.loaded.findings["predictions"], remarks)
    if not problems.ok:
        _warn_of(problems)
    return Result(scored.card, problems, remarks)


def _warn_of(problems: "Problems") -> None:
    import warnings

    first = problems.errors[0]
    said = f"the predictions are not valid, the profile went on: {first.pointer}: {first.code}: {first.message}"
    warnings.warn(said, stacklevel=3)


class _Scoring(Struct, frozen=True):
    """A request that was understood."""

    request: ScoringPlan
    question: Question
    profile: Profile | None

    def scored(self, watch: ReadingWatch, told: Callable[[str], object]) -> Scored:
        """With its slices, where any were asked for."""
        scored = self._counted(watch, told)
        if scored.question is None or not scored.question.slices:
            return scored
        with REMOVABLE:
            from sandscore.slices.slice_analysis import with_slices

        return replace(scored, card=with_slices(scored))

    def _counted(self, watch: ReadingWatch, told: Callable[[str], object]) -> Scored:
        if self.question.task is ALL_TASKS:
            return _scored_all(self.request, self.question, watch)
        from sandscore.api.validation_calls import in_our_form

        asked, guess = self.request, self.profile is None
        how = ForeignReading(source=asked.source, labels=asked.labels, annotator=asked.annotator, guess=guess)
        given = Inputs(asked.gold, asked.predictions, asked.notes, asked.index)
        gold = ForeignReading(source=asked.gold_source, guess=guess)
        inputs, remarks = in_our_form(self.question.task, given, how, gold)
        for remark in remarks:
            told(remark)
        if asked.more_gold:
            return self._against_each(inputs, gold, watch, told)
        if self.profile is None:
            return score_files(self.question, inputs, complete=asked.complete, jobs=asked.jobs, watch=watch)
        with REMOVABLE:
            from sandscore.original_scores.original_flow import score_files_as

        return score_files_as(
            self.profile,
            self.question,
            inputs,
            complete=asked.complete,
            strict=asked.strict,
            jobs=asked.jobs,
            watch=watch,
        )

    def _against_each(
        self, inputs: Inputs, how: ForeignReading, watch: ReadingWatch, told: Callable[[str], object]
    ) -> Scored:
        from sandscore.api.validation_calls import in_our_form

        with REMOVABLE:
            from sandscore.pooling.several_annotators import score_against_each

        each = [inputs]
        for gold in self.request.more_gold:
            read, remarks = in_our_form(self.question.task, Inputs(gold=gold, notes=inputs.notes), how, how)
            for remark in remarks:
                told(remark)
            each.append(read)
        asked = self.request
        return score_against_each(self.question, each, complete=asked.complete, jobs=asked.jobs, watch=watch)


def score_to_files(
    request: ScoringPlan,
    files: ScoreFiles,
    watch: ReadingWatch = UNWATCHED,
    finished: "Callable[[Scorecard], Scorecard]" = lambda card: card,
) -> Scored:
    """Scores, and writes what was asked for; the card in the value is the one that was written. ``finished`` adds to it
    what others know."""
    scoring = _understood(_with_challenge(request, files), texts=bool(files.errors or files.report))
    write_errors = _error_files(scoring, files)
    policy, salt = _policy(scoring, files) if files.publish else (None, b"")
    scored = scoring.scored(watch, watch.warning)
    scored = replace(scored, card=finished(scored.card))
    for sentence in (*write_errors(scored), *scored.card.warnings):
        watch.warning(sentence)
    phase = files.phase if policy is None else policy.phase
    if phase is not None:
        scored = replace(scored, card=scored.card.model_copy(update={"phase": phase}))
    if policy is not None:
        scored = _published(scored, policy, salt)
    if files.card:
        write(files.card, pieces(scored.card) if scored.totals is None else [scored.totals.content()])
    if files.report:
        _write_report(scored, files, files.report)
    return scored


def _with_challenge(request: ScoringPlan, files: ScoreFiles) -> ScoringPlan:
    """Sliced as the challenge says, too, where it says so."""
    if not files.challenge or request.profile != "challenge" or request.more_gold:
        return request
    place = Path(files.challenge)
    told = api.read_challenge(place).slices.by
    asked = (name if name in SLICE_RULES else str(place.parent / name) for name in told)
    return replace(request, slices=tuple(dict.fromkeys((*request.slices, *asked))))


def shown_intervals(scored: Scored, *, wanted: bool | None = None) -> "ShownIntervals | None":
    """The 95 % intervals of a card's scores over its patients, as ``Result.interval`` has them.

    ``wanted`` None: where they are a matter of a moment. None too where another scorer's rules were asked for.
    """
    if wanted is False or scored.table is not None or scored.totals is not None:
        return None
    from sandscore.api.results import QUICK_UNITS, Problems, Result

    result = Result(scored.card, Problems((), {}))
    if wanted is None and result.patients > QUICK_UNITS:
        return ShownIntervals(result.patients, None)
    return ShownIntervals(result.patients, {name: result[name].interval for name in result.measures})


def _policy(scoring: _Scoring, files: ScoreFiles) -> "tuple[DisclosurePolicy, bytes]":
    """The challenge's, which must let something of a card out, and its salt."""
    if not files.challenge:
        raise UsageFault("--publish needs --challenge FILE, which says what of a score card may be published")
    with REMOVABLE:
        from sandscore.disclosure.policy_choice import publishing_policy

    policy = publishing_policy(files.challenge, scoring.question.task.id, files.phase, files.cards)
    if not files.salt:
        raise UsageFault("--publish needs the challenge's secret salt in the environment variable SANDSCORE_SALT")
    if policy.cards == "totals" and files.report:
        raise UsageFault("--html shows single notes, and --publish lets out totals only; score twice")
    return policy, files.salt


def _published(scored: Scored, policy: "DisclosurePolicy", salt: bytes) -> Scored:
    """With what may be published in place of the exact card."""
    from sandscore.disclosure.board_release import outgoing_card
    from sandscore.records.totals_card import TotalsCard

    card = outgoing_card(scored.card, policy, salt)
    return replace(scored, totals=card) if isinstance(card, TotalsCard) else replace(scored, card=card)


def _understood(request: ScoringPlan, *, texts: bool = False) -> _Scoring:
    everything = request.task in {ALL_TASKS, ALL_TASKS.id}
    if request.gold is None and request.index is None:
        raise UsageFault("--gold FILE says what is right, or --index FILE, which sandscore index makes of it")
    if request.index is not None and (everything or request.more_gold or request.profile != "challenge"):
        raise UsageFault("--index goes with one task, one gold and our own rules; give gold and notes themselves")
    task, profile = ALL_TASKS if everything else find_task(request.task), find_profile(request.profile)
    measures_for(task, request.measures)
    if everything and profile is not None:
        raise UsageFault("'all' goes with our own profile: the card of all tasks holds measures of leaks")
    if profile is not None and request.slices:
        raise UsageFault("--slices goes with our own profile: another scorer tells nothing of groups")
    if request.more_gold and (everything or profile is not None):
        raise UsageFault("gold of several annotators goes with one task and our own profile")
    if request.more_gold and request.slices:
        raise UsageFault("--slices goes with the gold of one annotator")
    if profile is not None and request.measures:
        raise UsageFault("--measure goes with our own profile; another scorer has its own measures")
    hipaa = load_hipaa_map(request.hipaa_map) if task.hipaa or request.hipaa_map or everything else None
    classes = _class_map(request.class_map) if request.class_map else None
    run = _run_facts(request.run) if request.run is not None else None
    identity = Identity(request.team, request.submission, request.image, request.dataset, request.created, run)
    slices = {slicing_name(asked): asked for asked in request.slices}
    if len(slices) < len({*request.slices}):
        raise UsageFault("two files of slices have the same name, and cards could not tell them apart")
    question = Question(task, request.measures, hipaa, identity, classes, slices=tuple(slices.values()), texts=texts)
    return _Scoring(request, question, profile)


def _class_map(path: str | Path) -> "ClassMap":
    with REMOVABLE:
        from sandscore.leaks.identifier_classes import load_class_map

    return load_class_map(path)


def _scored_all(asked: ScoringPlan, question: Question, watch: ReadingWatch) -> Scored:
    """Folders of files, one for each task."""
    with REMOVABLE:
        from sandscore.pooling.all_tasks import score_all, task_files

    gold, predictions = Path(str(asked.gold)), Path(str(asked.predictions))
    notes = Path(str(asked.notes)) if asked.notes is not None else None
    return score_all(question, task_files(gold, predictions, {}), notes, watch)


def _run_facts(run: "Run | RunRecord | Mapping[str, Any] | str | Path") -> "CarriedRun":
    from sandscore.records.carried_run import CarriedRun
    from sandscore.records.record_reading import refusing

    if isinstance(run, Mapping):
        with refusing("run", "the record of a run", UsageFault):
            return CarriedRun.model_validate(dict(run))
    if isinstance(run, str | Path):
        return CarriedRun.model_validate(_read_run(Path(run)).model_dump(mode="json"))
    from sandscore.records.run_record import RunRecord

    record = run if isinstance(run, RunRecord) else run.record
    return CarriedRun.model_validate(record.model_dump(mode="json"))


def _read_run(path: Path) -> "RunRecord":
    """What a run.json holds, or the one in a run's folder."""
    from sandscore.records.record_reading import file_content, read_record
    from sandscore.records.run_record import RunRecord

    file = path / "run.json" if path.is_dir() else path
    return read_record(RunRecord, file_content(file), file, "the record of a run", OrganiserFault)


def _error_files(scoring: _Scoring, files: ScoreFiles) -> Callable[[Scored], Any]:
    """What writes the error files that were asked for, and says what is not in them."""
    if scoring.request.more_gold and (files.errors or files.report):
        raise UsageFault("--errors and --html show one annotator's gold; score against one of them")
    if files.publish and files.errors:
        raise UsageFault("--errors writes what gold holds, --publish hides it; score twice")
    if files.errors is None:
        if files.entity_map is not None:
            raise UsageFault("--entity-map goes with --errors: it names the types in the error files")
        return lambda _: ()
    from sandscore.site.error_files.error_file_writer import requested

    task, created = scoring.question.task, scoring.request.created
    return requested(files.errors, files.entity_map, task, scoring.profile, created).write


def _write_report(scored: Scored, files: ScoreFiles, place: str) -> None:
    """Notes are shown only where the challenge's licence says so, and never beside hidden ids."""
    with REMOVABLE:
        from sandscore.documents.note_documents import documents_of
        from sandscore.site.submission_report import write_report

    allowed = bool(files.challenge) and api.read_challenge(Path(str(files.challenge))).publication.text
    own = scored.table is None and not files.publish
    write_report(scored.card, documents_of(scored.loaded) if own else None, Path(place), allow_text=allowed)
