"""Streams of events that continue over lost connections, and polls that outlast a server that is away."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeVar

from .. import _request as shared
from .._sse import EventReader
from ..errors import MusterError
from ..generated.models import Event
from .transport import AsyncTransport, EndOfStream

T = TypeVar("T")

ENDS = ("subtask.completed", "subtask.failed", "subtask.cancelled")


async def follow_events(
    transport: AsyncTransport,
    operation: str,
    *,
    after: int | None,
    path: dict[str, str] | None = None,
    query: dict[str, Any] | None = None,
    is_over: Callable[[], Awaitable[bool]] | None = None,
) -> AsyncIterator[Event]:
    """Each event once, in order, over restarts of the server. Raises MusterError where a repetition would not help, such as ``cursor_pruned``."""
    last_id = None if after is None else str(after)
    failures = 0
    while True:
        received = 0
        reader = EventReader()
        headers = {"accept": "text/event-stream", **({} if last_id is None else {"last-event-id": last_id})}
        try:
            async for chunk in transport.chunks(operation, silent_seconds=shared.SILENT_SECONDS, path=path, query=query, headers=headers):
                for id, data in reader.feed(chunk):
                    failures = 0
                    last_id = id or last_id
                    if data == "":
                        continue
                    received += 1
                    event = shared.read(Event, data.encode(), 200)
                    yield event
                    if is_over is not None and event.type in ENDS:
                        return
        except EndOfStream:
            return
        except MusterError as error:
            if not error.retryable:
                raise
            failures += 1
            await asyncio.sleep(shared.patience(error, failures - 1))
            continue
        # A server that stops closes its streams. One without a single event may also be of a subtask whose events were removed.
        if received == 0 and is_over is not None and await is_over():
            return
        await asyncio.sleep(shared.backoff_seconds(failures))


async def poll_until(poll: Callable[[], Awaitable[T]], is_final: Callable[[T], bool]) -> T:
    """Repeats a long poll until its answer is final. A server that is away or busy is waited for."""
    failures = 0
    while True:
        try:
            value = await poll()
            failures = 0
            if is_final(value):
                return value
        except MusterError as error:
            if not error.retryable:
                raise
            await asyncio.sleep(shared.patience(error, failures))
            failures += 1
