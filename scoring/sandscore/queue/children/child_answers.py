"""A child's side of the wire: one request a line in, one answer out. It ends when its parent does."""

import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import IO, TypeVar

from msgspec.json import Decoder

from sandscore.base.errors import OrganiserFault, ParticipantFault, SandscoreError
from sandscore.queue.children.child_messages import Answer, Blame, FaultAnswer, Request, as_line

_AGAIN_SECONDS = 0.01

_Asked = TypeVar("_Asked")
_Request = TypeVar("_Request", bound=Request)
_Answer = TypeVar("_Answer")


def serve(work: Callable[[_Request], Answer], requests: Decoder[_Request]) -> None:
    """Answer every line until there are no more."""
    answers = _own_output()
    while line := _asked():
        _say(answers, answered(work, requests.decode(line)))


def answer_once(work: Callable[[_Request], Answer], requests: Decoder[_Request]) -> None:
    """Answer the first line. If the parent goes away meanwhile, this ends as if asked to: it cleans up first."""
    answers = _own_output()
    sys.unraisablehook = _insisting
    signal.signal(signal.SIGTERM, _ended)
    if line := _asked():
        request = requests.decode(line)
        threading.Thread(target=_watch_parent, daemon=True).start()
        _say(answers, answered(work, request))
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _asked() -> bytes:
    """The next line; none where the parent is gone, be it in the middle of one."""
    line = sys.stdin.buffer.readline()
    return line if line.endswith(b"\n") else b""


def _say(answers: IO[bytes], answer: Answer) -> None:
    """A parent that is dead hears nothing, and what was written for it goes nowhere."""
    try:
        answers.write(as_line(answer))
        answers.flush()
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, answers.fileno())
        os.close(nowhere)


def answered(work: Callable[[_Asked], _Answer], job: _Asked) -> _Answer | FaultAnswer:
    """Faults as answers: whose they are, and a sentence."""
    try:
        return work(job)
    except ParticipantFault as fault:
        return FaultAnswer(Blame.PARTICIPANT, str(fault))
    except OrganiserFault as fault:
        return FaultAnswer(Blame.ORGANISER, str(fault))
    except SandscoreError as fault:
        return FaultAnswer(Blame.INFRASTRUCTURE, str(fault))
    except OSError as fault:
        return refused(fault)
    except MemoryError:
        return FaultAnswer(Blame.INFRASTRUCTURE, "out of memory")
    except Exception as fault:
        if os.environ.get("SANDSCORE_DEBUG"):
            raise
        return FaultAnswer(Blame.INFRASTRUCTURE, f"a bug of ours ({type(fault).__name__})")


def refused(fault: OSError) -> FaultAnswer:
    """A fault of the operating system as an answer."""
    return FaultAnswer(Blame.INFRASTRUCTURE, f"the operating system refused: {fault.strerror}")


def _own_output() -> IO[bytes]:
    """Standard output for answers alone: whatever else is printed goes to standard error."""
    kept = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(kept, "wb")


def _watch_parent() -> None:
    """By descriptor: a file object that is being read from cannot be put away when this process ends."""
    while os.read(0, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def _insisting(lost: "sys.UnraisableHookArgs") -> None:
    """An end that was asked for within a callback of the interpreter, which lets nothing through, is asked for again a
    moment later."""
    if isinstance(lost.exc_value, SystemExit):
        signal.signal(signal.SIGALRM, _ended)
        signal.setitimer(signal.ITIMER_REAL, _AGAIN_SECONDS)
    else:
        sys.__unraisablehook__(lost)


def _ended(_signal: int, _frame: object) -> None:
    """Once: whoever asks again, and the end of the parent's pipe asks too, must not cut the cleaning short."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise SystemExit(75)
