"""Cures of failed runs: what the log of an annotator shows that a maker of images can mend, and how.

A table of recognisers, the narrow before the broad; the first that fits is told. What is quoted of a log is a name
of few and plain characters. A cure is made of the annotator's own words: it goes only to whoever may have the log.
"""

import platform
import re
from collections.abc import Callable

from msgspec import Struct

from sandscore.base.strict_json import JsonFault, loads
from sandscore.base.terminal_text import printable
from sandscore.records.run_record import Outcome, RunRecord

_LINES = 8
_SENTENCE = 200
_ARCHITECTURES = {"x86_64": "amd64", "aarch64": "arm64"}
_PORT = 8080


class Recogniser(Struct, frozen=True):
    """One known way to fail: what the reason or the log then says, and what helps."""

    name: str
    pattern: str
    advice: "str | Callable[[RunRecord, re.Match[str]], str | None]"
    outcomes: tuple[Outcome, ...] = ()
    """None is any."""

    def cure(self, record: RunRecord, said: str) -> str | None:
        if self.outcomes and record.outcome not in self.outcomes:
            return None
        found = re.search(self.pattern, said, re.IGNORECASE)
        if found is None:
            return None
        return self.advice.format(*found.groups()) if isinstance(self.advice, str) else self.advice(record, found)


def cure_of(record: RunRecord, log: str, refused: bytes | None = None) -> str | None:
    """What would help, where it is recognised. ``refused`` is the answer that ended the run, if one did."""
    if record.outcome in (Outcome.FINISHED, Outcome.INFRASTRUCTURE):
        return None
    said = f"{record.reason or ''}\n{log}"
    cures = (one.cure(record, said) for one in RECOGNISERS)
    found = next((cure for cure in cures if cure is not None), None)
    return found or _said_by_itself(refused)


def last_lines(log: str) -> list[str]:
    """The end of a log, as a terminal may show it."""
    return [printable(line)[:_SENTENCE] for line in log.splitlines() if line.strip()][-_LINES:]


def _said_by_itself(refused: bytes | None) -> str | None:
    """The sentence of a problem document (RFC 9457)."""
    try:
        value = loads(refused or b"")
    except JsonFault:
        return None
    detail = value.get("detail") if isinstance(value, dict) else None
    return f"the server says: {printable(detail)[:_SENTENCE]}" if isinstance(detail, str) else None


def _switches_user(record: RunRecord, _found: re.Match[str]) -> str:
    if record.limits.hardening == "compat":
        return "its entrypoint wants more rights than to switch its user; begin as that user with USER"
    return (
        "its entrypoint switches its user, which strict does not let it: --hardening compat, where your challenge "
        "allows that; or begin as that user with USER in the Dockerfile"
    )


def _other_platform(_record: RunRecord, _found: re.Match[str]) -> str:
    machine = platform.machine()
    return (
        "it is made for another processor, or its program has no #! line: "
        f"docker build --platform linux/{_ARCHITECTURES.get(machine, machine)}"
    )


def _too_many(record: RunRecord, _found: re.Match[str]) -> str:
    return (
        f"it wants more than the {record.limits.processes} processes and threads that it may have: fewer workers, and "
        "ENV OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false"
    )


def _tmp_full(record: RunRecord, _found: re.Match[str]) -> str:
    room = record.limits.tmp_bytes >> 20
    return f"it wrote more than the {room} MB that /tmp holds, in memory: put what is large into the image"


def _memory(record: RunRecord, _found: re.Match[str]) -> str:
    peak = record.peak_memory_bytes
    limit = record.limits.memory_bytes
    told = f"{peak >> 20} MB were in use at the most; " if peak else f"it reached all of its {limit >> 20} MB; "
    return (
        f"{told}fewer workers, smaller batches or a smaller model; --memory gives it more at home, and how much it "
        "has in the challenge is in that challenge's limits"
    )


def _other_port(record: RunRecord, found: re.Match[str]) -> str | None:
    port = int(found[1])
    if record.kind == "command":
        return f"it seems to listen on port {port}: a command listens on the port that the variable PORT names"
    if record.kind == "url":
        return None
    return f"it seems to listen on port {port}: an image listens on port {_PORT} (EXPOSE opens none)"


def _slow_start(record: RunRecord, _found: re.Match[str]) -> str:
    return (
        f"it had {record.limits.ready_seconds:g} s from its start to answer healthCheck with 200 and "
        '{"status": "pass"}: --ready-time gives it longer, as far as your challenge does'
    )


def _raised(_record: RunRecord, found: re.Match[str]) -> str:
    last = re.findall(r'File "([^"\n]{1,200})", line ([0-9]{1,7}), in ([\w<>.]{1,80})', found[0])
    where = f" in {printable(last[-1][0])}, line {last[-1][1]}" if last else ""
    return f"its program raised {found[1]}{where}: catch what a note may cause, and answer 500 with a sentence"


_CRASH = (Outcome.CRASHED, Outcome.NEVER_READY)
_NETWORK = "and there is no network: bring it into the image when that is built, "
RECOGNISERS = (
    Recogniser("memory", r"", _memory, (Outcome.OUT_OF_MEMORY,)),
    Recogniser(
        "switches-user",
        r"(?:gosu|su-exec|setpriv|runuser|switching to|set[ug]id|set(?:res)?[ug]id|setgroups|initgroups)"
        r"(?:[^\n]{0,300}\n){0,3}?[^\n]{0,300}not permitted",
        _switches_user,
    ),
    Recogniser("other-platform", r"exec format error", _other_platform),
    Recogniser(
        "no-such-program",
        r"(?:exec |exec: \\?\")([\w./-]{1,80})\\?\"?(?: failed)?: (?:stat [^\n]{1,100}: )?"
        r"(?:no such file|executable file not found)",
        "the image has no program {0}: CMD and ENTRYPOINT must name one that is in it",
        _CRASH,
    ),
    Recogniser(
        "mapped-from-tmp",
        r"failed to map segment from shared object",
        "a library is loaded from /tmp, from where no program may run: install it into the image, and let nothing "
        "unpack or compile it at the start",
    ),
    Recogniser(
        "fetches-nltk",
        r"nltk\.download\(|\[nltk_data\] Error|\bnltk_data\b",
        "NLTK looks for data, " + _NETWORK + "RUN python3 -m nltk.downloader -d /usr/share/nltk_data NAME",
    ),
    Recogniser(
        "fetches-spacy",
        r"\[E050\] Can't find model '([\w.-]{1,80})'|spacy(?:\.cli\.| )download|Model ([\w.-]{1,80}) is not installed",
        lambda _record, found: (
            f"spaCy (or Presidio, which uses it) looks for a model, {_NETWORK}"
            f"RUN python3 -m spacy download {found[1] or found[2] or 'NAME'}"
        ),
    ),
    Recogniser(
        "fetches-hugging-face",
        r"huggingface\.co|huggingface_hub|LocalEntryNotFoundError|couldn't connect to 'https://hf",
        "Hugging Face's library looks for a model, " + _NETWORK + "RUN hf download NAME --local-dir /model, load it "
        "from /model, and ENV HF_HUB_OFFLINE=1 HF_HOME=/tmp",
    ),
    Recogniser(
        "missing-module",
        r"(?:ModuleNotFoundError: No module named|Cannot find (?:module|package)) ['\"]([@\w./-]{1,80})['\"]",
        "{0} is not installed where it runs: in an image, install it with RUN in the Dockerfile, or COPY it",
    ),
    Recogniser(
        "missing-library",
        r"([\w.+-]{1,80}\.so[\w.]{0,20}): cannot open shared object file",
        "the image lacks the library {0}: install the system's package that has it (RUN apt-get install)",
    ),
    Recogniser(
        "failed-import",
        r"ImportError: cannot import name ['\"]([\w.]{1,80})['\"]",
        "{0} cannot be imported: pin the versions of packages in the image to those that you develop with",
    ),
    Recogniser(
        "no-network",
        r"name resolution|Name or service not known|getaddrinfo|EAI_AGAIN|ENOTFOUND|Network is unreachable|ENETUNREACH"
        r"|Max retries exceeded|Failed to establish a new connection|urlopen error",
        "it wants to fetch something, " + _NETWORK + "with RUN",
    ),
    Recogniser(
        "read-only",
        r"(?:Read-only file system|EROFS)[^\n]{0,40}?(/[\w./-]{1,120})?['\"]?(?:\n|$)",
        lambda _record, found: (
            f"it writes to {found[1] or 'a place outside /tmp'}: nothing but /tmp can be written to; caches go there "
            "with variables like HF_HOME, MPLCONFIGDIR and XDG_CACHE_HOME"
        ),
    ),
    Recogniser("tmp-full", r"No space left on device|ENOSPC", _tmp_full),
    Recogniser(
        "threads",
        r"can't start new thread|pthread_create|fork: retry|Resource temporarily unavailable",
        _too_many,
    ),
    Recogniser(
        "low-port",
        r"(?:Permission denied|EACCES)[^\n]{0,60}?(?:bind|listen|0\.0\.0\.0|:::)"
        r"|bind[^\n]{0,80}(?:Permission denied|EACCES)|server_bind(?:[^\n]{0,300}\n){1,3}?PermissionError",
        f"it may not listen on a port below 1024: listen on {_PORT}",
    ),
    Recogniser(
        "not-readable",
        r"(?:Permission denied|EACCES)[^\n]{0,60}?['\"]?(/[\w./-]{1,120})",
        "it may not use {0}: it runs as user 20001, who must be able to read what is in the image (COPY --chmod=a+rX, "
        "or RUN chmod -R a+rX), and can write only to /tmp",
    ),
    Recogniser(
        "old-processor",
        r"Illegal instruction|exit code 132",
        "it uses instructions that this processor does not have: build for an ordinary one (no -march=native)",
        _CRASH,
    ),
    Recogniser(
        "other-port",
        r"(?:listening|running|serving|started|bound|ready)\b[^\n]{0,120}?(?::|port )(?!8080\b)([0-9]{2,5})\b",
        _other_port,
        (Outcome.NEVER_READY,),
    ),
    Recogniser(
        "raised",
        r"Traceback \(most recent call last\):\n(?:(?![A-Za-z_])[^\n]*\n)*([A-Za-z_][\w.]{0,80})",
        _raised,
        (Outcome.CRASHED, Outcome.NEVER_READY, Outcome.INVALID_OUTPUT, Outcome.TIMED_OUT),
    ),
    Recogniser(
        "dropped",
        r"no answer, twice \(the connection was closed without an answer\)",
        "its server hung up on this note and wrote no traceback: its function may have raised; catch what a note may "
        "cause, and answer 500 with a sentence",
    ),
    Recogniser("slow-start", r"", _slow_start, (Outcome.NEVER_READY,)),
)
