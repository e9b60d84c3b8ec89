"""Server-sent events, as the HTML standard reads them."""

from __future__ import annotations

import re
from collections.abc import Iterator

#: httpx splits lines at U+2028 too, which JSON may contain.
LINE_END = re.compile(rb"\r\n|\n|\r(?!$)")


class LineReader:
    """Lines that end with CR, LF or both, over the limits of chunks."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, chunk: bytes) -> Iterator[str]:
        *lines, self._rest = LINE_END.split(self._rest + chunk)
        for line in lines:
            yield line.decode(errors="replace")

    def end(self) -> Iterator[str]:
        if self._rest != b"":
            yield self._rest.rstrip(b"\r").decode(errors="replace")


class EventReader:
    """Messages as ``(id, data)``. An id without data counts for the next reconnection, and comes with empty data."""

    def __init__(self) -> None:
        self._lines = LineReader()
        self._id: str | None = None
        self._data: list[str] = []

    def feed(self, chunk: bytes) -> Iterator[tuple[str | None, str]]:
        for line in self._lines.feed(chunk):
            if line == "":
                if self._data or self._id is not None:
                    yield self._id, "\n".join(self._data)
                self._id, self._data = None, []
                continue
            field, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if field == "data":
                self._data.append(value)
            elif field == "id" and "\0" not in value:
                self._id = value
