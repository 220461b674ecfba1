"""Problems of files, for people and for programs: as a verb's answer, and on standard error while files are read."""

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

import click

from sandscore import api
from sandscore.base.terminal_text import printable
from sandscore.cli.progress import bytes_read

if TYPE_CHECKING:
    from sandscore.annotations.problem_collector import ProblemCollector
    from sandscore.records.problem import Problem

SHOWN = 100


def as_json(findings: "ProblemCollector") -> str:
    """Problems and counts, as the contract shapes them."""
    from msgspec.structs import asdict

    problems = [asdict(problem) for problem in findings.problems]
    return json.dumps({"problems": problems, "counts": dict(sorted(findings.counts.items()))}, indent=2)


def as_text(findings: "ProblemCollector", shown: int = SHOWN) -> str:
    """A line a problem, errors first, then a line that sums up."""
    problems = sorted(findings.problems, key=lambda problem: problem.severity)
    lines = [line(findings.name, problem) for problem in problems[:shown]]
    total = sum(findings.counts.values())
    if total > len(lines) > 0:
        lines.append(f"… and {total - len(lines):,} more (--format json lists 10,000 of each kind)")
    return "\n".join([*lines, summary(findings)])


def line(name: str, problem: "Problem") -> str:
    """One problem: file, place, how bad, code, sentence."""
    place = f"{printable(name)}:{printable(problem.pointer)}"
    colour = "red" if problem.severity == "error" else "yellow"
    kind = click.style(f"{problem.severity}: {problem.code}", fg=colour)
    note = f" (note {printable(problem.note)})" if problem.note is not None else ""
    return f"{place}: {kind}: {printable(problem.message)}{note}"


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
            click.echo(as_text(findings, SHOWN if findings.errors else 0), err=True)


FORMATS = {"text": as_text, "json": as_json}


def watch() -> "api.ReadingWatch":
    """All of it on standard error."""
    return api.ReadingWatch(bytes_read, complain, _warn)


def _warn(sentence: str) -> None:
    click.echo(f"warning: {printable(sentence)}", err=True)
