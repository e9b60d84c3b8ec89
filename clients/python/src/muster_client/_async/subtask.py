"""A subtask, to wait for, follow, steer and cancel."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from typing import Any

from .. import _request as shared
from ..generated import models as m
from .follow import follow_events, poll_until
from .transport import AsyncTransport

FINAL = ("completed", "failed", "cancelled")


class AsyncSubtaskHandle:
    def __init__(self, transport: AsyncTransport, id: str, subtask: m.Subtask | None = None) -> None:
        self.id = id
        #: As it was when it was spawned; None for a handle that was made of an id.
        self.subtask = subtask
        self._transport = transport
        self._path = {"id": id}

    async def get(self) -> m.Subtask:
        """The subtask as it is now."""
        return await self._transport.call("getSubtask", m.Subtask, path=self._path)

    async def result(self) -> m.Subtask:
        """The subtask when it has ended, whatever its outcome: read ``status`` and ``final_outcome``. Waits as long as it takes, also over restarts of the server."""
        if self.subtask is not None and self.subtask.status in FINAL:
            return self.subtask

        async def poll() -> m.Subtask:
            return await self._transport.call("getSubtask", m.Subtask, path=self._path, query={"wait_seconds": shared.WAIT_SECONDS})

        return await poll_until(poll, lambda subtask: subtask.status in FINAL)

    async def events(self, after: int | None = None) -> AsyncIterator[m.Event]:
        """Its events from the first, until it ends."""

        async def is_over() -> bool:
            # A server that closes its streams goes away: it is waited for, as the stream is.
            subtask = await self._transport.call("getSubtask", m.Subtask, path=self._path, retries=sys.maxsize)
            return subtask.status in FINAL

        async for event in follow_events(self._transport, "streamSubtaskEvents", after=after, path=self._path, is_over=is_over):
            yield event

    async def follow(self, after: int | None = None) -> AsyncIterator[m.Event | m.Step]:
        """Its events and the steps of its transcript as they happen, until it ends. Needs the scopes ``events:read`` and ``subtasks:read``."""
        cursor: str | None = None
        last_seq = 0
        async for event in self.events(after):
            while True:
                # The last page again, because it may have grown since. The events outlive an outage, and so must what is read between two of them.
                page = await self._transport.call("listSubtaskSteps", dict[str, Any], path=self._path, query={"cursor": cursor}, retries=sys.maxsize)
                steps, next_cursor = shared.items_of(m.Step, page)
                for step in steps:
                    if step.seq > last_seq:
                        last_seq = step.seq
                        yield step
                if next_cursor is None:
                    break
                cursor = next_cursor
            yield event

    async def steer(self, content: str, **fields: Any) -> m.Update:
        """Sends an update to the run. Its receipt is in ``updates``."""
        return await self._transport.call("steerSubtask", m.Update, path=self._path, body={"content": content, **fields})

    async def cancel(self) -> m.Subtask:
        """Asks for its end. A pending subtask is cancelled at once, a running one as soon as its worker stops it."""
        return await self._transport.call("cancelSubtask", m.Subtask, path=self._path)
