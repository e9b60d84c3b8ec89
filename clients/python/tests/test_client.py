"""What the client does with answers, on a transport without a network. The tests with a server are in tests/client-packages.test.ts."""

from __future__ import annotations

import json
import unittest
from collections.abc import Callable
from typing import Any

import httpx

from muster_client import Muster, MusterError
from muster_client.openai import with_brief

Reply = Callable[[httpx.Request], httpx.Response]


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
