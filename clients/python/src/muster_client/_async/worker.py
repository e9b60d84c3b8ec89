"""A worker: claims the subtasks of a runner and works on them, until it is stopped."""

from __future__ import annotations

import asyncio
import inspect
import sys
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

from .. import _request as shared
from ..errors import MusterError
from ..generated import models as m
from .transport import AsyncTransport

if TYPE_CHECKING:
    from .client import AsyncMuster

T = TypeVar("T")

#: A claim is not ended by ``stop``, because the server may have granted it. So this is how long an idle worker takes to stop.
CLAIM_WAIT_SECONDS = 2
#: The server takes so many steps, or acknowledgements, in one heartbeat.
MOST = 1000


class RunStopped(Exception):
    """Why a run has to stop: ``cancelled``, ``lease_lost`` or ``worker_stopped``."""

    def __init__(self, why: str) -> None:
        super().__init__({"cancelled": "The subtask was cancelled.", "lease_lost": "Another worker has the subtask."}.get(why, "This worker stops."))
        self.why = why


class PermanentError(Exception):
    """Raise it from the work if another attempt cannot succeed."""


class Suspended:
    """What ``suspend`` returns: return it from the work."""


Work = Callable[["Run"], Awaitable["str | Mapping[str, Any] | Suspended"]]


class Run:
    """One attempt at a subtask, held by a worker under a lease that is renewed for it."""

    def __init__(self, claimed: m.ClaimedSubtask, lease_seconds: int, transport: AsyncTransport, muster: AsyncMuster) -> None:
        self.id = claimed.subtask.id
        self.subtask = claimed.subtask
        self.brief = claimed.brief
        #: The complete prompt for an agent: the brief as one text.
        self.prompt = claimed.brief.text
        #: Counts the attempts at the subtask, from 1.
        self.attempt = claimed.lease.attempt
        #: What the attempt before left with ``suspend``.
        self.continuation = None if claimed.brief.continuation is None else claimed.brief.continuation.state
        #: A client with the subtask's own credential: it reads its own work and asks, and starts no work.
        self.muster = muster
        #: Why the work is to stop. Its task is cancelled then.
        self.stopped: BaseException | None = None
        self._transport = transport
        self._token = claimed.lease.token
        self._lease_seconds = lease_seconds
        self._steps: list[dict[str, Any]] = []
        self._acknowledged: list[str] = []
        self._usage: dict[str, Any] = {}
        self._unread: list[m.WordedUpdate] = []
        self._seen: set[str] = set()
        self._listener: Callable[[m.WordedUpdate], object] | None = None
        self._hearing: set[asyncio.Future[None]] = set()
        self._beating = asyncio.Lock()
        self._task: asyncio.Future[Any] | None = None
        #: The worker stops, also where the run was to stop for another reason before.
        self._is_leaving = False

    def step(self, kind: str, content: Any) -> None:
        """Adds a step to the transcript. It is sent with the next heartbeat or checkpoint."""
        self._steps.append({"kind": kind, "content": content})

    def use(self, **usage: Any) -> None:
        """Reports what was used since the last report; amounts are added up."""
        for name, value in usage.items():
            self._usage[name] = self._usage.get(name, 0) + value if isinstance(value, (int, float)) else value

    def on_update(self, listener: Callable[[m.WordedUpdate], object]) -> None:
        """Calls the listener with each update, which is acknowledged when the listener, or what it returns to be awaited, is done.

        Without a listener, ``checkpoint`` returns updates.
        """
        self._listener = listener
        waiting, self._unread = self._unread, []
        for update in waiting:
            self._deliver(update)

    async def checkpoint(self) -> list[m.WordedUpdate]:
        """Stores the steps so far now, and returns the updates that have come since, which are thereby acknowledged. Raises RunStopped if the work is to stop."""
        await self._beat()
        if self.stopped is not None:
            raise self.stopped
        updates, self._unread = self._unread, []
        self._acknowledged.extend(update.id for update in updates)
        return updates

    async def ask(self, prompt: str, **fields: Any) -> m.Question:
        """Asks the parent session, and waits for the answer while the run keeps its place and its lease. ``suspend`` waits without a process."""
        question = await self._ask(prompt, fields)
        return await self.muster.questions.closed(question.id)

    async def suspend(self, continuation: str, prompt: str, **fields: Any) -> Suspended:
        """Asks, and ends this attempt until the answer is there. The next attempt has ``continuation``, and the answer in its prompt."""
        question = await self._ask(prompt, fields)
        await self._flush()
        await self._write("waitForAnswer", {"question_id": question.id, "continuation": continuation})
        return Suspended()

    async def _ask(self, prompt: str, fields: Mapping[str, Any]) -> m.Question:
        # A server that is away is waited for, until the work is to stop.
        body = {"prompt": prompt, **fields}
        return await self.muster._transport.call("askAboutSubtask", m.Question, path={"id": self.id}, body=body, retries=sys.maxsize)

    def stop(self, reason: BaseException) -> None:
        """Tells the work to stop, by cancelling its task."""
        if isinstance(reason, RunStopped) and reason.why == "worker_stopped":
            self._is_leaving = True
        if self.stopped is None:
            self.stopped = reason
            if self._task is not None:
                self._task.cancel()

    async def _execute(self, work: Work) -> str | Mapping[str, Any] | Suspended:
        if self.stopped is not None:
            raise self.stopped
        task = asyncio.ensure_future(work(self))
        self._task = task
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            # The worker itself is cancelled: the work ends first.
            task.cancel()
            await asyncio.wait([task])
            raise
        finally:
            self._task = None
        if task.cancelled():
            # What cancels itself fails as what raises.
            raise self.stopped or RuntimeError("The work was cancelled, and not by its worker.")
        return task.result()

    async def _keep_alive(self) -> None:
        while True:
            await asyncio.sleep(self._lease_seconds / 3)
            try:
                await self._beat()
            except Exception as error:
                self.stop(error)
                if isinstance(error, RunStopped):
                    return

    async def _flush(self) -> None:
        while self._steps or self._acknowledged or self._usage:
            await self._beat()

    async def _write(self, operation: str, body: Mapping[str, Any]) -> None:
        key = str(uuid4())
        sent = {"lease_token": self._token, **body}
        await self._until_reached(lambda: self._transport.call(operation, m.Subtask, path={"id": self.id}, body=sent, idempotency_key=key))

    async def _beat(self) -> None:
        # One heartbeat after the other: a batch of steps has one place in the transcript.
        async with self._beating:
            steps, self._steps = self._steps[:MOST], self._steps[MOST:]
            acknowledged, self._acknowledged = self._acknowledged[:MOST], self._acknowledged[MOST:]
            usage, self._usage = self._usage, {}
            parts = {"steps": steps, "ack_update_ids": acknowledged, "usage": usage}
            body = {"lease_token": self._token, **{name: value for name, value in parts.items() if value}}
            key = str(uuid4())
            answer = await self._until_reached(
                lambda: self._transport.call("heartbeat", m.HeartbeatAnswer, path={"id": self.id}, body=body, idempotency_key=key)
            )
        for update in answer.updates:
            if update.id not in self._seen:
                self._seen.add(update.id)
                self._deliver(update)
        if answer.cancel_requested:
            self.stop(RunStopped("cancelled"))

    async def _until_reached(self, write: Callable[[], Awaitable[T]]) -> T:
        """Repeats a write while the server is away. Its lease may run out meanwhile; then the server decides whether another worker has the subtask."""
        failures = 0
        while True:
            try:
                return await write()
            except MusterError as error:
                if error.code == "lease_lost":
                    self.stop(RunStopped("lease_lost"))
                    raise RunStopped("lease_lost") from error
                # A worker that stops does not wait for a server that is away: the lease runs out.
                if self._is_leaving or not error.retryable:
                    raise
                await asyncio.sleep(shared.patience(error, failures))
                failures += 1

    def _deliver(self, update: m.WordedUpdate) -> None:
        if self._listener is None:
            self._unread.append(update)
            return
        heard = self._listener(update)
        if not inspect.isawaitable(heard):
            self._acknowledged.append(update.id)
            return
        hearing = asyncio.ensure_future(self._hear(heard, update.id))
        self._hearing.add(hearing)
        hearing.add_done_callback(self._hearing.discard)

    async def _hear(self, heard: Awaitable[object], id: str) -> None:
        try:
            await heard
            self._acknowledged.append(id)
        except Exception as error:
            self.stop(error)


class Worker:
    """Claims the subtasks of a runner and works on them, at most ``concurrency`` at once."""

    def __init__(
        self,
        runner: str,
        work: Work,
        transport: AsyncTransport,
        with_key: Callable[[str], AsyncMuster],
        *,
        concurrency: int,
        name: str | None,
        lease_seconds: int,
    ) -> None:
        if concurrency < 1:
            raise ValueError("concurrency must be at least 1.")
        self.name = name or f"worker-{uuid4().hex[:8]}"
        self._runner = runner
        self._work = work
        self._transport = transport
        self._with_key = with_key
        self._concurrency = concurrency
        self._lease_seconds = lease_seconds
        self._stopping = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._runs: dict[asyncio.Task[None], Run] = {}

    async def run(self) -> None:
        """Works until it is stopped. Raises MusterError if the server refuses it, such as with ``forbidden``. If its task is cancelled, it returns what it holds."""
        self._idle.clear()
        try:
            await self._claim_until_stopped()
        except asyncio.CancelledError:
            self._stop_runs()
            raise
        finally:
            if self._runs:
                await asyncio.wait(self._runs)
            self._idle.set()

    async def stop(self, grace_seconds: float | None = None) -> None:
        """Claims no more, and returns when the runs have ended.

        After ``grace_seconds`` those that are left are cancelled, and what does not complete is returned for another worker without counting as a failure.
        """
        self._stopping.set()
        if self._runs:
            await asyncio.wait(self._runs, timeout=grace_seconds)
        self._stop_runs()
        # A claim that was under way may be granted still: what it brings is returned.
        await self._idle.wait()

    def _stop_runs(self) -> None:
        self._stopping.set()
        for run in self._runs.values():
            run.stop(RunStopped("worker_stopped"))

    async def _claim_until_stopped(self) -> None:
        failures = 0
        key = str(uuid4())
        while not self._stopping.is_set():
            if len(self._runs) >= self._concurrency:
                await asyncio.wait(self._runs, return_when=asyncio.FIRST_COMPLETED)
                continue
            try:
                claimed = await self._claim(key)
                failures = 0
                key = str(uuid4())
            except MusterError as error:
                if error.code == "lease_lost":
                    # The claim that it repeats was granted, and its answer was lost for longer than the lease.
                    key = str(uuid4())
                    continue
                if not error.retryable:
                    raise
                await self._pause(shared.patience(error, failures))
                failures += 1
                continue
            if claimed is not None:
                self._start(claimed)

    async def _claim(self, key: str) -> m.ClaimedSubtask | None:
        """With one key until there is an answer: a claim that was granted is answered again, instead of waiting for the end of its lease."""
        body = {"runner": self._runner, "worker_id": self.name, "lease_seconds": self._lease_seconds, "wait_seconds": CLAIM_WAIT_SECONDS}
        response = await self._transport.send("claimSubtask", body=body, idempotency_key=key)
        return None if response.status_code == 204 else shared.read(m.ClaimedSubtask, response.content, response.status_code)

    async def _pause(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._stopping.wait(), seconds)
        except asyncio.TimeoutError:
            return

    def _start(self, claimed: m.ClaimedSubtask) -> None:
        run = Run(claimed, self._lease_seconds, self._transport, self._with_key(claimed.credential))
        if self._stopping.is_set():
            run.stop(RunStopped("worker_stopped"))
        task = asyncio.create_task(self._hold(run))
        self._runs[task] = run
        task.add_done_callback(lambda done: self._runs.pop(done, None))

    async def _hold(self, run: Run) -> None:
        heartbeats = asyncio.create_task(run._keep_alive())
        try:
            try:
                result = await run._execute(self._work)
                if isinstance(result, Suspended):
                    return
                await run._flush()
                await run._write("completeSubtask", {"result": result} if isinstance(result, str) else result)
            except Exception as error:
                await self._give_up(run, error)
        finally:
            heartbeats.cancel()

    async def _give_up(self, run: Run, error: Exception) -> None:
        """Stores that an attempt failed, or returns its subtask. Where the lease is lost there is nothing to store."""
        why = run.stopped.why if isinstance(run.stopped, RunStopped) else None
        if why == "lease_lost":
            return
        try:
            try:
                await run._flush()
            except Exception:
                # Reports that cannot be stored, or sent at all, must not keep the end from being stored.
                pass
            if why == "worker_stopped":
                await run._write("releaseSubtask", {})
            else:
                retryable = why is None and not isinstance(error, PermanentError)
                await run._write("failSubtask", {"error": str(error) or "The work failed without a message.", "retryable": retryable})
        except (MusterError, RunStopped):
            # The subtask has ended elsewhere, or another worker has it. Otherwise its lease runs out, and it is tried again.
            return
