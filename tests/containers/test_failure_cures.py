"""Failed runs name their cause and what helps.

The messages of the table are worded as gosu, su-exec, tini, CPython, Node, NLTK, spaCy, transformers, uvicorn and
OpenBLAS word them, shortened; six causes are met in containers, where the kernel and CPython say it themselves.
"""

import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from cli.running import sandscore

from sandscore.containers.failure_cures import RECOGNISERS, cure_of, last_lines
from sandscore.containers.sent_notes import SentNote
from sandscore.queue.children.child_messages import RunAnswer, SubmissionRunRequest
from sandscore.queue.children.runner_process import work
from sandscore.records.run_record import MIB, Outcome, RunLimits, RunRecord

if TYPE_CHECKING:
    from python_images import PythonImages

ROOT = Path(__file__).resolve().parents[2]
NOTES = ROOT / "gold" / "example" / "notes.json"
STANDINS = Path(__file__).parent / "standins"
TRACEBACK = 'Traceback (most recent call last):\n  File "/app/server.py", line 3, in <module>\n    import model\n'


def record(outcome: Outcome = Outcome.CRASHED, reason: str = "it ended", **more: Any) -> RunRecord:
    usual: dict[str, Any] = {"sandscore": "1", "task": "date", "protocol": "service", "kind": "image", "isolation": ""}
    usual |= {"limits": RunLimits(), "concurrency": 4, "notes": 2, "notes_sha256": "0"}
    return RunRecord(**usual | {"outcome": outcome, "reason": reason} | more)


CRASHED, NEVER = Outcome.CRASHED, Outcome.NEVER_READY


@pytest.mark.parametrize(
    ("outcome", "log", "cure"),
    [
        (CRASHED, "error: failed switching to \"app\": operation not permitted", "--hardening compat"),
        (CRASHED, "su-exec: setgroups(0): Operation not permitted", "--hardening compat"),
        (CRASHED, f"{TRACEBACK}    os.setgid(1000)\nPermissionError: [Errno 1] Operation not permitted\n", "compat"),
        (CRASHED, "exec /usr/bin/python3: exec format error", "docker build --platform linux/"),
        (CRASHED, "[FATAL tini (7)] exec /serve failed: No such file or directory", "no program /serve"),
        (CRASHED, f"{TRACEBACK}ModuleNotFoundError: No module named 'torch'\n", "torch is not installed"),
        (CRASHED, "Error: Cannot find module '@team/words'\nRequire stack:\n- /app/server.js", "@team/words is not"),
        (CRASHED, f"{TRACEBACK}ImportError: cannot import name 'url_quote' from 'werkzeug.urls'\n", "pin the versions"),
        (CRASHED, "ImportError: libgomp.so.1: cannot open shared object file: No such", "the library libgomp.so.1"),
        (
            CRASHED,
            "ImportError: /tmp/_MEI1/libcrypto.so.3: failed to map segment from shared object",
            "loaded from /tmp, from where no program may run",
        ),
        (CRASHED, f"{TRACEBACK}OSError: [Errno 30] Read-only file system: '/app/cache/x'\n", "writes to /app/cache/x"),
        (CRASHED, "mkdir: cannot create directory '/data': Read-only file system", "a place outside /tmp"),
        (CRASHED, f"{TRACEBACK}PermissionError: [Errno 13] Permission denied: '/app/model.bin'", "use /app/model.bin"),
        (CRASHED, "OSError: [Errno 28] No space left on device", "256 MB that /tmp holds"),
        (CRASHED, "RuntimeError: can't start new thread", "256 processes and threads"),
        (CRASHED, "OpenBLAS blas_thread_init: pthread_create failed for thread 3 of 16", "OPENBLAS_NUM_THREADS=1"),
        (
            CRASHED,
            "LookupError: \n  Resource punkt not found.\n  >>> import nltk\n  >>> nltk.download('punkt')\n",
            "RUN python3 -m nltk.downloader",
        ),
        (NEVER, "[nltk_data] Error loading punkt: <urlopen error [Errno -3]", "RUN python3 -m nltk.downloader"),
        (CRASHED, "OSError: [E050] Can't find model 'en_core_web_lg'. It doesn't", "spacy download en_core_web_lg"),
        (NEVER, "Model en_core_web_lg is not installed. Downloading...", "spacy download en_core_web_lg"),
        (
            CRASHED,
            "OSError: We couldn't connect to 'https://huggingface.co' to load the files",
            "HF_HUB_OFFLINE=1",
        ),
        (CRASHED, "socket.gaierror: [Errno -3] Temporary failure in name resolution", "there is no network"),
        (CRASHED, "Error: getaddrinfo EAI_AGAIN registry.npmjs.org", "there is no network"),
        (CRASHED, "listen EACCES: permission denied 0.0.0.0:80", "a port below 1024"),
        (NEVER, "INFO:     Uvicorn running on http://0.0.0.0:8000 (Press CTRL+C)", "listen on port 8000: an image"),
        (NEVER, " * Running on http://127.0.0.1:5000", "an image listens on port 8080"),
        (NEVER, "INFO:     Uvicorn running on http://0.0.0.0:8080 (Press CTRL+C)", "it had 120 s from its start"),
        (NEVER, "", "--ready-time gives it longer"),
        (
            CRASHED,
            f'{TRACEBACK}  File "/app/annotate.py", line 12, in annotate\n    x["y"]\nKeyError: \'y\'\n',
            "raised KeyError in /app/annotate.py, line 12",
        ),
        (Outcome.OUT_OF_MEMORY, "", "1500 MB were in use at the most"),
        (CRASHED, "nothing that is known", None),
        (Outcome.FINISHED, "nltk.download('punkt')", None),
        (Outcome.INFRASTRUCTURE, "name resolution", None),
    ],
)  # fmt: skip
def test_the_cure_of_a_message(outcome: Outcome, log: str, cure: str | None) -> None:
    said = cure_of(record(outcome, peak_memory_bytes=1500 * MIB), log)
    assert (said is None) if cure is None else (said is not None and cure in said), said


def test_what_depends_on_how_it_was_run() -> None:
    """No compat for what is run under compat; a command is told of $PORT; somebody's server is not told of ports."""
    compat = record(limits=RunLimits(hardening="compat", user=None))
    assert "compat" not in str(cure_of(compat, "gosu: operation not permitted"))
    for kind, said in (("command", "the variable PORT"), ("url", "--ready-time")):
        assert said in str(cure_of(record(NEVER, kind=kind), "Running on http://127.0.0.1:5000"))


def test_what_the_server_says_itself() -> None:
    wrong = record(Outcome.INVALID_OUTPUT, "note n: the answer has status 500")
    assert cure_of(wrong, "", b'{"detail": "no\\u001b[2Jmodel"}') == "the server says: no\\x1b[2Jmodel"
    for other in (b"", b"[]", b"{", b'{"detail": 7}'):
        assert cure_of(wrong, "", other) is None


def test_a_log_that_is_made_to_be_searched_for_long_is_not() -> None:
    """64 KB, the most that is kept, of what each pattern begins with: CPU seconds, and far from a second each."""
    begun = time.process_time()
    for piece in (
        "gosu ",
        "gosu\n",
        "Traceback (most recent call last):\n ",
        "running :",
        "exec ",
        "Permission denied ",
    ):
        cure_of(record(NEVER), piece * (65536 // len(piece)))
    assert time.process_time() - begun < 6


def test_the_end_of_a_log_is_safe_to_show() -> None:
    log = "".join(f"{number}\n\n" for number in range(20)) + "\x1b[31mred" + "x" * 500
    assert last_lines(log)[:2] == ["13", "14"]
    assert last_lines(log)[-1].startswith("\\x1b[31mred")
    assert len(last_lines(log)[-1]) == 200
    assert len({one.name for one in RECOGNISERS}) == len(RECOGNISERS)


def test_a_server_that_hangs_up_has_its_note_and_its_fault_named(tmp_path: Path) -> None:
    """http.server closes the connection of a handler that raised, and prints the traceback."""
    server = (
        (STANDINS / "service.py").read_text(encoding="utf-8").replace("        found = ", "        found = [][1] or ")
    )
    (tmp_path / "service.py").write_text(server, encoding="utf-8")
    command = f"python3 {tmp_path / 'service.py'}"
    ran = sandscore("run", "date", "--command", command, "--notes", NOTES, "-o", tmp_path / "r", "--concurrency", "1")
    assert ran.code == 65
    assert "fhir/Note/101-01: no answer, twice (the connection was closed without an answer)" in ran.err
    assert f"raised IndexError in {tmp_path / 'service.py'}, line " in ran.err
    assert f"{tmp_path / 'r' / 'log.txt'} ends:" in ran.err


FAILING = {
    "missing module": ("import no_such_thing", "no_such_thing is not installed"),
    "read-only": ("open('/srv/x', 'w')", "writes to /srv/x"),
    "network": ("import urllib.request as u; u.urlopen('http://example.org')", "there is no network"),
    "mapped": (
        "import ctypes, glob, shutil\n[so] = glob.glob('/lib/*/libm.so.6')\nshutil.copy(so, '/tmp/m.so')\n"
        "ctypes.CDLL('/tmp/m.so')",
        "loaded from /tmp",
    ),
    "another port": (
        "import http.server as h\nprint('listening on port 5000', flush=True)\n"
        "h.HTTPServer(('', 5000), h.BaseHTTPRequestHandler).serve_forever()",
        "listen on port 5000",
    ),
    "memory": ("x = bytearray(100 << 20)", "64 MB(; | were in use at the most; )fewer workers"),
}  # fmt: skip


@pytest.mark.engine
@pytest.mark.parametrize("name", FAILING)
def test_images_that_fail(python_image: "PythonImages", tmp_path: Path, name: str) -> None:
    program, cure = FAILING[name]
    image = python_image(f"fails-{name.replace(' ', '-')}", program)
    words = ["--image", image, "--notes", NOTES, "-o", tmp_path, "--memory", "64m", "--ready-time", "3"]
    ran = sandscore("run", "date", *words)
    assert ran.code == 65
    assert re.search(cure, ran.err.partition("sandscore: hint: ")[2]), ran.err


@pytest.mark.engine
def test_in_a_queue_a_rehearsal_tells_the_cure_and_a_run_on_hidden_notes_does_not(
    python_image: "PythonImages", client: Any, tmp_path: Path
) -> None:
    """The log of the one is the team's; of the other only what came before the first note is, and it says this."""
    image = client.images.get(python_image("fails-missing-module", FAILING["missing module"][0])).id
    told = []
    for name, practice, masked in (("rehearsal", str(NOTES), True), ("hidden", None, True), ("shown", None, False)):
        (tmp_path / name).mkdir()
        hidden = tmp_path / f"{name}.json"
        hidden.write_text('[{"identifier": "h-1", "text": "Nobody saw this."}]', encoding="utf-8")
        job = SubmissionRunRequest(
            "date",
            image,
            str(hidden),
            str(tmp_path / name),
            "service",
            1,
            RunLimits(),
            practice=practice,
            masked=masked,
        )
        answer = work(job)
        assert isinstance(answer, RunAnswer)
        told.append("no_such_thing is not installed" in str(answer.reason))
        early = tmp_path / name / "early-log.txt"
        assert practice is not None or "No module named 'no_such_thing'" in early.read_text(encoding="utf-8")
    assert told == [True, False, True]
    assert SentNote("h-1", "h-1", "Nobody saw this.").text not in (tmp_path / "hidden" / "run.json").read_text("utf-8")
