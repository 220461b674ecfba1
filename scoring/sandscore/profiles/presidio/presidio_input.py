"""Notes with annotations, and settled parameters, to what the original's evaluator takes."""

from collections.abc import Callable, Mapping, Sequence

from sandscore.base.errors import OrganiserFault, ParticipantFault, UsageFault
from sandscore.measures.measure_syntax import Scalar
from sandscore.profiles.presidio.presidio_evaluation import EvaluationOptions, default_skip_words
from sandscore.profiles.presidio.presidio_spans import DEFAULT_SCORE, ScoredSpan, TaggedDocument, tag
from sandscore.profiles.presidio.presidio_tokens import TextTokens, library_tokens, tokens_of
from sandscore.profiles.profile_documents import chosen, type_of
from sandscore.records.document import Annotation, Document
from sandscore.task_table.task import Task

TOKENISERS: dict[str, Callable[[str], TextTokens]] = {"own": tokens_of, "spacy": library_tokens}


def options_of(settings: Mapping[str, Scalar]) -> EvaluationOptions:
    """``skip_words`` is ``default``, ``none`` or the words themselves, joined by ``|``."""
    lists = {"default": default_skip_words(), "none": frozenset[str]()}
    words = str(settings["skip_words"])
    return EvaluationOptions(
        threshold=float(settings["threshold"]),
        beta=float(settings["beta"]),
        by_characters=settings["unit"] == "char",
        skip_words=lists.get(words, chosen(words) or frozenset()),
        release=str(settings["release"]),
        entities=chosen(settings["entities"]),
    )


def tagged(notes: Sequence[Document], task: Task, tokeniser: str = "own") -> list[TaggedDocument]:
    """The notes as tokens with a tag of either side each."""
    if notes and all(note.text is None for note in notes):
        raise UsageFault("the profile presidio compares tokens and so needs the texts; give them with --notes")
    return [_tagged(note, task, TOKENISERS[tokeniser]) for note in notes]


def _tagged(note: Document, task: Task, tokenise: Callable[[str], TextTokens]) -> TaggedDocument:
    if note.text is None:
        fault = OrganiserFault if note.gold else ParticipantFault
        raise fault(f"note '{note.id}' is not among the notes, so it has no tokens to compare")
    tokens = tokenise(note.text)
    return TaggedDocument(
        note.id,
        tokens.words,
        tokens.starts,
        tag(tokens, _scored(note.gold, task)),
        tag(tokens, _scored(note.predictions, task)),
    )


def _scored(annotations: Sequence[Annotation], task: Task) -> list[ScoredSpan]:
    return [
        ScoredSpan(
            a.start,
            a.end,
            type_of(a, task),
            DEFAULT_SCORE if a.confidence is None else a.confidence / 100,
        )
        for a in annotations
    ]
