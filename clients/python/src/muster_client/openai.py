"""Requests to a model with the SDK of OpenAI, Chat Completions or Responses."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from ._async.brief import AsyncSessionBrief
from ._sync.brief import SessionBrief

T = TypeVar("T")


def with_brief(brief: SessionBrief, create: Callable[..., T], **request: Any) -> T:
    """Adds to ``messages`` (or ``input``) what the session has not received, calls, and stores the answer.

    ``completion = with_brief(brief, openai.chat.completions.create, model="...", messages=messages)``. The answer of a stream is not stored: do that with ``brief.store``.
    """
    answer = brief.around(messages_of(request), lambda: create(**request))
    brief.store(text_of(answer), **about(answer))
    return answer


async def with_brief_async(brief: AsyncSessionBrief, create: Callable[..., Awaitable[T]], **request: Any) -> T:
    """The same with ``AsyncOpenAI``."""
    answer = await brief.around(messages_of(request), lambda: create(**request))
    await brief.store(text_of(answer), **about(answer))
    return answer


def messages_of(request: dict[str, Any]) -> list[Any]:
    messages = request.get("messages", request.get("input"))
    if not isinstance(messages, list):
        raise TypeError("messages, or input, must be a list, which is added to.")
    return messages


def text_of(answer: Any) -> str:
    if isinstance(getattr(answer, "output_text", None), str):
        return str(answer.output_text)
    choices = getattr(answer, "choices", None) or []
    content = getattr(getattr(choices[0], "message", None), "content", None) if choices else None
    return content if isinstance(content, str) else ""


def about(answer: Any) -> dict[str, Any]:
    """Model and usage, as the provider reported them."""
    usage: Any = getattr(answer, "usage", None)
    dumped = usage.model_dump(mode="json", exclude_none=True) if hasattr(usage, "model_dump") else None
    fields = {"model": getattr(answer, "model", None), "usage": dumped}
    return {name: value for name, value in fields.items() if value is not None}
