"""Cells of our tables as they were before an apostrophe made them harmless."""

from sandscore.base.terminal_text import disarmed


def armed(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and disarmed(cell[1:]) == cell else cell
