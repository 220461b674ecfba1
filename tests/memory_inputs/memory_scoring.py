"""Score inputs in any form with sandscore, as the library does; and stand-ins for what other packages hand over."""

from typing import Any

from sandscore.annotations.input_files import load_files
from sandscore.api.given_inputs import given_inputs
from sandscore.api.results import Problems, Result
from sandscore.measures.hipaa_map import load_hipaa_map
from sandscore.scoring.card_building import Identity, Question, score
from sandscore.task_table.task import Task, find_task

ROOT_NOTES = "gold/example/notes.json"
NO_KEY = object()


def scored(task: str | Task, submission: str | None = None, **inputs: Any) -> Result:
    """The result of inputs that are valid."""
    row = find_task(task) if isinstance(task, str) else task
    given = given_inputs(row, **inputs)
    loaded = load_files(row, given.inputs)
    faults = {role: found.problems[:3] for role, found in loaded.findings.items() if found.errors}
    assert not faults, faults
    question = Question(row, (), load_hipaa_map() if row.hipaa else None, Identity(submission=submission))
    found = loaded.findings["predictions"]
    return Result(score(question, loaded), Problems(found.problems, found.counts), given.remarks)


def problems(task: str, **inputs: Any) -> Problems:
    """What the loader finds in predictions."""
    row = find_task(task)
    found = load_files(row, given_inputs(row, **inputs).inputs).findings["predictions"]
    return Problems(found.problems, found.counts)


class PresidioResult:
    """A RecognizerResult of Presidio's analyzer: attributes, an exclusive end, a score up to 1."""

    def __init__(self, entity_type: str, start: int, end: int, score: float) -> None:
        self.entity_type, self.start, self.end, self.score = entity_type, start, end, score


class SpacySpan:
    """An entity of a spaCy Doc: ``start`` and ``end`` count tokens, only ``start_char`` and ``end_char`` characters."""

    def __init__(self, text: str, start_char: int, end_char: int, label_: str) -> None:
        self.text, self.start_char, self.end_char, self.label_ = text, start_char, end_char, label_
        self.start, self.end, self.label = 3, 4, 380


class SpacyDoc:
    """A spaCy Doc: iterating goes over tokens, as it does there."""

    def __init__(self, text: str, ents: list[SpacySpan], note: Any = NO_KEY) -> None:
        self.text, self.ents = text, tuple(ents)
        self.user_data = {} if note is NO_KEY else {"note": note}

    def __iter__(self) -> Any:
        return iter(self.text.split())
