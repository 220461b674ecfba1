"""Canaries in everything that is hidden: notes, ids of notes and patients, gold, salt, labels, tool descriptions, file
names and logs. Whatever the policy, the outcome and the home, none of them is found in a byte outside ``private/``.

Searched are all files that may be served, every team's view, mails, webhooks, what a Synapse holds that is not the
participant's own, and every request that was made to it; plain, reversed, in hex, base64, base85 and packed by zlib.
"""

import asyncio
import base64
import json
import smtplib
import urllib.request
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct
from queue_samples import annotations
from strangers.json_home import JsonFileRow
from submission_queue.standin.routing import Request
from submission_queue.standin.world import PARTICIPANT
from submission_queue.synapse_homes import state
from submission_queue.synapse_standin import synapse

from sandscore.base import clock
from sandscore.queue.attempt_files import team_view
from sandscore.queue.children.child_messages import RunAnswer, RunnerRequest, SubmissionRunRequest
from sandscore.queue.home_protocol import QueueHome
from sandscore.queue.homes.home_row import HomeRow
from sandscore.queue.homes.sqlite.sqlite_row import SqliteRow
from sandscore.queue.homes.synapse.synapse_home import SynapseHome
from sandscore.queue.new_submission import NewSubmission
from sandscore.queue.queue_setup import NewQueue
from sandscore.queue.settings import Notices, QueueSettings, Smtp
from sandscore.queue.worker.executor import LocalHands
from sandscore.queue.worker.queue_worker import Worker, WorkPlan
from sandscore.queue.workspace import Workspace, open_workspace
from sandscore.records.run_record import Outcome, RunLimits, RunRecord
from sandscore.records.submission import SubmissionKind

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("near_children")]

NOTES = {"QzNOTEIDone7": "Seen by Vk3Wendelgard-Note on 31/12/Xw8GOLDdate.", "QzNOTEIDtwo9": "Nothing Yp5quiet here."}
AT = NOTES["QzNOTEIDone7"].index("31/12")
GOLD = {"QzNOTEIDone7": [(AT, "31/12/Xw8GOLDdate")], "QzNOTEIDtwo9": []}
SALT = "Jh6SALTsecretsalt"
PATIENT = "Rt2PATIENTone"
GOLD_LABEL = "Gb4GOLDlabel"
READ = ["QzNOTEIDone7", "QzNOTEIDtwo9", "Vk3Wendelgard-Note", "Xw8GOLDdate", "Yp5quiet"]
"""What an image reads in the notes."""
OWN = ["Lm4TOOLwords", "Fn9FILEname", "Bd1LABELown", "Dt5VALUEown"]
"""Of a participant, who may have read a note; shown to nobody while notes are hidden."""
CANARIES = [*READ, *OWN, SALT, PATIENT, GOLD_LABEL]
TEXT = " ".join(NOTES.values())
ENDED = "ended = true\n"


class Case(Struct, frozen=True):
    """The keys of a phase, and the canaries that its policy lets out: to teams, and to everybody."""

    keys: str = ""
    teams: tuple[str, ...] = ()
    everybody: tuple[str, ...] = ()


FOR_TEAMS = 'notes = "teams"\n'
OPEN = 'notes = "public"\ngold = "public"\nfeedback = "full"\n'
SHARED = (*READ, *OWN)
POLICIES = {
    "rounded": Case(),
    "blind": Case('feedback = "blind"\n'),
    "ladder": Case('feedback = "ladder"\n'),
    "ended, no cards": Case(f'cards = "none"\n{ENDED}', teams=(GOLD_LABEL,)),
    "ended": Case(ENDED, teams=(GOLD_LABEL,), everybody=(GOLD_LABEL,)),
    "teams": Case(FOR_TEAMS, teams=SHARED),
    "teams, ended": Case(FOR_TEAMS + ENDED, teams=(*SHARED, GOLD_LABEL), everybody=(GOLD_LABEL,)),
    "public": Case(OPEN, teams=(*SHARED, GOLD_LABEL, PATIENT), everybody=(*SHARED, GOLD_LABEL, PATIENT)),
}
"""Totals have rows for the labels that gold has, once the phase has ended."""
IMAGE = "sha256:" + "0" * 64
CALLED_BACK = "called back"
RUNS = [Outcome.FINISHED, Outcome.CRASHED, Outcome.INVALID_OUTPUT, Outcome.INFRASTRUCTURE, CALLED_BACK]
"""How runs on the notes end; the last submission is called back while its image runs."""


def forms(text: str) -> Iterator[bytes]:
    """How a program could write it down."""
    plain = text.encode()
    for content in (plain, plain[::-1], zlib.compress(plain)):
        yield content
        yield content.hex().encode()
        yield content.hex().upper().encode()
        yield base64.b85encode(content)
        for shift in range(3):  # the ends depend on what stands beside it
            yield base64.b64encode(b"\0" * shift + content)[4 if shift else 0 : -4]


FORMS = {canary: [*forms(canary)] for canary in CANARIES}


def found(content: bytes) -> list[str]:
    return [canary for canary in CANARIES if any(form in content for form in FORMS[canary])]


def printed() -> str:
    """What a hostile image prints: everything that it was told, in every form."""
    words = [form.decode("latin-1") for canary in (*READ, *OWN) for form in forms(canary)]
    return "\n".join([TEXT, *words, base64.b85encode(zlib.compress(TEXT.encode())).decode()])


def labelled(spans: dict[str, list[tuple[int, str]]], **labels: str) -> list[Any]:
    entries: list[Any] = json.loads(annotations(spans))
    for entry in entries:
        for one in entry["textDateAnnotations"]:
            one.update(labels)
    return entries


def handed_in(spans: dict[str, list[tuple[int, str]]], **more: object) -> bytes:
    entries = labelled(spans, dateFormat="Dt5VALUEown", Bd1LABELown="Lm4TOOLwords")
    return json.dumps([*entries, *([more] if more else [])]).encode()


SHIFTED = {"QzNOTEIDone7": [(AT - 1, "31/12/Xw8GOLDdate")], "QzNOTEIDtwo9": [(5, "Yp5quiet" * 40)]}
FILES = {
    "scored": handed_in(GOLD),
    "text-mismatch": handed_in(SHIFTED),
    "shift": handed_in({note: [(at - 1, text) for at, text in spans] for note, spans in GOLD.items()}),
    "unknown-note": handed_in(GOLD | {"Vk3Wendelgard-Note": []}),
    "schema": handed_in(GOLD, tool="Lm4TOOLwords"),
    "json": b'{"Lm4TOOLwords": Vk3Wendelgard-Note',
}


class HostileHands:
    """Images that print everything they were told; what is scored is scored by the real scorer."""

    def __init__(self, workspace: Workspace, home: QueueHome) -> None:
        self._real, self._home, self._runs = LocalHands(workspace.root), home, 0

    async def run(self, job: RunnerRequest) -> Any:
        if not isinstance(job, SubmissionRunRequest):
            return None
        folder, hidden = Path(job.folder), job.practice is None
        how = RUNS[self._runs % len(RUNS)] if hidden else Outcome.FINISHED
        self._runs += hidden
        if how == CALLED_BACK:
            (mine,) = [one.id for one in await self._home.submissions() if one.id in folder.parts]
            assert await self._home.cancel(mine)
        outcome = Outcome.FINISHED if how == CALLED_BACK else Outcome(how)
        answer = RunAnswer(outcome, printed() if hidden else None)
        record = RunRecord(
            sandscore="0", task="date", protocol="service", kind="image", isolation="none", limits=RunLimits(),
            concurrency=1, notes=2, notes_sha256="0" * 64, outcome=outcome, reason=answer.reason,
        )  # fmt: skip
        (folder / "run.json").write_text(record.model_dump_json(), encoding="utf-8")
        (folder / "log.txt").write_text(printed() if hidden else "practised", encoding="utf-8")
        (folder / "predictions.json").write_bytes(FILES["text-mismatch"] if hidden else b"[]")
        return answer

    async def score(self, job: Any) -> Any:
        return await self._real.score(job)

    async def close(self) -> None:
        await self._real.close()


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """Every mail and webhook; no tick is longer than a fifth of a second."""
    seen: list[bytes] = []

    class Sender:
        def __init__(self, *_: object, **__: object) -> None: ...
        def __enter__(self) -> "Sender":
            return self

        def __exit__(self, *_: object) -> None: ...
        def send_message(self, message: Any, *_: object, **__: object) -> None:
            seen.append(message.as_bytes())
            seen.append(message.get_content().encode())

    class Answer:
        def __enter__(self) -> "Answer":
            return self

        def __exit__(self, *_: object) -> None: ...

    def post(request: Any, **_: object) -> Answer:
        seen.append(request.data)
        return Answer()

    monkeypatch.setattr(smtplib, "SMTP", Sender)
    monkeypatch.setattr(urllib.request, "urlopen", post)
    monkeypatch.setattr(clock, "TICK_SECONDS", 0.2)
    monkeypatch.setenv("SANDSCORE_SALT", SALT)
    return seen


def challenge(folder: Path, policy: str) -> Path:
    folder.mkdir()
    notes = [{"identifier": name, "text": text, "patientId": PATIENT} for name, text in NOTES.items()]
    (folder / "notes.json").write_text(json.dumps(notes), encoding="utf-8")
    (folder / "date.json").write_text(json.dumps(labelled(GOLD, dateFormat=GOLD_LABEL)), encoding="utf-8")
    rules = f'challenge = "canaries"\nresamples = 100\nrandomisations = 99\n[[phases]]\nname = "final"\n{policy}'
    (folder / "challenge.toml").write_text(rules, encoding="utf-8")
    return folder / "challenge.toml"


CHANNELS = Notices(smtp=Smtp(host="mail.example.org", sender="us@example.org"), webhook="http://hooks.example.org/")


def settings(folder: Path) -> QueueSettings:
    return QueueSettings(
        data={"": str(folder)}, notices=CHANNELS, first_wait_seconds=0.01, most_failures=1, lease_seconds=30
    )


class Seen(Struct, frozen=True):
    """What teams see, and what everybody does."""

    teams: list[bytes]
    everybody: list[bytes]


async def worked(home: QueueHome, workspace: Workspace) -> list[bytes]:
    """What the queue shows of itself to teams once everything has ended; one is called back before it begins."""
    assert await home.cancel([one.id for one in await home.submissions() if one.kind is SubmissionKind.PREDICTIONS][-1])
    worker = Worker(home, workspace, WorkPlan(once=True), lambda: HostileHands(workspace, home))
    await asyncio.wait_for(worker.run(), 120)
    seen = [team_view(one, await home.kept(one)) for one in await home.submissions()]
    views = [json.dumps(view, ensure_ascii=False).encode() for view in seen]
    assert {str(view["status"]) for view in seen} >= {"SCORED", "INVALID", "REJECTED"}
    await home.close()
    return views


def served(root: Path) -> list[bytes]:
    """Names and contents of everything outside the private half."""
    private = root / "private"
    paths = [path for path in root.rglob("*") if private not in path.parents and path != private]
    content = [path.read_bytes() for path in paths if path.is_file() and path.resolve().parent != private.resolve()]
    return [*content, *(path.name.encode() for path in paths)]


def in_folder(row: HomeRow, folder: Path, policy: str) -> Seen:
    running = policy.replace(ENDED, "")
    made = row.init(NewQueue(folder / "queue", challenge(folder / "data", running), settings(folder / "data"), {}))
    assert made.workspace is not None
    for name, content in [*FILES.items(), (CALLED_BACK, FILES["scored"])]:
        given = folder / f"Fn9FILEname-{name}.json"
        given.write_bytes(content)
        row.submit(made.workspace, NewSubmission("date", f"team {name}", predictions=given, submitter="a@example.org"))
    for number, _ in enumerate(RUNS):
        row.submit(made.workspace, NewSubmission("date", f"team {number}", image=IMAGE, submitter="a@example.org"))

    rules = made.workspace.challenge_file
    rules.write_text(rules.read_text(encoding="utf-8").removesuffix(running) + policy, encoding="utf-8")
    workspace = open_workspace(folder / "queue")

    async def work() -> list[bytes]:
        home = row.open(workspace, {})
        await home.open()
        return await worked(home, workspace)

    return Seen(asyncio.run(work()), served(folder / "queue"))


def on_synapse(folder: Path, policy: str) -> Seen:
    """All that is not the participant's own: files, annotations, tables, pages and messages; and each request, raw."""
    with synapse(folder / "synapse") as queue:
        for content in [*FILES.values(), FILES["scored"]]:
            queue.submit_file(content)
        for number, _ in enumerate(RUNS):
            queue.submit_image(f"sha256:{number:064}")
        asked: list[Request] = []
        queue.standin.before = asked.append
        place = state(folder / "worker")
        (place / "private/challenge.toml").write_bytes(challenge(folder / "data", policy).read_bytes())
        (place / "private/settings.json").write_text(settings(folder / "data").model_dump_json(), encoding="utf-8")
        (place / "private/salt").write_text(SALT, encoding="utf-8")
        workspace = open_workspace(place)

        async def work() -> list[bytes]:
            home = SynapseHome(queue.id, queue.config(), workspace)
            await home.open()
            return await worked(home, workspace)

        views = asyncio.run(work())
        world = queue.world
        requests = [(one.method, one.path, one.query, one.headers) for one in asked]
        raw = [*(json.dumps(part).encode() for part in requests), *(one.data for one in asked)]
        assert max(map(len, raw)) > 100, "files on their way up"
        ours = [content for handle, content in world.contents.items() if world.owners[handle] != PARTICIPANT]
        said = [world.statuses, world.messages, world.status_history]
        names = [entity["name"] for entity in world.entities.values() if entity["createdBy"] != PARTICIPANT]
        assert ours, "boards, status files and messages"
        told, shown = (
            [json.dumps(part, default=str, ensure_ascii=False).encode() for part in parts]
            for parts in (said, [world.tables, world.wikis, names])
        )
        return Seen([*views, *ours, *told, *raw], [*shown, *served(place)])


HOMES: dict[str, Callable[[Path, str], Seen]] = {
    "sqlite": lambda folder, policy: in_folder(SqliteRow(), folder, policy),
    "stranger's": lambda folder, policy: in_folder(JsonFileRow(), folder, policy),
    "synapse": on_synapse,
}


def test_every_form_is_found() -> None:
    """Else the search below could find nothing."""
    for form in forms("Vk3Wendelgard-Note"):
        assert found(b"x" + form + b"y") == ["Vk3Wendelgard-Note"]
    assert {*found(printed().encode("latin-1"))} == {*READ, *OWN}


@pytest.mark.parametrize(
    ("home", "policy"),
    [
        pytest.param(home, policy, marks=() if home == "sqlite" or policy == "rounded" else pytest.mark.slow)
        for home in HOMES
        for policy in POLICIES
    ],
)
def test_no_canary_is_found_outside(home: str, policy: str, tmp_path: Path, sent: list[bytes]) -> None:
    case = POLICIES[policy]
    shown = HOMES[home](tmp_path, case.keys)
    assert len(sent) > len(FILES), "mails and webhooks"
    for contents, allowed in (([*shown.teams, *sent], case.teams), (shown.everybody, case.everybody)):
        leaks = [(canary, content[:200]) for content in contents for canary in found(content) if canary not in allowed]
        assert leaks == []
    told = {canary for content in shown.teams for canary in found(content)}
    named = any(b'"shift"' in content or b"stand where you say" in content for content in shown.teams)
    assert named == (READ[0] in case.teams), "where texts stand says what the notes hold"
    assert (READ[0] in told) == (READ[0] in case.teams), "what teams hold under an agreement is no secret to them"


def test_what_an_organiser_lets_out_knowingly_is_found(tmp_path: Path, sent: list[bytes]) -> None:
    """The search finds what is there: the same queue with the one rule that shows a hidden run's log."""
    shown = in_folder(SqliteRow(), tmp_path, 'logs = "full"\naccept_disclosure = true\n')
    assert {canary for content in shown.teams for canary in found(content)} == {*READ, *OWN}
    assert not any(found(content) for content in (*shown.everybody, *sent))
