"""Why a call failed."""

from __future__ import annotations

import json
from typing import Any


class MusterError(Exception):
    """Decide by ``code``: the reference of errors (docs/errors.md) has a section for each.

    Codes of the client itself are ``connection_failed``, ``timed_out``, and ``answer_invalid`` where something else than Muster answered, such as a proxy.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int = 0,
        problem: dict[str, Any] | None = None,
        retry_after_seconds: float | None = None,
        was_refused: bool = False,
    ) -> None:
        super().__init__(message)
        self.code = code
        #: HTTP status; 0 without an answer.
        self.status = status
        #: The whole problem as the server sent it, with what only this code has, such as ``revision``.
        self.problem = problem
        #: How long the server asks to wait before the call is repeated.
        self.retry_after_seconds = retry_after_seconds
        #: Whether nothing can have been done: no connection, or a refusal.
        self.was_refused = was_refused or status in (429, 503)

    @property
    def retryable(self) -> bool:
        """Whether the same call may succeed later without being changed."""
        if self.problem is not None:
            return self.problem.get("retryable") is True
        return self.code != "answer_invalid" or self.status in (502, 503, 504)

    @property
    def request_id(self) -> str | None:
        """Quote it when you report a problem."""
        value = (self.problem or {}).get("request_id")
        return value if isinstance(value, str) else None

    def is_(self, *codes: str) -> bool:
        """Whether it is an error of one of these codes."""
        return self.code in codes


def error_of(call: str, status: int, retry_after: str | None, text: str) -> MusterError:
    """The error of an answer whose status is none of success."""
    try:
        seconds = None if retry_after is None else float(retry_after)
    except ValueError:
        seconds = None
    try:
        problem = json.loads(text)
    except ValueError:
        problem = None
    if isinstance(problem, dict) and isinstance(problem.get("code"), str) and isinstance(problem.get("detail"), str):
        return MusterError(problem["code"], problem["detail"], status=status, problem=problem, retry_after_seconds=seconds)
    start = text.strip()[:200]
    message = f"{call} was answered with {status}, and not by Muster{'.' if start == '' else ': ' + start}"
    return MusterError("answer_invalid", message, status=status, retry_after_seconds=seconds)
