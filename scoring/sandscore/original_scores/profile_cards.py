"""Score cards of other people's scorers: their numbers in our shape.

JSON as the originals read it: Python's own reader, with all that it lets pass, only quicker.
"""

import json
from pathlib import Path
from typing import Any

import msgspec

from sandscore import __version__
from sandscore.annotations.data_set import NAMELESS, DataSet
from sandscore.annotations.input_files import Inputs, Loaded
from sandscore.annotations.json_blocks import form_of
from sandscore.annotations.label_codes import vocabulary
from sandscore.annotations.problem_collector import ProblemCollector
from sandscore.annotations.record_reader import collector_paused
from sandscore.base.byte_sources import BadStream, InputFile, NamedBytes, opened
from sandscore.base.errors import OrganiserFault, ParticipantFault, SandscoreError
from sandscore.base.strict_json import JsonFault
from sandscore.measures.measure_syntax import Named
from sandscore.profiles.profile import CompanionFile, OriginalScorer, ProfileInput, ProfileResult, stopping
from sandscore.profiles.profile_registry import Profile
from sandscore.records.scorecard import MeasureScore, Scorecard
from sandscore.scoring.card_building import SHOWN_OF_HASH, Question, carried_definition, signature
from sandscore.task_table.task import Task


def decoded(data: bytes) -> Any:
    """What ``json.loads`` makes of it; it is asked only about what a stricter and quicker reader refuses."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return json.loads(data)


def as_the_original_reads(profile: Profile, task: Task, inputs: Inputs, loaded: Loaded) -> ProfileInput:
    """The files decoded once more, right or wrong as they are."""
    with collector_paused():
        return ProfileInput(
            task=task,
            notes=_records(inputs.notes, OrganiserFault, None) if inputs.notes is not None else None,
            gold=_records(inputs.gold, OrganiserFault, loaded),
            predictions=_records(inputs.predictions, ParticipantFault, loaded),
            companions=_companions(profile),
        )


def original_files(profile: Profile, task: Task, inputs: Inputs) -> tuple[ProfileInput, Loaded] | None:
    """What the original's own files hold, where gold is one of them; None where gold is a file of ours."""
    if profile.own_files is OriginalScorer.own_files:
        return None
    with collector_paused():
        try:
            gold, gold_hash = _whole(inputs.gold, OrganiserFault)
        except OrganiserFault:  # JSON Lines of ours, or broken: our loader says what is wrong
            return None
        if not profile.own_files(gold):
            return None
        predictions, hashed = _whole(inputs.predictions, ParticipantFault)
    given = ProfileInput(task, None, gold, predictions, _companions(profile))
    return given, _nothing_loaded(task, inputs, gold_hash, hashed)


def _nothing_loaded(task: Task, inputs: Inputs, gold: str, predictions: str) -> Loaded:
    """Of files that our loader does not know: their hashes."""
    findings = {role: ProblemCollector(str(path), task.array) for role, path in inputs.given.items()}
    dataset = DataSet(vocabulary(task, task.label), growing=False)
    return Loaded(dataset, {}, findings, {"gold": gold, "predictions": predictions})


def _companions(profile: Profile) -> dict[str, CompanionFile]:
    found = {}
    for parameter, name in profile.file_names.items():
        value, sha256 = _whole(name, OrganiserFault)
        found[parameter] = CompanionFile(name, value, sha256)
    return found


def _whole(path: InputFile | None, fault: type[SandscoreError]) -> tuple[Any, str]:
    """A file's JSON as the original's own reader would see it, and its hash."""
    try:
        with opened(path or "") as source:
            return decoded(bytes(source.data)), source.sha256()
    except (ValueError, RecursionError, JsonFault, BadStream) as broken:
        raise fault(f"{path}: the original cannot read this: {broken}") from None


def score_as(
    profile: Profile, question: Question, given: ProfileInput, loaded: Loaded
) -> tuple[Scorecard, ProfileResult]:
    """What the original would say of these files; where it dies and gold is faulty, that is what it dies of."""
    with collector_paused(), stopping("files", OrganiserFault if loaded.faulty("gold") else ParticipantFault):
        result = profile.evaluate(given, profile.settings)
    card = _card if loaded.columns else _card_of_own
    return card(_shown(profile, given), question, loaded, result), result


def score_written_as(
    profile: Profile, question: Question, inputs: Inputs
) -> tuple[Scorecard, ProfileResult, Loaded] | None:
    """The same of the original's own files as they are written; None where they are ours, or have to be decoded."""
    files = inputs.gold, inputs.predictions
    if profile.evaluate_written is OriginalScorer.evaluate_written or profile.file_names:
        return None
    if not all(isinstance(file, NamedBytes) or Path(file or "").is_file() for file in files):
        return None  # what is read but once is left to be decoded
    try:
        with opened(files[0] or "") as gold, opened(files[1] or "") as predictions:
            with memoryview(gold.data) as first, memoryview(predictions.data) as second, collector_paused():
                result = profile.evaluate_written(first, second, profile.settings)
            if result is None:
                return None
            loaded = _nothing_loaded(question.task, inputs, gold.sha256(), predictions.sha256())
    except SandscoreError:  # whoever decodes them says it of the right file
        return None
    return _card_of_own(str(profile), question, loaded, result), result, loaded


def _card_of_own(profile: str, question: Question, loaded: Loaded, result: ProfileResult) -> Scorecard:
    for name in result.documents:
        loaded.dataset.add(name)
    return _card(profile, question, loaded, result)


def score_columns_as(profile: Profile, question: Question, loaded: Loaded) -> tuple[Scorecard, ProfileResult] | None:
    """The same without another look at the files, where nothing stands in them that their columns do not say."""
    if loaded.dataset.texts is None or loaded.dataset.whole_names or loaded.entries.keys() < {"gold", "predictions"}:
        return None
    with collector_paused():
        result = profile.evaluate_columns(question.task, loaded, profile.settings)
        return None if result is None else (_card(str(profile), question, loaded, result), result)


def _shown(profile: Profile, given: ProfileInput) -> str:
    """The profile as cards name it: files by their hashes."""
    hashed = {name: file.sha256[:SHOWN_OF_HASH] for name, file in given.companions.items()}
    return str(Named(profile.value.name, tuple((name, hashed.get(name, v)) for name, v in profile.value.settings)))


def _card(profile: str, question: Question, loaded: Loaded, result: ProfileResult) -> Scorecard:
    identity, dataset = question.identity, loaded.dataset
    sizes = [len(loaded.columns[role]) for role in ("gold", "predictions")] if loaded.columns else result.annotations
    return Scorecard(
        sandscore=__version__,
        signature=signature(question.task, profile, loaded.sha256, None),
        task=question.task.id,
        **carried_definition(question.task),
        profile=profile,
        team=identity.team,
        name=identity.name,
        submission=identity.submission,
        image=identity.image,
        dataset=identity.dataset,
        phase=identity.phase,
        created=identity.created,
        notes=len(dataset.roll),
        gold_annotations=sizes[0],
        predicted_annotations=sizes[1],
        text_checked=dataset.texts is not None,
        measures={name: MeasureScore(**{"f1_ci": None, **parts}) for name, parts in result.measures.items()},
        per_label={},
        errors=None,
        note_leak=None,
        confidence=None,
        per_note={note: {**result.per_note.get(note, {})} for note in dataset.roll.ids},
        units=dict(zip(dataset.roll.ids, dataset.roll.units, strict=True)),
        run=identity.run,
        problems=dict(sorted(loaded.findings["predictions"].counts.items())),
        details=result.details,
        warnings=list(result.warnings),
    )


def _records(path: InputFile | None, fault: type[SandscoreError], loaded: Loaded | None) -> list[Any]:
    """A file's records as the original's own JSON reader would see them: Python's, with all that it lets pass."""
    try:
        with opened(path or "") as source:
            data = bytes(source.data)
        lines = form_of(memoryview(data)) == "lines"
        value = [decoded(line) for line in data.splitlines() if line.strip()] if lines else decoded(data)
    except (ValueError, RecursionError, JsonFault, BadStream) as broken:
        raise fault(f"{path}: the original cannot read this: {broken}") from None
    if isinstance(value, list):
        return value
    if loaded is None or "annotationSource" in value:
        return [value]
    name = loaded.dataset.roll.ids[0] if loaded.dataset.roll.ids else NAMELESS
    return [{"annotationSource": {"resourceSource": {"name": name}}, **value}]
