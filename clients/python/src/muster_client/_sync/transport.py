# Generated from _async/transport.py by scripts/check/python-client.ts. Do not edit.
"""Calls operations over HTTP: keys, time limits, repetition, errors."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any, Generic, TypeVar

import httpx

from .. import _request as shared
from ..errors import MusterError

T = TypeVar("T")


class Transport:
    def __init__(self, url: str, key: str | None, timeout: float, retries: int, http: httpx.Client) -> None:
        self.url = url
        self.key = key
        self.timeout = timeout
        self.retries = retries
        self.http = http

    def call(self, operation: str, model: type[T], *, retries: int | None = None, **input: Any) -> T:
        """Calls an operation. Raises MusterError."""
        response = self.send(operation, retries=retries, **input)
        return shared.read(model, response.content, response.status_code)

    def send(self, operation: str, *, retries: int | None = None, **input: Any) -> httpx.Response:
        """The same, with the whole answer."""
        request = shared.prepare(operation, url=self.url, key=self.key, **input)
        count = 0
        while True:
            try:
                return self._try(request)
            except MusterError as error:
                delay = shared.retry_delay(error, request, count)
                if count >= (self.retries if retries is None else retries) or delay is None:
                    raise
            time.sleep(delay)
            count += 1

    def _try(self, request: shared.Request) -> httpx.Response:
        timeout = httpx.Timeout(self.timeout, read=self.timeout + request.wait_seconds)
        try:
            response = self.http.request(
                request.method, request.url, params=request.params, headers=request.headers, content=request.content, timeout=timeout
            )
        except httpx.HTTPError as error:
            raise shared.error_of_transport(request, error) from error
        if not response.is_success:
            raise shared.error_of_response(request, response)
        return response

    def chunks(self, operation: str, *, silent_seconds: float, **input: Any) -> Iterator[bytes]:
        """The body of an answer as it arrives. Raises EndOfStream where there is none. Not repeated."""
        request = shared.prepare(operation, url=self.url, key=self.key, **input)
        timeout = httpx.Timeout(self.timeout, read=silent_seconds)
        try:
            with self.http.stream(request.method, request.url, params=request.params, headers=request.headers, timeout=timeout) as response:
                if not response.is_success:
                    response.read()
                    raise shared.error_of_response(request, response)
                if response.status_code == 204:
                    raise EndOfStream
                for chunk in response.iter_bytes():
                    yield chunk
        except httpx.HTTPError as error:
            raise shared.error_of_transport(request, error) from error


class EndOfStream(Exception):
    """The server says that there is no more."""


class List(Generic[T]):
    """A list of the API, read page by page as it is needed."""

    def __init__(self, transport: Transport, operation: str, model: type[T], path: Mapping[str, str], query: Mapping[str, Any]) -> None:
        self._transport = transport
        self._operation = operation
        self._model = model
        self._path = path
        self._query = query

    def page(self, cursor: str | None = None) -> tuple[list[T], str | None]:
        """The first page, or the one after a page, with the cursor of the next one. It is None after the last."""
        page = self._transport.call(self._operation, dict[str, Any], path=self._path, query={**self._query, "cursor": cursor})
        return shared.items_of(self._model, page)

    def all(self) -> list[T]:
        """All items."""
        return [item for item in self]

    def __iter__(self) -> Iterator[T]:
        cursor: str | None = None
        while True:
            items, cursor = self.page(cursor)
            for item in items:
                yield item
            if cursor is None:
                return
