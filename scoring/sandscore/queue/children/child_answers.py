"""A child's side: one JSON object a line in, one out. It ends when its parent does."""

import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

import msgspec

from sandscore.base.errors import OrganiserFault, ParticipantFault, SandscoreError

Reply = dict[str, Any]
Work = Callable[[dict[str, Any]], Reply]


def serve(work: Work) -> None:
    """Answer every line until there are no more."""
    answers = _own_output()
    for line in sys.stdin.buffer:
        answers.write(msgspec.json.encode(answered(work, msgspec.json.decode(line))) + b"\n")
        answers.flush()


def answer_once(work: Work) -> None:
    """Answer the first line. If the parent goes away meanwhile, this ends as if asked to: it cleans up first."""
    answers = _own_output()
    signal.signal(signal.SIGTERM, _ended)
    job = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=_watch_parent, daemon=True).start()
    answers.write(json.dumps(answered(work, job)).encode() + b"\n")
    answers.flush()
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def answered(work: Work, job: dict[str, Any]) -> Reply:
    """Faults as replies: whose they are, and a sentence."""
    try:
        return work(job)
    except ParticipantFault as fault:
        return {"end": "invalid", "reason": str(fault)}
    except OrganiserFault as fault:
        return {"end": "organiser", "reason": str(fault)}
    except SandscoreError as fault:
        return {"end": "infrastructure", "reason": str(fault)}
    except OSError as fault:
        return refused(fault)
    except MemoryError:
        return {"end": "infrastructure", "reason": "out of memory"}
    except Exception as fault:
        if os.environ.get("SANDSCORE_DEBUG"):
            raise
        return {"end": "infrastructure", "reason": f"a bug of ours ({type(fault).__name__})"}


def refused(fault: OSError) -> Reply:
    """A fault of the operating system as a reply."""
    return {"end": "infrastructure", "reason": f"the operating system refused: {fault.strerror}"}


def _own_output() -> Any:
    """Standard output for answers alone: whatever else is printed goes to standard error."""
    kept = os.dup(1)
    os.dup2(2, 1)
    return os.fdopen(kept, "wb")


def _watch_parent() -> None:
    """By descriptor: a file object that is being read from cannot be put away when this process ends."""
    while os.read(0, 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def _ended(_signal: int, _frame: object) -> None:
    """Once: whoever asks again, and the end of the parent's pipe asks too, must not cut the cleaning short."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise SystemExit(75)
