"""The client."""

from __future__ import annotations

from types import TracebackType
from typing import Any, TypeVar

import httpx

from .. import _request as shared
from ..generated import models as m
from . import nouns
from .brief import AsyncSessionBrief
from .transport import AsyncTransport

T = TypeVar("T")

DEFAULT_URL = "http://127.0.0.1:7300"


class AsyncMuster:
    """A client of one Muster, for one key. Close it, or use it as a context.

    :param url: address of the API; the default is where ``npm start`` listens
    :param key: API key; a server in open mode on the same machine needs none
    :param timeout: the most seconds that one try of a call may take, beside those that it asks the server to wait
    :param retries: how many times a call is repeated where that is safe
    :param http: another client of httpx, for a proxy or a test; it is not closed
    """

    def __init__(self, url: str = DEFAULT_URL, key: str | None = None, *, timeout: float = 30, retries: int = 4, http: httpx.AsyncClient | None = None) -> None:
        self._owned = httpx.AsyncClient() if http is None else None
        self._transport = AsyncTransport(url.rstrip("/"), key, timeout, retries, http or self._owned or httpx.AsyncClient())
        self.subtasks = nouns.AsyncSubtasks(self._transport)
        self.tasks = nouns.AsyncTasks(self._transport)
        self.schedules = nouns.AsyncSchedules(self._transport)
        self.questions = nouns.AsyncQuestions(self._transport)
        self.evaluations = nouns.AsyncEvaluations(self._transport)
        self.subagents = nouns.AsyncSubagents(self._transport)
        self.guides = nouns.AsyncGuides(self._transport)
        self.memory = nouns.AsyncMemory(self._transport)
        self.sessions = nouns.AsyncSessions(self._transport)
        self.inbox = nouns.AsyncInbox(self._transport)
        self.projects = nouns.AsyncProjects(self._transport)
        self.keys = nouns.AsyncKeys(self._transport)
        self.server = nouns.AsyncServer(self._transport)
        self.webhooks = nouns.AsyncWebhooks(self._transport)
        self.deliveries = nouns.AsyncDeliveries(self._transport)
        self.workers = nouns.AsyncWorkers(self._transport)
        self.audit = nouns.AsyncAudit(self._transport)
        self.events = nouns.AsyncEvents(self._transport)

    async def usage(self, *, since: str | None = None, until: str | None = None, by: str | None = None) -> m.UsageReport:
        """Tokens and dollars that were used."""
        return await self._transport.call("getUsage", m.UsageReport, query={"since": since, "until": until, "by": by})

    def brief(self, session: str) -> AsyncSessionBrief:
        """What a session of an agent receives, for the loop that calls its model."""
        return AsyncSessionBrief(session, self.sessions)

    async def call(self, operation: str, model: type[T], **input: Any) -> T:
        """Any operation of openapi.yaml by its id: ``path``, ``query``, ``body``, ``headers``, ``idempotency_key``. Raises MusterError."""
        return await self._transport.call(operation, model, **input)

    # asyncio only
    def with_key(self, key: str) -> AsyncMuster:
        """A client with another key that shares its connections."""
        return AsyncMuster(self._transport.url, key, timeout=self._transport.timeout, retries=self._transport.retries, http=self._transport.http)

    def worker(self, runner: str, work: Work, *, concurrency: int = 1, name: str | None = None, lease_seconds: int = 60) -> Worker:
        """Works on the subtasks of a runner: ``await muster.worker("external", work).run()``."""
        return Worker(runner, work, self._transport, self.with_key, concurrency=concurrency, name=name, lease_seconds=lease_seconds)

    # end
    async def aclose(self) -> None:
        """Closes its connections."""
        if self._owned is not None:
            await self._owned.aclose()

    async def __aenter__(self) -> AsyncMuster:
        return self

    async def __aexit__(self, type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        await self.aclose()


# asyncio only
from .worker import Work, Worker  # noqa: E402
# end
