"""Addresses, sizes and retries of what stands between us and an annotator, by hand."""

import json
from types import SimpleNamespace
from typing import Any

import pytest

from sandscore.base.errors import UsageFault
from sandscore.containers.engines.docker import docker_folders
from sandscore.containers.engines.docker.cleanup import remaining
from sandscore.containers.http_exchange import ConnectionDied, Reply
from sandscore.containers.note_redaction import MASK, redact
from sandscore.containers.sent_notes import SentNote
from sandscore.containers.service_protocol import Clock, Service
from sandscore.containers.transports import BASE_PATH, AddressDoor, url_door
from sandscore.records.run_record import RunFault, RunLimits
from sandscore.task_table.task import TASKS


class Flaky(Service):
    """A service whose connection breaks so many times before an answer comes."""

    deaths = 0

    def ask(self, *_: Any, **__: Any) -> Reply:
        if self.deaths:
            self.deaths -= 1
            raise ConnectionDied("closed")
        return Reply(200, {}, b"{}")


@pytest.mark.parametrize(
    ("url", "door"),
    [
        ("http://localhost:8080", AddressDoor("localhost", 8080, BASE_PATH)),
        ("http://localhost", AddressDoor("localhost", 80, BASE_PATH)),
        ("https://a.example/api/", AddressDoor("a.example", 443, "/api", secure=True)),
    ],
)
def test_the_address_of_a_server(url: str, door: AddressDoor) -> None:
    assert url_door(url) == door


@pytest.mark.parametrize(
    "url",
    ["ftp://localhost", "localhost:80", "http://", "http://a?b", "http://a#b", "http://a b", "http://a:x", "http://é"],
)
def test_what_is_no_address_of_a_server(url: str) -> None:
    with pytest.raises(UsageFault, match="is not a server's address"):
        url_door(url)


def test_the_host_as_a_request_names_it() -> None:
    assert AddressDoor("127.0.0.1", 80).host == "127.0.0.1:80"
    assert AddressDoor("::1", 80).host == "[::1]:80"


def test_24_characters_or_five_words_are_masked() -> None:
    note = "abcdefghijklmnopqrstuvwxyz and one two three four five"
    assert redact("abcdefghijklmnopqrstuvwx", [note]) == (MASK, 1)
    assert redact("abcdefghijklmnopqrstuvw!", [note]) == ("abcdefghijklmnopqrstuvw!", 0)
    assert redact("1-2-3 one, two, three, four, five.", [note]) == (f"1-2-3 {MASK}.", 1)
    assert redact("one, two, three, four, six", [note]) == ("one, two, three, four, six", 0)


def test_what_comes_out_of_a_container_is_read_up_to_its_limit() -> None:
    """The header of an archive comes on top of the content."""
    taken = docker_folders._first_entry(iter([b"x" * 512] * 100), 1000)
    assert 1000 + 512 <= len(taken) <= 1000 + 2 * 512 + 512


def test_a_note_is_a_value() -> None:
    note = SentNote("a/b", "b", "text", "p")
    assert {note, SentNote("a/b", "b", "text", "p")} == {note}
    assert note.record() == {"identifier": "b", "text": "text", "patientId": "p", "note_name": "a/b"}
    assert "note_name" not in SentNote("b", "b", "text").record()
    assert json.dumps(note.payload())


def test_stopped_containers_are_left_over_too() -> None:
    asked: list[dict[str, Any]] = []

    def listing(**how: Any) -> list[Any]:
        asked.append(how)
        return [SimpleNamespace(attrs={"Names": ["/one"]})] if how.get("all") else []

    empty = SimpleNamespace(list=lambda **_: [])
    client: Any = SimpleNamespace(containers=SimpleNamespace(list=listing), networks=empty, volumes=empty)
    assert remaining(client) == ["one"]
    assert asked[0]["sparse"] is True, "one that another run removes just now cannot be asked about any more"


@pytest.mark.parametrize(("deaths", "retried"), [(0, 0), (1, 1)])
def test_a_note_is_asked_for_once_more_where_no_byte_had_come(deaths: int, retried: int) -> None:
    answers: Any = SimpleNamespace(task=TASKS["date"], accepted=lambda _note, body: body)
    service = Flaky(AddressDoor("127.0.0.1", 1), answers, RunLimits(), Clock(60), lambda: None)
    service.deaths = deaths
    assert service.annotate(SentNote("n", "n", "text"))[0] == b"{}"
    assert service.retried == retried


def test_a_note_is_not_asked_for_three_times() -> None:
    answers: Any = SimpleNamespace(task=TASKS["date"], accepted=lambda _note, body: body)
    service = Flaky(AddressDoor("127.0.0.1", 1), answers, RunLimits(), Clock(60), lambda: None)
    service.deaths = 2
    with pytest.raises(RunFault, match="no answer, twice"):
        service.annotate(SentNote("n", "n", "text"))
