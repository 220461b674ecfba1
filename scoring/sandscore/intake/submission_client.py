"""The client of a team: hands in over HTTP and asks how things stand, with the standard library alone.

A submission is sent under a key of its own, so that one that is sent again after a broken connection stays one. The
token comes from ``SANDSCORE_TOKEN``, or from a file that nobody else may read; it is sent to the server it is for, by
https or on this machine, and follows no redirect.
"""

import http.client
import json
import os
import secrets
import ssl
import stat
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from sandscore.base.byte_sources import opened
from sandscore.base.errors import (
    InfrastructureFault,
    MissingFile,
    OrganiserFault,
    ParticipantFault,
    SandscoreError,
    UsageFault,
)
from sandscore.base.terminal_text import one_line

TOKEN = "SANDSCORE_TOKEN"  # noqa: S105 (the variable's name)
_PREFIX = "/api/v1"
_CHUNK, _MOST_ANSWER = 1 << 16, 1 << 28
_TIMEOUT_SECONDS = 60.0
_TRIES, _REST_SECONDS = 4, 1.0
_KINDS: Mapping[int, type[SandscoreError]] = {
    kind.exit_code: kind for kind in (UsageFault, ParticipantFault, MissingFile, InfrastructureFault, OrganiserFault)
}
Sent = Callable[[int], object]
"""Told how many bytes more are on their way."""


class _LostConnection(Exception):
    """Nobody knows whether the server has heard."""


class IntakeClient:
    """Of one server."""

    def __init__(self, url: str) -> None:
        said = urlsplit(url if "//" in url else f"https://{url}")
        if said.scheme not in ("http", "https") or not said.hostname:
            raise UsageFault(f"{one_line(url)} is no address of a server: https://HOST")
        if said.scheme == "http" and not _is_here(said.hostname):
            raise UsageFault(f"{one_line(url)}: a token is sent by https, or on this machine")
        self._secure, self._host, self._port = said.scheme == "https", said.hostname, said.port
        self.origin = f"{said.scheme}://{said.netloc}"
        self._token = find_token(self.origin)
        if not self._token.isascii() or not self._token.isprintable():
            raise UsageFault("the token is none: it has characters that tokens do not have")

    def submit_file(self, task: str, file: Path, phase: str | None, key: str | None, sent: Sent) -> Mapping[str, Any]:
        """What the server says of the new submission; the file is sent unpacked."""
        with opened(file) as source, memoryview(source.data) as content:
            if key is None:  # a submission that is known already needs no slot
                refuse_early(self.phases(), phase, len(content))
            boundary = secrets.token_hex(16)
            disposition = 'content-disposition: form-data; name="predictions"; filename="predictions.json"'
            head = f"--{boundary}\r\n{disposition}\r\n\r\n".encode()
            kind = f"multipart/form-data; boundary={boundary}"
            body = [memoryview(head), content, memoryview(f"\r\n--{boundary}--\r\n".encode())]
            return self._submit(task, phase, key, kind, body, sent)

    def submit_image(self, task: str, image: str, phase: str | None, key: str | None) -> Mapping[str, Any]:
        if key is None:
            refuse_early(self.phases(), phase, None)
        body = [memoryview(json.dumps({"image": image}).encode())]
        return self._submit(task, phase, key, "application/json", body, lambda _: None)

    def submissions(self) -> list[Mapping[str, Any]]:
        """All of the team's, newest first."""
        found: list[Mapping[str, Any]] = self._ask("GET", "/submissions")
        return found

    def submission(self, submission_id: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self._ask("GET", f"/submissions/{quote(submission_id, safe='')}")
        return found

    def phases(self) -> Mapping[str, Any]:
        """And what is left of the team's quota."""
        found: Mapping[str, Any] = self._ask("GET", "/phases")
        return found

    def _submit(
        self, task: str, phase: str | None, key: str | None, kind: str, body: list[memoryview], sent: Sent
    ) -> Mapping[str, Any]:
        query = urlencode({"task": task} | ({} if phase is None else {"phase": phase}))
        headers = {"content-type": kind, "idempotency-key": key or secrets.token_hex(16)}
        made: Mapping[str, Any] = self._ask("POST", f"/submissions?{query}", headers, body, sent)
        return made

    def _ask(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str] | None = None,
        body: list[memoryview] | None = None,
        sent: Sent = lambda _: None,
    ) -> Any:
        """Again where the connection broke: what is asked for may be asked for twice."""
        for tries in range(1, _TRIES + 1):
            try:
                return self._once(method, path, headers or {}, body or [], sent)
            except _LostConnection as fault:
                if tries == _TRIES:
                    raise InfrastructureFault(f"{self.origin} cannot be reached: {one_line(fault)}") from None
            time.sleep(_REST_SECONDS * tries)
        raise AssertionError("the last try returns or raises")

    def _connection(self) -> http.client.HTTPConnection:
        if not self._secure:
            return http.client.HTTPConnection(self._host, self._port, timeout=_TIMEOUT_SECONDS)
        known = ssl.create_default_context()
        return http.client.HTTPSConnection(self._host, self._port, timeout=_TIMEOUT_SECONDS, context=known)

    def _once(self, method: str, path: str, headers: Mapping[str, str], body: list[memoryview], sent: Sent) -> Any:
        connection = self._connection()
        try:
            connection.putrequest(method, f"{_PREFIX}{path}", skip_accept_encoding=True)
            told = {"authorization": f"Bearer {self._token}", **headers}
            if body:
                told |= {"content-length": str(sum(map(len, body)))}
            for name, value in told.items():
                connection.putheader(name, value)
            connection.endheaders()
            with suppress(BrokenPipeError, ConnectionResetError):  # refused meanwhile: the answer says why
                for chunk in (part[at : at + _CHUNK] for part in body for at in range(0, len(part), _CHUNK)):
                    connection.send(chunk)
                    sent(len(chunk))
            answer = connection.getresponse()
            return _understood(answer.status, answer.read(_MOST_ANSWER), self.origin)
        except (OSError, http.client.HTTPException) as fault:
            raise _LostConnection(str(fault) or type(fault).__name__) from None
        finally:
            connection.close()


def _understood(status: int, content: bytes, origin: str) -> Any:
    """The answer; a refusal as the server's own sentence, with the exit code that it names."""
    try:
        told = json.loads(content)
    except ValueError:
        told = None
    if 200 <= status < 300 and told is not None:
        return told
    if isinstance(told, dict) and isinstance(told.get("detail"), str):
        raise _KINDS.get(told.get("exit_code", 75), InfrastructureFault)(one_line(told["detail"], 1000))
    if status in (502, 503, 504):
        raise InfrastructureFault(f"{origin} answers {status}; try again later")
    raise UsageFault(f"{origin} answers {status}: no server of sandscore is there")


def refuse_early(phases: Mapping[str, Any], phase: str | None, size: int | None) -> None:
    """What the server would refuse, before anything is sent: no slot, or too large a file."""
    for one in phases["phases"]:
        if one["open"] and phase in (None, one["phase"]) and (phase is not None or len(phases["phases"]) == 1):
            if one["refused"] is not None:
                raise ParticipantFault(one_line(one["refused"], 1000))
            if size is not None and one["most_bytes"] is not None and size > one["most_bytes"]:
                raise ParticipantFault(f"the file has {size:,} bytes, and at most {one['most_bytes']:,} are taken")


def find_token(origin: str) -> str:
    """From the environment, or from the file, which is its owner's alone."""
    if told := os.environ.get(TOKEN, "").strip():
        return told
    path = token_file()
    try:
        mode = path.stat().st_mode
        known = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise UsageFault(f'there is no token: set {TOKEN}, or write {{"{origin}": "TOKEN"}} to {path}') from None
    except (OSError, ValueError) as fault:
        raise UsageFault(f"{path} cannot be read: {one_line(fault)}") from None
    if stat.S_IMODE(mode) & 0o077:
        raise UsageFault(f"{path} may be read by others: chmod 600 {path}")
    if not isinstance(known, dict) or not isinstance(known.get(origin), str):
        raise UsageFault(f"{path} has no token for {origin}")
    token: str = known[origin]
    return token.strip()


def token_file() -> Path:
    """Tokens by address, as JSON."""
    place = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(place) / "sandscore" / "tokens.json"


def _is_here(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
