"""What the client does with answers, on a transport without a network, and over outages, on a far side on loopback. The tests with a server are in tests/client-packages.test.ts."""

from __future__ import annotations

import asyncio
import json
import unittest
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, AsyncIterator

import httpx

from muster_client import AsyncMuster, Muster, MusterError, Run, Suspended
from muster_client._request import backoff_seconds
from muster_client.models import WordedUpdate
from muster_client.openai import with_brief

Reply = Callable[[httpx.Request], httpx.Response]
Work = Callable[[Run], Awaitable[str]]

AT = "2026-03-02T08:00:00Z"
SUBTASK: dict[str, Any] = {
    **{name: None for name in ["parent_session_id", "task_id", "task_revision", "schedule_id", "subagent", "final_outcome", "result", "summary", "error"]},
    **{name: None for name in ["outputs", "worker_id", "model", "resume_of", "revision_of", "evaluation", "duration_ms", "waiting_for", "started_at"]},
    **{name: None for name in ["completed_at", "cancel_requested_at"]},
    **{name: 0 for name in ["attempt", "failures", "max_attempts", "timeout_seconds", "revision_round", "max_revisions", "lost_ms", "waited_ms"]},
    **{name: False for name in ["background", "result_truncated", "notify"]},
    **{"id": "s1", "agent_id": "a", "session_id": "x", "task": "Look.", "priority": "normal", "status": "completed", "required_outputs": [], "runner": "external"},
    "budget": {"max_steps": 1, "max_tokens": None, "max_cost_usd": None},
    "usage": {"input_tokens": 0, "output_tokens": 0, "cost_usd": 0, "steps": 0, "tool_calls": 0},
    "created_at": AT,
    "metadata": {},
}
CLAIMED: dict[str, Any] = {
    "subtask": SUBTASK,
    "session_id": "x",
    "credential": "c",
    "traceparent": None,
    "lease": {"token": "t", "attempt": 1, "expires_at": AT},
    "brief": {"text": "Look.", "task": "Look.", "criteria": [], "required_outputs": [], "revision": None, "feedback": None, "subagent": None, "continuation": None},
}
UPDATE: dict[str, Any] = {
    **{name: None for name in ["task_id", "diff", "revision", "delivered_to", "delivered_at", "acknowledged_at"]},
    **{"id": "u1", "update_id": "u1", "subtask_id": "s1", "update_type": "message", "fields": [], "delivery": "next_step", "status": "delivered"},
    **{"content": "Leave the tests out.", "text": "Leave the tests out.", "created_at": AT, "sender": {"kind": "key", "id": "k1", "name": None}},
}


def answer(status: int, body: object, **headers: str) -> Reply:
    return lambda request: httpx.Response(status, json=body, headers={name.replace("_", "-"): value for name, value in headers.items()})


def problem(status: int, code: str, retryable: bool, **headers: str) -> Reply:
    return answer(status, {"code": code, "detail": f"It is {code}.", "status": status, "retryable": retryable, "request_id": "r1"}, **headers)


def refuse(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("refused")


def lose(request: httpx.Request) -> httpx.Response:
    raise httpx.ReadError("lost")


def stream(*events: tuple[int, str]) -> Reply:
    def reply(request: httpx.Request) -> httpx.Response:
        subject = {"kind": "subtask", "id": "s1"}
        rest = {"at": "2026-03-02T08:00:00Z", "project_id": "p1", "subject": subject, "data": {"text": "a\u2028b"}, "actor": {"kind": "key", "id": "k1"}}
        frames = [f"id: {id}\r\nevent: {type}\r\ndata: {json.dumps({'id': id, 'type': type, **rest}, ensure_ascii=False)}\r\n\r\n" for id, type in events]
        return httpx.Response(200, content=("retry: 1000\n\n: still here\n\n" + "".join(frames)).encode())

    return reply


class Server:
    """Gives these replies in order, and the last one for ever."""

    def __init__(self, *replies: Reply) -> None:
        self.requests: list[httpx.Request] = []
        self._replies = list(replies)

    def muster(self, **options: Any) -> Muster:
        return Muster("http://muster.test/", "mst_1", http=httpx.Client(transport=httpx.MockTransport(self._reply)), **options)

    def _reply(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(request)
        return (self._replies.pop(0) if len(self._replies) > 1 else self._replies[0])(request)


class Calls(unittest.TestCase):
    def test_are_repeated_with_one_idempotency_key_until_the_server_answers(self) -> None:
        server = Server(lose, problem(503, "unavailable", True, retry_after="0"), answer(204, None))
        server.muster().sessions.acknowledge("a/b", "c1")
        self.assertEqual(len(server.requests), 3)
        self.assertEqual(len({request.headers["idempotency-key"] for request in server.requests}), 1)
        self.assertEqual(server.requests[0].url.raw_path, b"/sessions/a%2Fb/injections/c1/ack")
        self.assertEqual(server.requests[0].headers["authorization"], "Bearer mst_1")

    def test_never_become_other_ones_by_the_name_of_a_thing(self) -> None:
        server = Server(answer(200, {}))
        for id in ["", ".", ".."]:
            with self.assertRaises(TypeError):
                server.muster().memory.delete_fact(id)
        self.assertEqual(server.requests, [])

    def test_are_not_repeated_where_that_cannot_help(self) -> None:
        server = Server(problem(404, "not_found", False))
        with self.assertRaises(MusterError) as caught:
            server.muster().tasks.get("t1")
        self.assertTrue(caught.exception.is_("not_found"))
        self.assertEqual((caught.exception.status, str(caught.exception), caught.exception.request_id), (404, "It is not_found.", "r1"))
        self.assertEqual(len(server.requests), 1)

    def test_fail_at_once_where_retry_after_is_long(self) -> None:
        server = Server(problem(429, "budget_exhausted", True, retry_after="3600"))
        with self.assertRaises(MusterError) as caught:
            server.muster().subtasks.spawn(task="Look.")
        self.assertEqual(caught.exception.retry_after_seconds, 3600)
        self.assertEqual(len(server.requests), 1)

    def test_that_change_something_without_a_key_are_repeated_only_if_nothing_was_done(self) -> None:
        lost = Server(lose)
        with self.assertRaises(MusterError):
            lost.muster().tasks.revise("t1", 3, title="Other")
        self.assertEqual(len(lost.requests), 1)
        refused = Server(refuse, problem(503, "unavailable", True, retry_after="0"), problem(412, "revision_stale", False))
        with self.assertRaises(MusterError):
            refused.muster().tasks.revise("t1", 3, title="Other")
        self.assertEqual([request.headers["if-match"] for request in refused.requests], ['"3"'] * 3)

    def test_have_no_authorization_without_a_key_or_with_an_empty_one_of_the_environment(self) -> None:
        for key in (None, ""):
            server = Server(answer(200, {}))
            Muster("http://muster.test", key, http=httpx.Client(transport=httpx.MockTransport(server._reply))).call("listRunners", dict[str, Any])
            self.assertNotIn("authorization", server.requests[0].headers)

    def test_say_that_something_else_than_muster_answered(self) -> None:
        server = Server(lambda request: httpx.Response(502, text="<h1>Bad gateway</h1>"))
        with self.assertRaises(MusterError) as caught:
            server.muster(retries=0).tasks.get("t1")
        self.assertEqual((caught.exception.code, caught.exception.retryable), ("answer_invalid", True))


class Streams(unittest.TestCase):
    def test_continue_after_the_last_event_each_once(self) -> None:
        server = Server(stream((1, "subtask.created")), lose, stream((2, "subtask.started")), stream((3, "subtask.completed")))
        events = list(server.muster().subtasks.handle("s1").events())
        self.assertEqual([event.type for event in events], ["subtask.created", "subtask.started", "subtask.completed"])
        self.assertEqual([request.headers.get("last-event-id") for request in server.requests], [None, "1", "1", "2"])

    def test_end_with_an_error_that_no_repetition_mends(self) -> None:
        with self.assertRaises(MusterError):
            next(iter(Server(problem(410, "cursor_pruned", False)).muster().events.follow(after=1)))

    def test_end_where_the_server_says_that_there_is_no_more(self) -> None:
        self.assertEqual(list(Server(answer(204, None)).muster().subtasks.handle("s1").events(after=9)), [])

    def test_wait_for_a_server_that_closes_them_and_goes_away(self) -> None:
        server = Server(stream(), lose, lose, answer(200, SUBTASK), stream())
        self.assertEqual(list(server.muster(retries=0).subtasks.handle("s1").events()), [])
        self.assertEqual(len(server.requests), 4)


class Workers(unittest.IsolatedAsyncioTestCase):
    async def run_one(self, work: Work, updates: Sequence[Mapping[str, Any]] = ()) -> list[tuple[str, Any]]:
        """What a worker sends about its only run."""
        calls: list[tuple[str, Any]] = []

        def reply(request: httpx.Request) -> httpx.Response:
            verb = request.url.path.rsplit("/", 1)[-1]
            calls.append((verb, json.loads(request.content)))
            if verb == "claim":
                claims = [called for called, _ in calls].count("claim")
                return httpx.Response(200, json=CLAIMED) if claims == 1 else httpx.Response(204)
            if verb == "heartbeat":
                return httpx.Response(200, json={"expires_at": "2026-03-02T08:01:00Z", "cancel_requested": False, "updates": updates})
            return httpx.Response(200, json=SUBTASK)

        async with AsyncMuster("http://muster.test", http=httpx.AsyncClient(transport=httpx.MockTransport(reply)), retries=0) as muster:
            worker = muster.worker("external", work)
            working = asyncio.create_task(worker.run())
            while not any(verb in ("complete", "fail", "release") for verb, _ in calls):
                self.assertFalse(working.done())
                await asyncio.sleep(0)
            await worker.stop()
            self.assertTrue(worker._idle.is_set())
            await working
        return [call for call in calls if call[0] not in ("claim", "heartbeat")]

    async def test_store_why_an_attempt_failed_also_where_its_steps_cannot_be_sent(self) -> None:
        async def work(run: Run) -> str:
            run.step("message", object())
            raise ValueError("It broke.")

        self.assertEqual(await self.run_one(work), [("fail", {"lease_token": "t", "error": "It broke.", "retryable": True})])

    async def test_store_that_a_work_failed_which_was_cancelled_by_something_else(self) -> None:
        async def work(run: Run) -> str:
            raise asyncio.CancelledError

        [(verb, body)] = await self.run_one(work)
        self.assertEqual((verb, body["retryable"]), ("fail", True))

    async def test_acknowledge_an_update_when_the_listener_has_been_awaited(self) -> None:
        heard: list[str] = []

        async def work(run: Run) -> str:
            async def hear(update: WordedUpdate) -> None:
                await asyncio.sleep(0)
                heard.append(update.content)

            run.on_update(hear)
            await run.checkpoint()
            while not run._acknowledged:
                await asyncio.sleep(0)
            return run._acknowledged[0]

        [(_, body)] = await self.run_one(work, [UPDATE])
        self.assertEqual((heard, body["result"]), (["Leave the tests out."], "u1"))


Replies = Mapping[str, Sequence[Mapping[str, Any] | None]]


class FarSide:
    """A server on loopback that answers each verb by its replies in order. None loses the connection, and the last reply is for ever."""

    def __init__(self, replies: Replies) -> None:
        #: The verbs of all requests, in order.
        self.calls: list[str] = []
        left = {verb: list(each) for verb, each in replies.items()}
        calls = self.calls

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("content-length", 0)))
                verb = self.path.split("?")[0].rsplit("/", 1)[-1]
                calls.append(verb)
                waiting = left.get(verb, [None])
                reply = waiting.pop(0) if len(waiting) > 1 else waiting[0]
                if reply is None:
                    self.close_connection = True
                    return
                content = json.dumps(reply).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST

            def log_message(self, format: str, *args: object) -> None:
                return

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> FarSide:
        Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def about(self) -> list[str]:
        """What was asked, without claims and heartbeats."""
        return [verb for verb in self.calls if verb not in ("claim", "heartbeat")]

    async def has_been_asked(self, verb: str, times: int) -> None:
        async def wait() -> None:
            while self.calls.count(verb) < times:
                await asyncio.sleep(0.01)

        await asyncio.wait_for(wait(), 20)


BEAT: dict[str, Any] = {"expires_at": AT, "cancel_requested": False, "updates": []}
ASKED: dict[str, Any] = {
    **{name: None for name in ["task_id", "options", "schema", "default", "revision", "arguments", "arguments_digest", "answer", "answered_by", "update_id", "answered_at"]},
    **{"id": "q1", "question_id": "q1", "kind": "question", "subtask_id": "s1", "session_id": "x", "prompt": "May I?", "status": "open", "on_expiry": "continue"},
    **{"expires_at": AT, "asked_at": AT},
}


class Outages(unittest.IsolatedAsyncioTestCase):
    """The server is away for longer than a call is repeated."""

    @asynccontextmanager
    async def working(self, far: FarSide, work: Callable[[Run], Awaitable[Any]]) -> AsyncIterator[Any]:
        """A worker, which has stopped afterwards."""
        async with AsyncMuster(far.url, retries=0) as muster:
            worker = muster.worker("external", work)
            working = asyncio.create_task(worker.run())
            try:
                yield worker
            finally:
                working.cancel()
                await asyncio.wait([working], timeout=20)

    async def test_are_outlasted_by_a_question_and_by_its_answer(self) -> None:
        async def work(run: Run) -> str:
            return (await run.ask("May I?")).status

        replies: Replies = {"claim": [CLAIMED, None], "heartbeat": [BEAT], "questions": [None, None, ASKED], "q1": [None, ASKED, None, {**ASKED, "status": "expired"}]}
        with FarSide({**replies, "complete": [None, SUBTASK]}) as far:
            async with self.working(far, work) as worker:
                await far.has_been_asked("complete", 2)
                await asyncio.wait_for(worker.stop(), 20)
            self.assertEqual(far.about(), ["questions"] * 3 + ["q1"] * 4 + ["complete"] * 2)

    async def test_are_outlasted_by_a_run_that_suspends(self) -> None:
        async def work(run: Run) -> Suspended:
            return await run.suspend("state", "May I?")

        with FarSide({"claim": [CLAIMED, None], "heartbeat": [BEAT], "questions": [None, ASKED], "wait": [None, SUBTASK]}) as far:
            async with self.working(far, work) as worker:
                await far.has_been_asked("wait", 2)
                await asyncio.wait_for(worker.stop(), 20)
            self.assertEqual(far.about(), ["questions"] * 2 + ["wait"] * 2)

    async def test_do_not_keep_a_worker_that_stops_also_if_the_run_was_cancelled_before(self) -> None:
        async def work(run: Run) -> str:
            return str(await run.checkpoint())

        with FarSide({"claim": [CLAIMED, None], "heartbeat": [{**BEAT, "cancel_requested": True}]}) as far:
            async with self.working(far, work) as worker:
                await far.has_been_asked("fail", 1)
                await asyncio.wait_for(worker.stop(grace_seconds=0), 20)
            self.assertNotIn("complete", far.calls)

    async def test_are_outlasted_by_an_inbox_that_waits_for_more(self) -> None:
        item: dict[str, Any] = {
            **{name: None for name in ["task_id", "question_id", "final_outcome", "result", "summary", "error", "score", "recommendation", "required_outputs", "outputs"]},
            **{"id": "i1", "inbox_id": "i1", "kind": "subtask", "subtask_id": "s1", "task": "Look.", "status": "completed", "truncated": False, "completed_at": AT},
        }
        page = {"items": [item], "claim_id": "c1", "has_more": False}
        with FarSide({"claim": [None, None, page, page], "ack": [None, None, {}]}) as far:
            async with AsyncMuster(far.url, retries=0) as muster:
                items = 0
                async for _ in muster.inbox.claim("s", poll_seconds=0.01):
                    items += 1
                    if items == 2:
                        break
            self.assertEqual(far.calls, ["claim"] * 3 + ["ack"] * 3 + ["claim"])
            with self.assertRaises(MusterError):
                async with AsyncMuster("http://127.0.0.1:1", retries=0) as muster:
                    async for _ in muster.inbox.claim("s"):
                        self.fail("There is no server.")

    def test_are_outlasted_by_the_steps_between_events(self) -> None:
        server = Server(
            stream((1, "subtask.completed")), lose, lose, answer(200, {"items": [{"seq": 1, "attempt": 1, "kind": "message", "content": {}, "at": AT}], "next_cursor": None})
        )
        self.assertEqual(len(list(server.muster(retries=0).subtasks.handle("s1").follow())), 2)

    def test_of_any_length_are_waited_for(self) -> None:
        self.assertLessEqual(backoff_seconds(100_000), 8)


class Briefs(unittest.TestCase):
    INJECTION: dict[str, Any] = {"claim_id": "c1", "text": "The brief.", "items": [], "lease_expires_at": None}

    def test_are_not_delivered_by_a_request_that_failed(self) -> None:
        server = Server(answer(200, self.INJECTION))
        messages: list[Any] = [{"role": "user", "content": [{"type": "text", "text": "EADDRINUSE"}]}]

        def fail(**request: Any) -> None:
            raise RuntimeError("overloaded")

        with self.assertRaises(RuntimeError):
            with_brief(server.muster().brief("writer"), fail, model="m", messages=messages)
        self.assertEqual(len(messages), 1)
        self.assertEqual(len(server.requests), 1)
        self.assertEqual(json.loads(server.requests[0].content), {"messages": ["EADDRINUSE"]})

    def test_keep_the_answer_of_the_model_when_it_cannot_be_acknowledged(self) -> None:
        brief = Server(answer(200, self.INJECTION), problem(404, "not_found", False)).muster().brief("writer")
        messages: list[Any] = []
        self.assertEqual(brief.around(messages, lambda: "answer"), "answer")
        self.assertEqual(messages, [{"role": "user", "content": "The brief."}])
        self.assertEqual([error.code for error in brief.errors], ["not_found"])


if __name__ == "__main__":
    unittest.main()
