"""Foreign types to task labels by an organiser's map, and which notes that leaves out.

The rule is that of the pipeline around Presidio: a gold type that the map names is replaced. One that it
does not name is dropped where the note has a type that it names, and otherwise stays, under its own name.
A gold type that equals a name of the map only up to case and underscores discards the whole note. Predicted
types that the map names are replaced, all others stay. The task's own labels stand for themselves.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from sandscore.annotations.label_codes import allowed
from sandscore.base.byte_sources import opened
from sandscore.base.errors import OrganiserFault
from sandscore.base.strict_json import JsonFault, loads
from sandscore.records.document import Annotation, Document
from sandscore.site.error_files.error_report import Discarded, EntityAlignment
from sandscore.task_table.task import Task

EntityMap = Mapping[str, str]


def read_entity_map(path: str | Path, task: Task) -> EntityMap:
    """A JSON object of foreign type to task label; whatever else it is, is the organiser's error."""
    with opened(path) as source:
        data = bytes(source.data)
    try:
        given = loads(data)
    except JsonFault as fault:
        raise OrganiserFault(f"{path}: {fault}") from None
    return entity_map(given, task, str(path))


def entity_map(given: Any, task: Task, where: str = "the entity map") -> EntityMap:
    """The map, checked, with the task's own labels added where it does not name them."""
    if not isinstance(given, dict) or not all(isinstance(label, str) for label in given.values()):
        raise OrganiserFault(f'{where}: must be a JSON object of strings such as {{"GPE": "city"}}')
    labels = allowed(task, task.label) if task.label else None
    unknown = sorted(set(given.values()) - set(labels)) if labels else []
    if unknown:
        raise OrganiserFault(
            f"{where}: {', '.join(unknown)}: not labels of the task {task.id}, which are {', '.join(labels or ())}"
        )
    return {label: label for label in labels or sorted(set(given.values()))} | given


def align(documents: Sequence[Document], names: EntityMap) -> tuple[list[Document], EntityAlignment]:
    """The notes that stay, their types replaced, and what was left out."""
    near = {_folded(name): name for name in names}
    kept, discarded, unmapped = [], [], Counter[str]()
    for note in documents:
        types = [a.label for a in (*note.gold, *note.predictions) if a.label]
        unmapped.update(t for t in types if t not in names)
        almost = [t for a in note.gold if (t := a.label) and t not in names and _folded(t) in near]
        if almost:
            discarded.append(Discarded(note.id, _reason(almost[0], near[_folded(almost[0])])))
            continue
        predictions = tuple(_renamed(a, names) for a in note.predictions)
        kept.append(replace(note, gold=_aligned(note.gold, names), predictions=predictions))
    if documents and not kept:
        raise OrganiserFault(f"the entity map discards every note, the first because {discarded[0].reason}")
    return kept, EntityAlignment(tuple(discarded), dict(sorted(unmapped.items())))


def _aligned(gold: Sequence[Annotation], names: EntityMap) -> tuple[Annotation, ...]:
    known = [_renamed(a, names) for a in gold if not a.label or a.label in names]
    return tuple(known) if any(a.label for a in known) else tuple(gold)


def _renamed(annotation: Annotation, names: EntityMap) -> Annotation:
    label = annotation.label
    return replace(annotation, label=names[label]) if label and label in names else annotation


def _folded(name: str) -> str:
    return name.upper().replace("_", "")


def _reason(written: str, meant: str) -> str:
    return f"its type '{written}' is named '{meant}' in the entity map; write it the same way"
