"""Reads ``challenge.toml``; whatever is wrong with it is said with the line it stands on."""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from pydantic import ValidationError

from sandscore.base.errors import OrganiserFault, UsageFault
from sandscore.records.challenge import Challenge, Phase, RuleChanges, TaskFile
from sandscore.records.disclosure_policy import overreaching
from sandscore.records.ranking_rules import BoardRules, RankingRules
from sandscore.records.record_reading import complaints, file_content
from sandscore.records.slicing_names import fault_of_slicing, slicing_name
from sandscore.records.task_definition import TaskDefinition
from sandscore.task_table.own_tasks import own_task, why_not_own
from sandscore.task_table.task import ALL_TASKS, TASKS, Task

Step = str | int
_HASH = "[0-9a-f]{12}"
_LONGEST, _DEEPEST = 1_000_000, 100
_HEADER = r"^\s*(\[\[?)\s*([^\[\]]+?)\s*\]\]?\s*(?:#.*)?$"
_KEY = r"""^\s*((?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*="""
_KNOWN_TASKS = f"the tasks are {', '.join(TASKS)}"
_PIECE = r"""[\w-]+|"[^"]*"|'[^']*'"""


def read_challenge(path: Path) -> Challenge:
    """The configuration in a file."""
    return parse_challenge(file_content(path), str(path))


def parse_challenge(content: bytes, path: str) -> Challenge:
    """The configuration in these bytes; all faults at once, each with its line."""
    text, loaded = _toml(content, path)
    try:
        challenge = Challenge.model_validate(loaded)
    except ValidationError as fault:
        raise _refused(path, text, fault) from None
    defined = {name: table.definition for name, table in challenge.tasks.items()}
    known = {*TASKS, ALL_TASKS.id}
    unknown = [name for name, definition in defined.items() if name not in known and definition is None]
    found = [(name, f"unknown task '{name}'; {_KNOWN_TASKS}; one of your own needs 'array'") for name in unknown]
    found += _not_own({name: one for name, one in defined.items() if one is not None})
    _refuse(path, text, [(("tasks", name), said) for name, said in found] + list(overreaching(challenge)))
    _refuse(path, text, _unrankable(challenge))
    _refuse(path, text, _unsliceable(challenge))
    _refuse(path, text, _named_by_path(challenge))
    return challenge


def _unrankable(challenge: Challenge) -> list[tuple[tuple[Step, ...], str]]:
    """Where a measure decides the order that has no whole numbers to decide it by, and why."""
    given: list[tuple[tuple[Step, ...], RankingRules | RuleChanges]] = [((), challenge)]
    given += [(("tasks", name), table) for name, table in challenge.tasks.items()]
    given += [(("phases", at), phase) for at, phase in enumerate(challenge.phases)]
    found: list[tuple[tuple[Step, ...], str]] = []
    for where, rules in given:
        named = [("headline", rules.headline), *(("measures", name) for name in rules.measures or ())]
        named += [("tie_break", name) for name in rules.tie_break or () if name != "created"]
        found += [
            ((*where, key), f"{key}: {why}") for key, name in named if name is not None and (why := why_unranked(name))
        ]
    return found


def _named_by_path(challenge: Challenge) -> list[tuple[tuple[Step, ...], str]]:
    """Measures that name a file otherwise than cards do: by no hash, so that rules could change without a word."""
    given: list[tuple[tuple[Step, ...], RankingRules | RuleChanges]] = [((), challenge)]
    given += [(("tasks", name), table) for name, table in challenge.tasks.items()]
    given += [(("phases", at), phase) for at, phase in enumerate(challenge.phases)]
    named = [((*where, key), name) for where, rules in given for key, name in named_measures(rules)]
    return [
        (
            where,
            f"{where[-1]}: '{name}' names its file by the first 12 digits of its SHA-256; list it in [measure_files]",
        )
        for where, name in named
        if any(not re.fullmatch(_HASH, file) for file in files_of(name).values())
    ]


def files_of(measure: str) -> dict[str, str]:
    """What a measure says of the files it needs, by parameter; nothing of one that is not known here."""
    if "=" not in measure:
        return {}
    from sandscore.measures.measure_registry import MEASURES
    from sandscore.measures.measure_syntax import parse

    try:
        named = parse(measure, MEASURES.find)
    except UsageFault:
        return {}
    files = {parameter.name for parameter in MEASURES.find(named.name).parameters if parameter.file}
    return {name: str(value) for name, value in named.settings if name in files}


def _with_files(measure: str, places: Mapping[str, str]) -> str:
    """The measure, with the files' places in place of their hashes."""
    for name, said in files_of(measure).items():
        measure = measure.replace(f"{name}={said}", f"{name}={places.get(said, said)}")
    return measure


def _unsliceable(challenge: Challenge) -> list[tuple[tuple[Step, ...], str]]:
    """Ways of slicing that are none, and names that stand for two."""
    faults = [said for asked in challenge.slices.by if (said := fault_of_slicing(asked)) is not None]
    found: list[tuple[tuple[Step, ...], str]] = [(("slices", "by"), said) for said in faults]
    for where, names in (
        (("slices", "by"), [slicing_name(asked) for asked in challenge.slices.by]),
        (("robustness", "copies"), [Path(folder).name for folder in challenge.robustness.copies]),
    ):
        twice = next((name for name in names if names.count(name) > 1), None)
        found += [(where, f"two are called '{twice}'")] if twice is not None else []
    return found


def why_unranked(name: str) -> str | None:
    """What keeps a measure from ranking; None also for one that is not known here, which the cards may know."""
    if any(name in task.measures for task in TASKS.values()):
        return None
    from sandscore.measures.measure_registry import MEASURES
    from sandscore.measures.measure_syntax import parse

    if name.partition("(")[0].strip() not in MEASURES.names:
        return None
    try:
        measure = parse(name, MEASURES.find)
    except UsageFault as fault:
        return str(fault)
    row = MEASURES.find(measure.name)
    if str(measure) != name:
        return f"the measure '{name}' is written '{measure}' on cards"
    if row.formula_for(row.settle(measure)) is None:
        return f"the measure '{name}' cannot rank: its score is not made of whole numbers that add up over notes"
    return None


def own_tasks(challenge: Challenge) -> dict[str, Task]:
    """The tasks that a challenge defines, by their ids."""
    defined = {name: table.definition for name, table in challenge.tasks.items()}
    return {name: own_task(name, definition) for name, definition in defined.items() if definition is not None}


def read_own_tasks(path: Path) -> dict[str, Task]:
    """The tasks that the configuration in a file defines."""
    return own_tasks(read_challenge(path))


def read_task_file(path: Path) -> dict[str, Task]:
    """The tasks of a file that holds nothing else."""
    text, loaded = _toml(file_content(path), str(path))
    try:
        defined = TaskFile.model_validate(loaded).tasks
    except ValidationError as fault:
        raise _refused(str(path), text, fault) from None
    _refuse(str(path), text, [(("tasks", name), said) for name, said in _not_own(defined)])
    return {name: own_task(name, definition) for name, definition in defined.items()}


def _toml(content: bytes, path: str) -> tuple[str, dict[str, object]]:
    try:
        text = content.decode("utf-8")
        _refuse_endless(text, path)
        return text, tomllib.loads(text)
    except UnicodeDecodeError as fault:
        line = content.count(b"\n", 0, fault.start) + 1
        raise OrganiserFault(f"{path}, line {line}: not UTF-8") from None
    except (tomllib.TOMLDecodeError, RecursionError) as fault:
        raise OrganiserFault(f"{path} is not TOML: {fault}") from None


def _refuse_endless(text: str, path: str) -> None:
    """What the parser would take minutes for; no challenge is as long, or as deep."""
    if len(text) > _LONGEST:
        raise OrganiserFault(f"{path} has {len(text):,} characters; a challenge has at most {_LONGEST:,}")
    for number, line in enumerate(text.splitlines(), 1):
        if line.partition("=")[0].count(".") > _DEEPEST:
            raise OrganiserFault(f"{path}, line {number}: a key of more than {_DEEPEST} parts")


def _refused(path: str, text: str, fault: ValidationError) -> OrganiserFault:
    found = [(line_of(text, where), said) for where, said in complaints(fault, quoting=True)]
    return OrganiserFault("\n".join(f"{path}, line {line}: {said}" for line, said in sorted(found)))


def _refuse(path: str, text: str, found: Iterable[tuple[tuple[Step, ...], str]]) -> None:
    """``found``: a place and what is wrong there."""
    lines = sorted((line_of(text, place), said) for place, said in found)
    if lines:
        raise OrganiserFault("\n".join(f"{path}, line {line}: {said}" for line, said in lines))


def _not_own(defined: Mapping[str, TaskDefinition]) -> list[tuple[str, str]]:
    """What keeps these from being tasks: our own names, one array twice, the name of a registered measure."""
    if not defined:
        return []
    from sandscore.measures.measure_registry import MEASURES

    registered, arrays, found = MEASURES.names, dict[str, str](), list[tuple[str, str]]()
    for name, definition in defined.items():
        if said := why_not_own(name, definition):
            found.append((name, said))
        first = arrays.setdefault(definition.array, name)
        if first != name:
            found.append((name, f"the array '{definition.array}' belongs to the task {first} already"))
        measure = own_task(name, definition).label_measure
        if measure in registered:
            found.append(
                (name, f"the label '{definition.label}' would make a measure {measure}, which there is already")
            )
    return found


def rules_for(challenge: Challenge, task: str, phase: str | None) -> tuple[BoardRules, str | None]:
    """The rules in force for a task and phase, and the phase's name; a phase's word beats a task's."""
    chosen = chosen_phase(challenge, phase)
    common = {name: getattr(challenge, name) for name in BoardRules.model_fields if name in Challenge.model_fields}
    for changes in (challenge.tasks.get(task), chosen):
        common |= _changes(changes)
    common |= {"slices": tuple(map(slicing_name, challenge.slices.by))}
    common |= {"robustness": tuple(Path(folder).name for folder in challenge.robustness.copies)}
    try:
        rules = BoardRules(**common, ended=chosen.ended if chosen else False)
    except ValidationError as fault:
        said = complaints(fault)[0][1]
        where = f", phase '{chosen.name}'" if chosen else ""
        raise OrganiserFault(f"the configuration for task '{task}'{where} does not hold together: {said}") from None
    return rules, chosen.name if chosen else None


def named_measures(rules: RankingRules | RuleChanges) -> Iterator[tuple[str, str]]:
    """The measures that rules speak of, each with the key it stands under."""
    for key in ("headline", "secondary", "tie_break", "measures"):
        said = getattr(rules, key, None) or ()
        names = (said,) if isinstance(said, str) else said
        yield from ((key, name) for name in names if (key, name) != ("tie_break", "created"))


def extra_measures(rules: BoardRules, task: Task, files: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The measures a board of these rules needs on cards beside the task's own; none that nobody has. ``files``: where
    those lie that the rules name by their hashes."""
    from sandscore.measures.measure_registry import MEASURES

    named = dict.fromkeys(name for _, name in named_measures(rules))
    known = {*MEASURES.names} - {*task.measures, *MEASURES.label_measures}
    return tuple(_with_files(name, files or {}) for name in named if name.partition("(")[0].strip() in known)


def _changes(changes: RuleChanges | None) -> dict[str, object]:
    if changes is None:
        return {}
    return {name: getattr(changes, name) for name in RuleChanges.model_fields if getattr(changes, name) is not None}


def chosen_phase(challenge: Challenge, name: str | None) -> Phase | None:
    """The phase of that name, or the only one there is."""
    names = [phase.name for phase in challenge.phases]
    if name is None and len(names) <= 1:
        return challenge.phases[0] if names else None
    if name is None:
        raise UsageFault(f"the challenge has several phases; choose one with --phase: {', '.join(names)}")
    if name not in names:
        raise UsageFault(f"unknown phase '{name}'; the phases are {', '.join(names) or 'not configured'}")
    return challenge.phases[names.index(name)]


def line_of(text: str, location: tuple[Step, ...]) -> int:
    """The line of a key, else of the innermost table around it that is written down, else the first."""
    places = _places(text)
    for length in range(len(location), 0, -1):
        if location[:length] in places:
            return places[location[:length]]
    return 1


@lru_cache(maxsize=1)
def _places(text: str) -> dict[tuple[Step, ...], int]:
    """Every header and key with its line; array tables are numbered from 0."""
    places: dict[tuple[Step, ...], int] = {}
    table: tuple[Step, ...] = ()
    seen: dict[tuple[Step, ...], int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if header := re.match(_HEADER, line):
            table = _resolved(header[2], seen)
            if header[1] == "[[":
                seen[table] = seen.get(table, -1) + 1
                table = (*table, seen[table])
            places.setdefault(table, number)
        elif key := re.match(_KEY, line):
            places.setdefault((*table, *_pieces(key[1])), number)
    return places


def _resolved(header: str, seen: dict[tuple[Step, ...], int]) -> tuple[Step, ...]:
    """The path of a header; a step into an array of tables is a step into its last one."""
    pieces = _pieces(header)
    path: tuple[Step, ...] = ()
    for at, piece in enumerate(pieces):
        path = (*path, piece)
        if at < len(pieces) - 1 and path in seen:
            path = (*path, seen[path])
    return path


def _pieces(dotted: str) -> list[str]:
    return [piece.strip("\"'") for piece in re.findall(_PIECE, dotted)]
