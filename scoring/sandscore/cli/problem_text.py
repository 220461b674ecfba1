"""Problems of files, for people and for programs: as a verb's answer, and on standard error while files are read."""

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import PurePath
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from sandscore import api
from sandscore.base.terminal_text import printable
from sandscore.cli.progress import bytes_read

if TYPE_CHECKING:
    from sandscore.annotations.problem_collector import ProblemCollector
    from sandscore.records.problem import Problem
    from sandscore.task_table.task import Task

SHOWN = 100
_OURS = (".json", ".jsonl", ".gz", ".zst")
_ALONE = 3
"""Problems of one kind that have a line each; more of them share one."""
_OWN_VALUES = r'"(?:[^"\\]|\\.)*(?:"|…)|[0-9][0-9,.]*'
_INDENT = "    "


class Cure(Struct, frozen=True):
    """How to mend the file that was looked at: the words that a command line needs for it."""

    task: "Task"
    file: str
    notes: str | None = None
    plain: bool = True
    """Whether no other option is needed."""

    def command(self) -> str | None:
        """The command; None where it needs more than these words."""
        if self.task.own or self.file == "-" or not self.plain:
            return None
        notes = ["--notes", self.notes] if self.notes else []
        suffixes = [one for one in PurePath(self.file).suffixes[-2:] if one in _OURS]  # what is written is ours
        mended = f"mended{''.join(suffixes) if {'.json', '.jsonl'} & {*suffixes} else '.json'}"
        from shlex import join

        return join(["sandscore", "validate", self.task.id, self.file, *notes, "--fix", "-o", mended])


def as_json(findings: "ProblemCollector", *, cure: Cure | None = None) -> str:
    """Diagnosis, problems and counts, as the contract shapes them."""
    from msgspec.structs import asdict

    told = {
        "diagnosis": [one.to_dict() for one in findings.diagnosis],
        "problems": [asdict(problem) for problem in findings.problems],
        "counts": dict(sorted(findings.counts.items())),
    }
    return json.dumps(told, indent=2)


def as_text(findings: "ProblemCollector", shown: int = SHOWN, *, cure: Cure | None = None) -> str:
    """What explains most, a line a problem or a kind of problems, errors first, then a line that sums up."""
    problems = sorted(findings.problems, key=lambda problem: problem.severity)
    lines, told = list(_diagnosis(findings, cure)) if shown else [], 0
    for group in list(_groups(problems))[:shown]:
        lines += _group(findings, group)
        told += len(group)
    total = sum(findings.counts.values())
    if total > told > 0:
        lines.append(f"… and {total - told:,} more (--format json lists 10,000 of each kind)")
    return "\n".join([*lines, summary(findings)])


def _diagnosis(findings: "ProblemCollector", cure: Cure | None) -> Iterator[str]:
    how = "the same command with --fix -o mended.json" if cure else "sandscore validate … --fix -o mended.json"
    command = cure.command() if cure else None
    mends = f". Mend it: {printable(command or how)}"
    for one in findings.diagnosis:
        yield f"{printable(findings.name)}: {one.sentence}{mends if one.fixable else ''}"
        mends = mends if not one.fixable else ""


def _groups(problems: "Iterable[Problem]") -> "Iterator[list[Problem]]":
    """Problems that differ in no more than names and numbers together, where there are several."""
    found: dict[tuple[str, str, str], list[Problem]] = {}
    for problem in problems:
        found.setdefault((problem.severity, problem.code, _kind(problem.message)), []).append(problem)
    for group in found.values():
        yield from [group] if len(group) > _ALONE else ([problem] for problem in group)


def _kind(message: str) -> str:
    return re.sub(_OWN_VALUES, "…", message).replace("characters", "character")


def _group(findings: "ProblemCollector", group: "list[Problem]") -> Iterator[str]:
    first = group[0]
    if len(group) == 1:
        yield line(findings.name, first)
    else:
        place = f"{printable(first.pointer)}{_note(first)}".lstrip() + f": {printable(first.message)}"
        head = f"{printable(findings.name)}: {_severity(first)}"
        yield f"{head}: {len(group):,} × {printable(_kind(first.message))}, first at {place}"
    if first.pointer in findings.quotes:
        from sandscore.cli.aligned_texts import aligned

        said, stands, marks = aligned(*findings.quotes[first.pointer])
        yield f"{_INDENT}you say:      {said}"
        yield f"{_INDENT}there stands: {stands}"
        yield f"{_INDENT}              {marks}"


def line(name: str, problem: "Problem") -> str:
    """One problem: file, place, how bad, code, sentence."""
    place = f"{printable(name)}:{printable(problem.pointer)}"
    return f"{place}: {_severity(problem)}: {printable(problem.message)}{_note(problem)}"


def _severity(problem: "Problem") -> str:
    return click.style(f"{problem.severity}: {problem.code}", fg="red" if problem.severity == "error" else "yellow")


def _note(problem: "Problem") -> str:
    return f" (note {printable(problem.note)})" if problem.note is not None else ""


def summary(findings: "ProblemCollector") -> str:
    """Whether the file is valid, and how often each code was found."""
    counts = ", ".join(f"{code} {count:,}" for code, count in sorted(findings.counts.items()))
    if findings.errors:
        return f"{printable(findings.name)}: not valid: {counts}"
    return f"{printable(findings.name)}: valid{f', with warnings: {counts}' if counts else ''}"


def complain(found: "Iterable[ProblemCollector]") -> None:
    """Problems of files on the diagnostic stream; warnings alone are only summed up."""
    for findings in found:
        if findings.counts:
            click.echo(as_text(findings) if findings.errors else summary(findings), err=True)


FORMATS = {"text": as_text, "json": as_json}


def mended_text(made: "api.Mended", output: str, output_format: str) -> str:
    """What was mended, and what is still wrong."""
    if output_format == "json":
        told = {"mended": [one.to_dict() for one in made.causes], "output": None if output == "-" else output}
        return json.dumps(told | json.loads(as_json(made.found)), indent=2)
    lines = [f"mended: {one.sentence}" for one in made.causes]
    written = "standard output" if output == "-" else printable(output)
    return "\n".join([*lines, f"{written} was written", as_text(made.found)])


def watch() -> "api.ReadingWatch":
    """All of it on standard error."""
    return api.ReadingWatch(bytes_read, complain, _warn)


def _warn(sentence: str) -> None:
    click.echo(f"warning: {printable(sentence)}", err=True)
