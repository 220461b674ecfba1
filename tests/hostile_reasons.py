"""The reason of each hostile case's end: one sentence on every engine, numbers of notes and limits aside.

Written down from runs on Docker, whose sentences the tests of runs explain one by one.
"""

import re

LATE = "note #: no whole answer within # s allowed for it"
LONG = "note #: the answer is longer than the # bytes allowed for it"
NOTHING = "there is no /output/predictions.json"
MEMORY = "more memory was asked for than the # bytes allowed"
REASONS: dict[str, set[str | None]] = {
    "fork-bomb": {LATE},
    "memory-bomb": {MEMORY},
    "log-flood": {"more than # bytes were written to the log"},
    "endless-answer": {LONG},
    "dripped-answer": {LATE},
    "endless-continue": {LATE},
    "long-announced": {LONG},
    "compressed-answer": {"note #: the answer is compressed, although only the identity encoding was accepted"},
    "huge-answer": {LONG},
    "deep-json": {LONG},
    "nan-json": {"note #: the answer is not JSON we accept: line #, column #: NaN is not a JSON number"},
    "wrong-text": {
        "note #: /textDateAnnotations/# has a text that does not stand at # to # of the note (text-mismatch)"
    },
    "redirect": {"note #: the answer redirects (status #), which is never followed"},
    "crash-midway": {"the container ended by itself with exit code #"},
    "never-ready": {"not ready after # s: healthCheck answered with status #"},
    "link-out": {"/output/predictions.json is a symbolic link, not a regular file"},
    "fifo-out": {"/output/predictions.json is a FIFO, not a regular file"},
    "folder-out": {"/output/predictions.json is a folder, not a regular file"},
    "never-ends": {"the run took longer than the # s allowed"},
    "bad-exit": {"the container ended by itself with exit code #"},
    "child-memory": {MEMORY},
    "disk-filler": {None, MEMORY},
    "full-output": {NOTHING, MEMORY},
    **{case: {NOTHING} for case in ("device-out", "sparse-out", "no-output", "many-files", "changes-notes")},
}
"""All others finish, and have none."""


def without_numbers(reason: str | None) -> str | None:
    """Whichever note it was of those asked at the same time, and however long the addresses in it."""
    if reason is None:
        return None
    return re.sub(r"(?<=within )the (?=# s)", "", re.sub(r"(note-)?\b\d[\d,.]*\b", "#", reason))


def expected_reasons(case: str) -> set[str | None]:
    return REASONS.get(case, {None})
