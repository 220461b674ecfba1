"""Classes of identifiers: which labels identify a patient directly, which with others, which not; data with a hash.

Ours stands in the task table, after Scaiano et al. (2016) and HIPAA's Safe Harbor; where HIPAA's map speaks of a task's
labels, what it protects is quasi. An organiser's own map replaces it, and an own task has no other.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
from msgspec import Struct, json

from sandscore.annotations.columns import Ints
from sandscore.base.byte_sources import opened
from sandscore.base.errors import OrganiserFault
from sandscore.base.strict_json import JsonFault, loads
from sandscore.measures.hipaa_map import HipaaMap
from sandscore.task_table.task import Task

IdentifierClass = Literal["direct", "quasi", "none"]
CLASSES: tuple[IdentifierClass, ...] = ("direct", "quasi", "none")
UNKNOWN = -1
_OTHERS = "*"
Rules = Mapping[str, str]
"""Label to class; ``*`` is of the labels that are not named, and of what has none."""


class ClassMap(Struct, frozen=True):
    """An organiser's map: rules by task."""

    version: str
    rules: dict[str, Rules]


class TaskClasses(Struct, frozen=True):
    """The rules of one task, or of several whose labels say which task they are of."""

    rules: dict[str, Rules]
    prefixed: bool = False

    @property
    def digest(self) -> str:
        """The SHA-256 of the rules as they are applied."""
        from hashlib import sha256

        return sha256(json.encode(self.rules, order="sorted")).hexdigest()

    def of(self, name: str | None) -> str | None:
        """The class of a label; None where the rules say nothing about it."""
        task, label = next(iter(self.rules)), name or ""
        if self.prefixed:
            task, _, label = label.partition("/")
        rules = self.rules.get(task, {})
        return rules.get(label, rules.get(_OTHERS))

    def codes(self, names: list[str]) -> Ints:
        """The place of each label's class among all classes, that of no label in front."""
        classes = [self.of(name) for name in (None, *names)]
        return np.array([UNKNOWN if one is None else CLASSES.index(one) for one in classes], np.int64)


def classes_of(task: Task, given: ClassMap | None, hipaa: HipaaMap | None) -> TaskClasses:
    """The rules of a task: the organiser's, else those of our table."""
    if given is not None and task.id in given.rules:
        return TaskClasses({task.id: given.rules[task.id]})
    if task.hipaa and hipaa is not None:
        protected = {label: "quasi" if hipaa.protected.get(label) else "none" for label in task.labels}
        return TaskClasses({task.id: protected | {_OTHERS: "none"}})
    others = {_OTHERS: task.identifiers} if task.identifiers else {}
    return TaskClasses({task.id: dict(task.identifier_types) | others})


def of_several(tasks: list[TaskClasses]) -> TaskClasses:
    """The rules of several tasks as one, for labels that begin with their task."""
    return TaskClasses({name: rules for one in tasks for name, rules in one.rules.items()}, prefixed=True)


def load_class_map(path: str | Path) -> ClassMap:
    """The map of that file."""
    with opened(path) as source:
        raw = bytes(source.data)
    try:
        value: Any = loads(raw)
    except JsonFault as fault:
        raise OrganiserFault(f"{path}: {fault}") from None
    table = value.get("classes") if isinstance(value, dict) else None
    rules = {name: _rules(given) for name, given in table.items()} if isinstance(table, dict) else {}
    found = {name: given for name, given in rules.items() if given is not None}
    if not found or len(found) < len(rules):
        shape = '{"version": "…", "classes": {"date": "quasi", "address": {"city": "quasi", "*": "none"}}}'
        raise OrganiserFault(f"{path}: expected {shape}, each class being direct, quasi or none")
    return ClassMap(str(value.get("version", "")), found)


def _rules(given: object) -> Rules | None:
    rules = {_OTHERS: given} if isinstance(given, str) else given
    if not isinstance(rules, dict) or not all(one in CLASSES for one in rules.values()):
        return None
    return rules
