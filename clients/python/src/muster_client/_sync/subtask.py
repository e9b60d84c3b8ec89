# Generated from _async/subtask.py by scripts/check/python-client.ts. Do not edit.
"""A subtask, to wait for, follow, steer and cancel."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from .. import _request as shared
from ..generated import models as m
from .follow import follow_events, poll_until
from .transport import Transport

FINAL = ("completed", "failed", "cancelled")


class SubtaskHandle:
    def __init__(self, transport: Transport, id: str, subtask: m.Subtask | None = None) -> None:
        self.id = id
        #: As it was when it was spawned; None for a handle that was made of an id.
        self.subtask = subtask
        self._transport = transport
        self._path = {"id": id}

    def get(self) -> m.Subtask:
        """The subtask as it is now."""
        return self._transport.call("getSubtask", m.Subtask, path=self._path)

    def result(self) -> m.Subtask:
        """The subtask when it has ended, whatever its outcome: read ``status`` and ``final_outcome``. Waits as long as it takes, also over restarts of the server."""
        if self.subtask is not None and self.subtask.status in FINAL:
            return self.subtask

        def poll() -> m.Subtask:
            return self._transport.call("getSubtask", m.Subtask, path=self._path, query={"wait_seconds": shared.WAIT_SECONDS})

        return poll_until(poll, lambda subtask: subtask.status in FINAL)

    def events(self, after: int | None = None) -> Iterator[m.Event]:
        """Its events from the first, until it ends."""

        def is_over() -> bool:
            # A server that closes its streams goes away: it is waited for, as the stream is.
            subtask = self._transport.call("getSubtask", m.Subtask, path=self._path, retries=sys.maxsize)
            return subtask.status in FINAL

        for event in follow_events(self._transport, "streamSubtaskEvents", after=after, path=self._path, is_over=is_over):
            yield event

    def follow(self, after: int | None = None) -> Iterator[m.Event | m.Step]:
        """Its events and the steps of its transcript as they happen, until it ends. Needs the scopes ``events:read`` and ``subtasks:read``."""
        cursor: str | None = None
        last_seq = 0
        for event in self.events(after):
            while True:
                # The last page again, because it may have grown since. The events outlive an outage, and so must what is read between two of them.
                page = self._transport.call("listSubtaskSteps", dict[str, Any], path=self._path, query={"cursor": cursor}, retries=sys.maxsize)
                steps, next_cursor = shared.items_of(m.Step, page)
                for step in steps:
                    if step.seq > last_seq:
                        last_seq = step.seq
                        yield step
                if next_cursor is None:
                    break
                cursor = next_cursor
            yield event

    def steer(self, content: str, **fields: Any) -> m.Update:
        """Sends an update to the run. Its receipt is in ``updates``."""
        return self._transport.call("steerSubtask", m.Update, path=self._path, body={"content": content, **fields})

    def cancel(self) -> m.Subtask:
        """Asks for its end. A pending subtask is cancelled at once, a running one as soon as its worker stops it."""
        return self._transport.call("cancelSubtask", m.Subtask, path=self._path)
