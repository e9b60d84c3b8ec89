"""What asyncio and blocking callers share: how a request is made, repeated and read."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, cast
from urllib.parse import quote
from uuid import uuid4

import httpx
from pydantic import BaseModel, TypeAdapter, ValidationError

from .errors import MusterError, error_of
from .generated.operations import OPERATIONS

T = TypeVar("T")
Body = BaseModel | Mapping[str, Any] | str | bytes | None

#: The longest that the server lets a call wait.
WAIT_SECONDS = 60
#: The server sends at least a comment every 15 seconds. A stream that is silent for longer is dead.
SILENT_SECONDS = 45.0
#: A longer Retry-After is the caller's decision.
RETRY_AFTER_SECONDS_MAX = 60.0


@dataclass(frozen=True)
class Request:
    """One call, ready to be sent, again too."""

    name: str
    method: str
    url: str
    params: dict[str, str]
    headers: dict[str, str]
    content: bytes | None
    wait_seconds: float
    #: A PATCH takes no Idempotency-Key, so its second try could be refused because the first was successful.
    is_repeatable: bool


def prepare(
    operation: str,
    *,
    url: str,
    key: str | None,
    path: Mapping[str, str] | None = None,
    query: Mapping[str, Any] | None = None,
    body: Body = None,
    idempotency_key: str | None = None,
    headers: Mapping[str, str] | None = None,
    content_type: str | None = None,
) -> Request:
    """The request of an operation of openapi.yaml."""
    method, template, body_type = OPERATIONS[operation]
    given = path or {}

    def fill(match: re.Match[str]) -> str:
        value = given.get(match[1], "")
        if value == "":
            raise TypeError(f"{operation} needs {match[1]}.")
        # Dots are the way up in a path: this would be another operation.
        if value in (".", ".."):
            raise TypeError(f"{operation}: {match[1]} cannot be {value}")
        return quote(value, safe="")

    filled = re.sub(r"\{(\w+)\}", fill, template)
    sent = {"accept": "application/json, */*;q=0.5", **(headers or {})}
    if key:
        sent["authorization"] = f"Bearer {key}"
    if method == "POST":
        sent["idempotency-key"] = idempotency_key or str(uuid4())
    content = encode(body)
    if content is not None:
        sent["content-type"] = content_type or body_type
    wait = (query or {}).get("wait_seconds") or (body.get("wait_seconds") if isinstance(body, Mapping) else None) or 0
    return Request(
        name=f"{method} {filled}",
        method=method,
        url=url + filled,
        params={name: text_of(value) for name, value in (query or {}).items() if value is not None},
        headers=sent,
        content=content,
        wait_seconds=float(wait),
        is_repeatable=method != "PATCH",
    )


def body_of(model: BaseModel | Mapping[str, Any] | None, fields: Mapping[str, Any]) -> dict[str, Any]:
    """A body from a model, a mapping or fields. What was not set is not sent."""
    given: dict[str, Any] = model.model_dump(mode="json", exclude_unset=True) if isinstance(model, BaseModel) else dict(model or {})
    return {**given, **fields}


def encode(body: Body) -> bytes | None:
    if body is None or isinstance(body, bytes):
        return body
    if isinstance(body, str):
        return body.encode()
    return json.dumps(body, default=plain).encode()


def plain(value: object) -> object:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_unset=True)
    raise TypeError(f"{type(value).__name__} cannot be sent as JSON.")


def text_of(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def read(model: type[T], content: bytes, status: int) -> T:
    """The body of an answer as its model. Raises MusterError where it is something else."""
    if model is type(None):
        return None
    if model is str:
        return cast(T, content.decode())
    try:
        return TypeAdapter(model).validate_json(content)
    except ValidationError as error:
        raise MusterError("answer_invalid", f"The answer does not fit this version of the client: {error}", status=status) from error


def error_of_response(request: Request, response: httpx.Response) -> MusterError:
    return error_of(request.name, response.status_code, response.headers.get("retry-after"), response.text)


def error_of_transport(request: Request, error: httpx.HTTPError) -> MusterError:
    if isinstance(error, httpx.TimeoutException) and not isinstance(error, httpx.ConnectTimeout):
        return MusterError("timed_out", f"{request.name} was not answered in time.")
    was_refused = isinstance(error, (httpx.ConnectError, httpx.ConnectTimeout))
    return MusterError("connection_failed", f"{request.name}: the server could not be reached: {error}", was_refused=was_refused)


def backoff_seconds(count: int) -> float:
    """How long to wait before try ``count`` + 1: twice as long each time, and a random part of it, so that clients do not return at once."""
    return float(min(8.0, 0.25 * 2 ** min(count, 10)) * (0.5 + random.random() / 2))


def patience(error: MusterError, failures: int) -> float:
    """How long to wait before a server that is away or busy is asked again."""
    return max(backoff_seconds(failures), error.retry_after_seconds or 0)


def retry_delay(error: MusterError, request: Request, count: int) -> float | None:
    """How long to wait before a repetition, or None where there must be none."""
    if not error.retryable or not (request.is_repeatable or error.was_refused):
        return None
    if error.retry_after_seconds is None:
        return backoff_seconds(count)
    if error.retry_after_seconds > RETRY_AFTER_SECONDS_MAX:
        return None
    # Not all at once, where many clients were refused together.
    return error.retry_after_seconds + random.random() / 4


def if_match(revision: int | str) -> dict[str, str]:
    """The header of a change that is refused with ``revision_stale`` if something else has changed since."""
    return {"if-match": f'"{revision}"' if isinstance(revision, int) else revision}


def items_of(model: type[T], page: Mapping[str, Any]) -> tuple[list[T], str | None]:
    """The items of a page, and the cursor of the next one."""
    try:
        item = TypeAdapter(model)
        return [item.validate_python(each) for each in page["items"]], page.get("next_cursor")
    except (KeyError, TypeError, ValidationError) as error:
        raise MusterError("answer_invalid", f"The page does not fit this version of the client: {error}") from error
