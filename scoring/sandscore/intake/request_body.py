"""The body of a request as it comes: no faster than it is written, no slower than it may be, never whole in memory.

Forms are read part by part. Whatever is wrong with one is a refusal; nothing of a file is looked at.
"""

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator

from python_multipart.exceptions import MultipartParseError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect, Request

from sandscore.intake.problem_details import Refusal

SILENT_SECONDS, WHOLE_SECONDS = 30.0, 900.0
"""Without a byte, and from the headers to the last byte."""
LEAST_RATE = 1024
"""Bytes a second, once the first half minute is over."""
_FIELD_BYTES, _FIELDS = 4096, 16
FORM, JSON = "multipart/form-data", "application/json"


class BodyStream:
    """Chunks of a body, each of them waited for only so long."""

    def __init__(self, request: Request) -> None:
        self._request, self._begun = request, time.monotonic()
        self._more, self._size = True, 0

    async def chunk(self) -> bytes | None:
        """None at the end."""
        while self._more:
            spent = time.monotonic() - self._begun
            try:
                message = await asyncio.wait_for(
                    self._request.receive(), min(SILENT_SECONDS, max(0.0, WHOLE_SECONDS - spent))
                )
            except TimeoutError:
                raise _too_slow() from None
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            found: bytes = message.get("body", b"")
            self._more, self._size = message.get("more_body", False), self._size + len(found)
            if self._more and spent > SILENT_SECONDS and self._size < LEAST_RATE * spent:
                raise _too_slow()
            if found:
                return found
        return None

    async def whole(self, most: int) -> bytes:
        """A body that is short."""
        found = b""
        while (chunk := await self.chunk()) is not None:
            found += chunk
            if len(found) > most:
                raise Refusal("too_large", f"the body has more than {most:,} bytes")
        return found


def _too_slow() -> Refusal:
    longest = f"{WHOLE_SECONDS / 60:.0f} minutes the most"
    return Refusal("too_slow", f"{LEAST_RATE:,} bytes a second are the least, and {longest}")


class FormBody:
    """A form: short fields first, then at most one file."""

    def __init__(self, request: Request) -> None:
        kind, options = parse_options_header(request.headers.get("content-type", ""))
        if kind != FORM.encode() or not options.get(b"boundary"):
            raise Refusal("media_type", f"the body must be {FORM}")
        self._stream = BodyStream(request)
        self._found: deque[tuple[str, bytes]] = deque()
        self._header, self._value, self._said = b"", b"", b""
        self._parser = MultipartParser(
            options[b"boundary"],
            {
                "on_part_begin": self._part_begin,
                "on_part_data": self._part_data,
                "on_part_end": self._part_end,
                "on_header_field": self._header_field,
                "on_header_value": self._header_value,
                "on_header_end": self._header_end,
                "on_headers_finished": self._headers_finished,
                "on_end": self._end,
            },
        )

    async def fields(self) -> dict[str, str]:
        """Those that stand before the file."""
        found: dict[str, str] = {}
        name, value = "", b""
        while (event := await self._next())[0] != "end":
            what, data = event
            if what == "file":
                return found
            if what == "field":
                name, value = data.decode("utf-8", "replace"), b""
            elif what == "data":
                value += data
                if len(value) > _FIELD_BYTES:
                    raise Refusal("too_large", "a field of the form is too long")
            else:
                found[name] = value.decode("utf-8", "replace").strip()
                if len(found) > _FIELDS:
                    raise Refusal("bad_request", "the form has too many fields")
        self._found.append(event)
        return found

    async def file(self) -> AsyncIterator[bytes]:
        """Its bytes, once ``fields`` has come to it; what follows it must be the end."""
        while (event := await self._next())[0] == "data":
            yield event[1]
        if event[0] != "done" or (await self._next())[0] != "end":
            raise Refusal("bad_request", "a form has one file, which stands at its end")
        while await self._stream.chunk() is not None:
            pass  # what follows a form means nothing

    async def _next(self) -> tuple[str, bytes]:
        while not self._found:
            chunk = await self._stream.chunk()
            if chunk is None:
                raise Refusal("bad_request", "the form is cut short")
            try:
                self._parser.write(chunk)
            except MultipartParseError:
                raise Refusal("bad_request", "the form cannot be read") from None
        return self._found.popleft()

    def _part_begin(self) -> None:
        self._said = b""

    def _header_field(self, data: bytes, start: int, end: int) -> None:
        self._header += data[start:end]

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _header_end(self) -> None:
        if self._header.lower() == b"content-disposition":
            self._said = self._value
        self._header, self._value = b"", b""

    def _headers_finished(self) -> None:
        _, options = parse_options_header(self._said)
        self._found.append(("file" if b"filename" in options else "field", options.get(b"name", b"")))

    def _part_data(self, data: bytes, start: int, end: int) -> None:
        self._found.append(("data", data[start:end]))

    def _part_end(self) -> None:
        self._found.append(("done", b""))

    def _end(self) -> None:
        self._found.append(("end", b""))
