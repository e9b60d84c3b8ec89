# Generated from _async/client.py by scripts/check/python-client.ts. Do not edit.
"""The client."""

from __future__ import annotations

from types import TracebackType
from typing import Any, TypeVar

import httpx

from .. import _request as shared
from ..generated import models as m
from . import nouns
from .brief import SessionBrief
from .transport import Transport

T = TypeVar("T")

DEFAULT_URL = "http://127.0.0.1:7300"


class Muster:
    """A client of one Muster, for one key. Close it, or use it as a context.

    :param url: address of the API; the default is where ``npm start`` listens
    :param key: API key; a server in open mode on the same machine needs none
    :param timeout: the most seconds that one try of a call may take, beside those that it asks the server to wait
    :param retries: how many times a call is repeated where that is safe
    :param http: another client of httpx, for a proxy or a test; it is not closed
    """

    def __init__(self, url: str = DEFAULT_URL, key: str | None = None, *, timeout: float = 30, retries: int = 4, http: httpx.Client | None = None) -> None:
        self._owned = httpx.Client() if http is None else None
        self._transport = Transport(url.rstrip("/"), key, timeout, retries, http or self._owned or httpx.Client())
        self.subtasks = nouns.Subtasks(self._transport)
        self.tasks = nouns.Tasks(self._transport)
        self.schedules = nouns.Schedules(self._transport)
        self.questions = nouns.Questions(self._transport)
        self.evaluations = nouns.Evaluations(self._transport)
        self.subagents = nouns.Subagents(self._transport)
        self.guides = nouns.Guides(self._transport)
        self.memory = nouns.Memory(self._transport)
        self.sessions = nouns.Sessions(self._transport)
        self.inbox = nouns.Inbox(self._transport)
        self.projects = nouns.Projects(self._transport)
        self.keys = nouns.Keys(self._transport)
        self.server = nouns.Server(self._transport)
        self.webhooks = nouns.Webhooks(self._transport)
        self.deliveries = nouns.Deliveries(self._transport)
        self.workers = nouns.Workers(self._transport)
        self.audit = nouns.Audit(self._transport)
        self.events = nouns.Events(self._transport)

    def usage(self, *, since: str | None = None, until: str | None = None, by: str | None = None) -> m.UsageReport:
        """Tokens and dollars that were used."""
        return self._transport.call("getUsage", m.UsageReport, query={"since": since, "until": until, "by": by})

    def brief(self, session: str) -> SessionBrief:
        """What a session of an agent receives, for the loop that calls its model."""
        return SessionBrief(session, self.sessions)

    def call(self, operation: str, model: type[T], **input: Any) -> T:
        """Any operation of openapi.yaml by its id: ``path``, ``query``, ``body``, ``headers``, ``idempotency_key``. Raises MusterError."""
        return self._transport.call(operation, model, **input)

    def close(self) -> None:
        """Closes its connections."""
        if self._owned is not None:
            self._owned.close()

    def __enter__(self) -> Muster:
        return self

    def __exit__(self, type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        self.close()


