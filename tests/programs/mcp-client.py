"""The official Python client of MCP, driven by tests/mcp-python.test.ts: a line of stdin is a call, a line of stdout the progress or the answer of one."""
import json
import os
import sys

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult


def write(**message):
    print(json.dumps(message), flush=True)


async def answer(client, id, name, arguments, instead=None):
    async def report(progress, _total, message):
        write(id=id, progress={"progress": progress, "message": message})

    try:
        if instead is None:
            result = await client.call_tool(name, arguments, progress_callback=report)
        else:
            # What the client does with each answer before the caller gets it.
            result = CallToolResult(content=[], structured_content=instead)
            await client.session.validate_tool_result(name, result)
        text = result.content[0].text if result.content else ""
        write(id=id, answer={"isError": result.is_error, "structuredContent": result.structured_content, "text": text})
    except Exception as error:
        write(id=id, raised=f"{type(error).__name__}: {error}")


async def main():
    url, mode = sys.argv[1:]
    timeout = httpx2.Timeout(30, read=300)
    async with httpx2.AsyncClient(headers=json.loads(os.environ["HEADERS"]), timeout=timeout) as http:
        async with Client(streamable_http_client(url, http_client=http), mode=mode) as client, anyio.create_task_group() as calls:
            tools = (await client.list_tools()).tools
            write(id=0, answer={"version": client.protocol_version, "schemas": {tool.name: tool.output_schema for tool in tools}})
            async for line in anyio.wrap_file(sys.stdin):
                calls.start_soon(lambda call: answer(client, **call), json.loads(line))


anyio.run(main)
