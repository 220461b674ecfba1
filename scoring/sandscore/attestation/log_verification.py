"""A board held against its challenge's log: what was scored and is not on it, and gold that changed without a word."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from sandscore.attestation.log_lines import (
    BoardLine,
    CommitmentLine,
    DataLine,
    GoldLine,
    Receipt,
    SubmissionLine,
    board_content,
    gold_name,
)
from sandscore.attestation.log_reading import ReadLog
from sandscore.attestation.signed_note import read_checkpoint, read_note
from sandscore.base.errors import ParticipantFault
from sandscore.base.terminal_text import one_line
from sandscore.records.record_reading import file_content


class LogHeld(Struct, frozen=True):
    """What was found: the log's key, how many lines it has, the line about this board, and a newer one if there is.

    ``changed``: what the phase was no longer about as at its opening, and on which line.
    """

    key: str
    lines: int
    line: int
    newer: int | None
    changed: tuple[tuple[str, int], ...] = ()


class _Scored(Struct, frozen=True):
    """A line about a board, and all that had been scored for it by then."""

    position: int
    line: BoardLine
    positions: frozenset[int]


def hold_against_log(board: Mapping[str, Any], name: object, log: ReadLog, receipts: Sequence[Receipt] = ()) -> LogHeld:
    """The first contradiction between a board, receipts and the log is an error that names it."""
    for receipt in receipts:
        _refuse_other_line(receipt, log)
    known = list(_boards(log, board.get("task"), board.get("phase")))
    _refuse_other_gold(board, name, log, known)
    if not known:
        raise ParticipantFault(f"{name}: {log.place} has no line about a board of this task and phase")
    content = board_content(board)
    own = next((one for one in reversed(known) if one.line.content == content), None)
    held = own or known[-1]
    _refuse_missing_rows(board, name, log, held, receipts)
    if own is None:
        raise ParticipantFault(
            f"{name} is not the board of {log.where(held.position)}, nor one before it: what it says was changed"
        )
    _refuse_other_opening(board, name, log)
    newer = known[-1].position if known[-1] is not own else None
    changed = tuple(_changes(log, board.get("task"), board.get("phase")))
    return LogHeld(log.keys[-1].text, len(log.lines), own.position, newer, changed)


def refuse_fork(earlier: Path, log: ReadLog) -> None:
    """A checkpoint that somebody kept is still one of this log, or two logs were shown."""
    note = read_note(file_content(earlier), earlier)
    kept = read_checkpoint(note, earlier)
    if not any(note.signed_by(key) for key in log.keys):
        raise ParticipantFault(f"{earlier} bears no signature of a key of the log in {log.place}")
    if kept.size > len(log.lines):
        raise ParticipantFault(f"{log.place} has {len(log.lines)} lines; it had {kept.size} when {earlier} was signed")
    if kept.origin != log.checkpoint.origin or log.root_at(kept.size) != kept.root:
        raise ParticipantFault(
            f"{log.place} was forked: its first {kept.size} lines are not those that {earlier} was signed for"
        )


def opening_root(log: ReadLog, phase: str | None) -> str | None:
    """The root of the log when the phase began: the tree up to the first line that commits to its data."""
    for position, line in enumerate(log.lines):
        if isinstance(line, CommitmentLine) and line.phase == phase:
            return log.root_at(position + 1).hex()
    return None


def _changes(log: ReadLog, task: object, phase: object) -> Iterator[tuple[str, int]]:
    for position, line in enumerate(log.lines):
        if isinstance(line, DataLine) and line.phase == phase:
            yield line.name, position
        elif isinstance(line, GoldLine) and (line.phase, line.task) == (phase, task):
            yield gold_name(line.task), position


def _boards(log: ReadLog, task: object, phase: object) -> Iterator[_Scored]:
    positions: frozenset[int] = frozenset()
    for position, line in enumerate(log.lines):
        if isinstance(line, BoardLine) and (line.task, line.phase) == (task, phase):
            positions = (positions | {*line.scored}) - {*line.withdrawn}
            odd = next((one for one in positions if not _is_submission(log, one, position)), None)
            if odd is not None:
                raise ParticipantFault(f"{log.where(position)} counts line {odd + 1}, which is no submission before it")
            yield _Scored(position, line, positions)


def _is_submission(log: ReadLog, position: int, before: int) -> bool:
    return 0 <= position < before and isinstance(log.lines[position], SubmissionLine)


def _refuse_other_line(receipt: Receipt, log: ReadLog) -> None:
    if receipt.log != log.checkpoint.origin:
        raise ParticipantFault(
            f"the receipt of {one_line(receipt.submission)} is of the log {one_line(receipt.log)}, "
            f"not of {one_line(log.checkpoint.origin)}"
        )
    line = log.lines[receipt.position] if 0 <= receipt.position < len(log.lines) else None
    if not isinstance(line, SubmissionLine) or line.sha256 != receipt.sha256:
        raise ParticipantFault(
            f"the receipt of {one_line(receipt.submission)} names {log.where(receipt.position)}, "
            "which is not about it: the log was rewritten, or is another"
        )


def _refuse_other_gold(board: Mapping[str, Any], name: object, log: ReadLog, known: Sequence[_Scored]) -> None:
    """The gold in force when the board was made, or at the end of the log."""
    content = board_content(board)
    end = next((one.position for one in reversed(known) if one.line.content == content), len(log.lines))
    in_force: tuple[int, str] | None = None
    for position, line in enumerate(log.lines[:end]):
        if isinstance(line, CommitmentLine) and line.phase == board.get("phase") and board.get("task") in line.gold:
            in_force = position, line.gold[board["task"]]
        elif isinstance(line, GoldLine) and (line.phase, line.task) == (board.get("phase"), board.get("task")):
            in_force = position, line.gold
    if in_force is None:
        raise ParticipantFault(f"{name}: {log.place} has no line that commits to the gold of this task and phase")
    for said in (board.get("gold") or {}).values():
        if said not in (in_force[1], *_opened_gold(log, in_force, gold_name(str(board.get("task"))))):
            raise ParticipantFault(
                f"{name} was made with the gold {one_line(str(said))}; {log.where(in_force[0])} commits to "
                f"{one_line(in_force[1])}, and no line says that it changed"
            )


def _opened_gold(log: ReadLog, in_force: tuple[int, str], name: str) -> list[str]:
    """What a gold that everybody may have is called by its own hash, cut as short as the log's name for it."""
    position, keyed = in_force
    said = (one.content for one in log.data if (one.position, one.name) == (position, name))
    return [content.removeprefix("sha256:")[: len(keyed)] for content in said]


def _refuse_missing_rows(
    board: Mapping[str, Any], name: object, log: ReadLog, held: _Scored, receipts: Sequence[Receipt]
) -> None:
    """Where a board shows all that was scored, each of them has a row; where it shows the best, as many as it says."""
    shown = [row.get("submission") for row in board.get("rows") or [] if isinstance(row, dict)]
    opened = {position: one.handed_in.submission for position, one in log.openings.items()}
    opened |= {one.position: one.submission for one in receipts}
    if held.line.rows == len(held.positions):
        for position in sorted(held.positions):
            if position in opened and opened[position] not in shown:
                raise ParticipantFault(
                    f"{name}: the submission {one_line(opened[position])} ({log.where(position)}) "
                    "was scored and is not on the board"
                )
    if len(shown) < held.line.rows:
        raise ParticipantFault(
            f"{name} has {len(shown)} rows; {log.where(held.position)} says {held.line.rows}: "
            "a submission that was scored is not on the board"
        )


def _refuse_other_opening(board: Mapping[str, Any], name: object, log: ReadLog) -> None:
    said, phase = board.get("log_root"), board.get("phase")
    if said is not None and said != (made := opening_root(log, phase)):
        raise ParticipantFault(f"{name}: /log_root is {one_line(str(said))}; the log's when the phase began is {made}")
