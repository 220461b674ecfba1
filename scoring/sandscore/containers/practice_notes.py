"""The notes of a rehearsal: those a team may see everything about, and bundled odd ones.

An image rehearses on them before it meets hidden notes. What it stumbles over there it would have stumbled over among
the hidden ones, where nobody could tell its team why.
"""

from collections.abc import Iterable, Sequence

from sandscore.base.errors import OrganiserFault
from sandscore.containers.sent_notes import SentNote

REHEARSAL_SECONDS = 600.0
_STEPS = (1, 2, 5, 10)
_SENTENCE = "Seen on 10/26/2020 by Dr. Jordan Example at Example General Hospital, 555-0100.\n"
_EMOJI = (
    "\N{ADHESIVE BANDAGE} Seen 10/26/2020 \N{WAVING HAND SIGN}\N{EMOJI MODIFIER FITZPATRICK TYPE-5} by Dr. Example."
)
_LINE_ENDS = "Seen:\r\n\tDr. Example\r\n10/26/2020\r\n\r\n"


def rehearsal_notes(practice: Sequence[SentNote], hidden: Sequence[SentNote]) -> list[SentNote]:
    """The practice notes, then the odd ones, one of them about as long as the longest hidden note.

    How long that is, is told to the next of 1, 2, 5 times a power of ten, and by no more.
    """
    refuse_shared(practice, (note.text for note in hidden))
    long = rounded_up(max((len(note.text) for note in hidden), default=1))
    texts = {"empty": "", "emoji": _EMOJI, "line-ends": _LINE_ENDS, "long": _written(long)}
    odd = [SentNote(f"sandscore-odd-{name}", f"sandscore-odd-{name}", text) for name, text in texts.items()]
    return [*practice, *odd]


def refuse_shared(practice: Iterable[SentNote], hidden: Iterable[str]) -> None:
    """Whatever becomes of a practice note may be told: it must not be a hidden one."""
    texts = {note.text: note.name for note in practice}
    shared = next((texts[text] for text in hidden if text in texts), None)
    if shared is not None:
        raise OrganiserFault(
            f"the practice note {shared} is one of the hidden notes too; name others with [data] practice, or say "
            'notes = "public" where they are no secret'
        )


def rounded_up(length: int) -> int:
    """The smallest of 1, 2, 5 times a power of ten that is not smaller."""
    power = int("1" + "0" * (len(str(max(length, 1))) - 1))
    return next(step * power for step in _STEPS if step * power >= length)


def _written(length: int) -> str:
    return (_SENTENCE * (length // len(_SENTENCE) + 1))[:length]
