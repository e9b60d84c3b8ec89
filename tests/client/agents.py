"""Agents on the SDKs of OpenAI and Anthropic, each with the brief of its session. agent-sdks.test.ts runs it and says what they have to see."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import Any

from anthropic import Anthropic, AsyncAnthropic
from muster_client import AsyncMuster, Muster
from muster_client.anthropic import with_brief as with_anthropic
from muster_client.anthropic import with_brief_async as with_anthropic_async
from muster_client.openai import with_brief as with_openai
from muster_client.openai import with_brief_async as with_openai_async
from openai import AsyncOpenAI, OpenAI

URL, KEY, OPENAI, ANTHROPIC = (os.environ[name] for name in ("MUSTER_URL", "MUSTER_KEY", "OPENAI_URL", "ANTHROPIC_URL"))
ROUNDS = 3
Messages = list[Any]


def converse(session: str, ask: Callable[[Messages], str]) -> None:
    messages: Messages = [{"role": "user", "content": f"You are {session}."}]
    for _ in range(ROUNDS):
        answer = ask(messages)
        messages += [{"role": "assistant", "content": answer}, {"role": "user", "content": "Go on."}]


async def converse_async(session: str, ask: Callable[[Messages], Awaitable[str]]) -> None:
    messages: Messages = [{"role": "user", "content": f"You are {session}."}]
    for _ in range(ROUNDS):
        answer = await ask(messages)
        messages += [{"role": "assistant", "content": answer}, {"role": "user", "content": "Go on."}]


muster = Muster(URL, KEY)
openai = OpenAI(base_url=OPENAI, api_key="none")
anthropic = Anthropic(base_url=ANTHROPIC, api_key="none")
chat, responses, claude = (muster.brief(session) for session in ("openai-chat-python", "openai-responses-python", "anthropic-python"))
converse(chat.session, lambda messages: with_openai(chat, openai.chat.completions.create, model="m", messages=messages).choices[0].message.content or "")
converse(responses.session, lambda messages: with_openai(responses, openai.responses.create, model="m", input=messages).output_text)


def claude_text(messages: Messages) -> str:
    message = with_anthropic(claude, anthropic.messages.create, model="m", max_tokens=100, messages=messages)
    return "".join(block.text for block in message.content if block.type == "text")


converse(claude.session, claude_text)


async def asynchronously() -> None:
    muster = AsyncMuster(URL, KEY)
    openai = AsyncOpenAI(base_url=OPENAI, api_key="none")
    anthropic = AsyncAnthropic(base_url=ANTHROPIC, api_key="none")
    chat, claude = muster.brief("openai-asyncio"), muster.brief("anthropic-asyncio")

    async def chat_answer(messages: Messages) -> str:
        completion = await with_openai_async(chat, openai.chat.completions.create, model="m", messages=messages)
        return completion.choices[0].message.content or ""

    async def claude_answer(messages: Messages) -> str:
        message = await with_anthropic_async(claude, anthropic.messages.create, model="m", max_tokens=100, messages=messages)
        return "".join(block.text for block in message.content if block.type == "text")

    await asyncio.gather(converse_async(chat.session, chat_answer), converse_async(claude.session, claude_answer))


asyncio.run(asynchronously())
