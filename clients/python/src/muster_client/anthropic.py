"""Requests to a model with the SDK of Anthropic."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from ._async.brief import AsyncSessionBrief
from ._sync.brief import SessionBrief
from .openai import about, messages_of

T = TypeVar("T")


def with_brief(brief: SessionBrief, create: Callable[..., T], **request: Any) -> T:
    """Adds to ``messages`` what the session has not received, calls, and stores the answer.

    ``message = with_brief(brief, anthropic.messages.create, model="...", max_tokens=1000, messages=messages)``. The answer of a stream is not stored.
    """
    answer = brief.around(messages_of(request), lambda: create(**request))
    brief.store(text_of(answer), **about(answer))
    return answer


async def with_brief_async(brief: AsyncSessionBrief, create: Callable[..., Awaitable[T]], **request: Any) -> T:
    """The same with ``AsyncAnthropic``."""
    answer = await brief.around(messages_of(request), lambda: create(**request))
    await brief.store(text_of(answer), **about(answer))
    return answer


def text_of(answer: Any) -> str:
    blocks = getattr(answer, "content", None)
    return "\n".join(block.text for block in blocks if getattr(block, "type", None) == "text") if isinstance(blocks, list) else ""
