"""Two sub-agents in Python that Muster briefs and steers. Python has no hooks, so each agent asks for what is undelivered before each request to its model."""
import asyncio
import json
import os

import httpx2
from mcp import Client
from openai import AsyncOpenAI

MUSTER_URL = os.environ.get("MUSTER_URL", "http://127.0.0.1:7300")
MODEL = os.environ.get("MODEL", "qwen3")
model = AsyncOpenAI(base_url=os.environ.get("MODEL_URL", "http://127.0.0.1:11434/v1"), api_key=os.environ.get("MODEL_KEY", "none"))

FOR_AGENTS = ["get_task", "check_in", "confirm_update", "read_tsg", "mark_task_complete"]
REQUESTS_MAX = 100
# The fields of an answer that the next request repeats: a stream adds others, which some servers refuse.
SENT_BACK = {"role": True, "content": True, "tool_calls": {"__all__": {"id", "type", "function"}}}


def connect(session):
    """A client of Muster's tools that speaks for one session."""
    return Client(f"{MUSTER_URL}/mcp?session={session}")


async def call(client, name, **arguments):
    """Calls a tool of Muster. Raises what Muster says if it refuses."""
    result = await client.call_tool(name, arguments)
    if result.is_error:
        raise RuntimeError(f"{name}: {result.content[0].text}")
    return result.structured_content


async def undelivered_of(session):
    """What the session has not received yet: its brief first, then each change. Empty where there is nothing."""
    async with httpx2.AsyncClient() as http:
        response = await http.post(f"{MUSTER_URL}/sessions/{session}/injections")
    return response.raise_for_status().json()["text"]


async def work(session):
    """One sub-agent: a loop of requests to the model, with the tools of Muster."""
    async with connect(session) as client:
        listed = (await client.list_tools()).tools
        tools = [
            {"type": "function", "function": {"name": tool.name, "description": tool.description, "parameters": tool.input_schema}}
            for tool in listed
            if tool.name in FOR_AGENTS
        ]
        messages = [{"role": "system", "content": f"You are {session}. Do what your brief says, and hand in as it says."}]
        for _ in range(REQUESTS_MAX):
            undelivered = await undelivered_of(session)
            if undelivered:
                messages.append({"role": "user", "content": undelivered})
            async with model.chat.completions.stream(model=MODEL, messages=messages, tools=tools) as stream:
                answer = (await stream.get_final_completion()).choices[0].message
            messages.append(answer.model_dump(include=SENT_BACK, exclude_none=True))
            if not answer.tool_calls:
                return
            for tool_call in answer.tool_calls:
                result = await client.call_tool(tool_call.function.name, json.loads(tool_call.function.arguments))
                # A refusal goes back to the model as well, which can correct its call.
                messages.append({"role": "tool", "tool_call_id": tool_call.id, "content": result.content[0].text})


async def main():
    async with connect("controller") as controller:
        tasks = {}
        for session in ["surveyor", "editor"]:
            brief = {
                "title": f"Work of the {session}",
                "instructions": "Say what this project is for, in one sentence.",
                "acceptance": ["It is one sentence"],
                "outputs": ["text"],
            }
            tasks[session] = (await call(controller, "create_task", **brief))["task_id"]
            await call(controller, "assign_task", task_id=tasks[session], subagent_session_id=session)
        working = asyncio.gather(*(work(session) for session in tasks))
        for task_id in tasks.values():
            await call(controller, "steer_task", id=task_id, content="Leave the tests out.")
        await working
        ended = await call(controller, "wait_for", ids=list(tasks.values()), seconds=30)
        for item in ended["items"]:
            task = (await call(controller, "get_task", task_id=item["id"]))["task"]
            print(item["status"], task["completion_outputs"])


asyncio.run(main())
