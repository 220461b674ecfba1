"""A rescoring plan for people and for programs."""

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from sandscore.base.terminal_text import printable

if TYPE_CHECKING:
    from sandscore.queue.queue_upgrade import BoardMove, QueueUpgrade
    from sandscore.queue.rescoring import ChangedGold, RescoredGroup, RescoredMove

_SHOWN = 20


def as_json(groups: Sequence["RescoredGroup"], written: Sequence[str] | None) -> str:
    return json.dumps(
        {"groups": msgspec.to_builtins(list(groups)), "written": None if written is None else list(written)}, indent=1
    )


def as_text(groups: Sequence["RescoredGroup"], written: Sequence[str] | None) -> str:
    lines = [line for group in groups for line in _group(group)] or ["nothing is scored yet"]
    if written is not None:
        lines.append(f"{len(written)} new version{'' if len(written) == 1 else 's'} written; the old ones are kept")
    return "\n".join(lines)


def _group(group: "RescoredGroup") -> Iterator[str]:
    changed = group.submissions
    yield f"{group.task}{_in_phase(group.phase)}: {len(changed)} would change, {group.unchanged} would not"
    for one in changed:
        yield f"  {one.id}  {printable(one.team)}  {group.headline}: {_move(one)}"
        if one.notes:
            named = ", ".join(printable(note.note) for note in one.notes[:_SHOWN])
            yield f"    because of {len(one.notes)} note(s): {named}{'…' if len(one.notes) > _SHOWN else ''}"
        if one.had:
            yield f"    it had {len(one.had)} of the changed annotations: {', '.join(map(str, one.had[:_SHOWN]))}"
    for gold in group.gold:
        yield from _gold(gold)


def _in_phase(phase: str | None) -> str:
    return f", phase {printable(phase)}" if phase else ""


def _gold(gold: "ChangedGold") -> Iterator[str]:
    if gold.changes is None:
        yield f"  the gold of before ({gold.before}) was not kept: annotations cannot be compared"
        return
    yield f"  gold since {gold.before}: {len(gold.changes)} annotation(s) changed"
    for number, one in enumerate(gold.changes[:_SHOWN]):
        label = f" {printable(one.label)}" if one.label else ""
        yield f"    [{number}] {one.change}: note {printable(one.note)}, {one.start}+{one.length}{label}"


def _move(one: "RescoredMove") -> str:
    if one.refused:
        return f"could not be scored: {printable(one.refused)}"
    ranks = f", rank {one.rank_before} → {one.rank_after}" if one.rank_before and one.rank_after else ""
    delta = "" if one.delta is None else f" ({one.delta:+.4f})"
    return f"{_shown(one.before)} → {_shown(one.after)}{delta}{ranks}"


def _shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"


FORMATS = {"text": as_text, "json": as_json}


def upgrade_text(done: "QueueUpgrade") -> str:
    verb = "would be" if done.written is None else "were"
    lines = [f'challenge.toml: {key} = "{value}", as it was so far' for key, value in done.rules.items()]
    lines += [line for group in done.groups for line in _group(group)]
    for board in done.boards:
        lines.append(f"board {board.task}{_in_phase(board.phase)}: {_rows_moved(len(board.moves), board.rows)}")
        lines += [f"  {_board_move(one)}" for one in board.moves]
    changed = sum(len(group.submissions) for group in done.groups) if done.written is None else len(done.written)
    return "\n".join(
        [*lines, f"{changed} card{'' if changed == 1 else 's'} {verb} written anew; the old ones are kept"]
    )


def _rows_moved(moved: int, rows: int) -> str:
    return f"{moved} of {rows} rows move" if moved else f"its {rows} rows stay where they are"


def _board_move(one: "BoardMove") -> str:
    before = "not shown" if one.rank_before is None else _standing(one.rank_before, one.set_before)
    return f"{one.submission}  {printable(one.team or '–')}  {before} → {_standing(one.rank_after, one.set_after)}"


def _standing(rank: float | None, span: tuple[int, int] | None) -> str:
    return f"rank {rank}" + (f" ({span[0]}–{span[1]})" if span else "")


def upgrade_json(done: "QueueUpgrade") -> str:
    return json.dumps(msgspec.to_builtins(done), indent=1)


UPGRADE_FORMATS = {"text": upgrade_text, "json": upgrade_json}
