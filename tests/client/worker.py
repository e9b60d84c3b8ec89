"""What a worker in Python does beside its results: stop, ask, hear, return. client-packages.test.ts runs it."""

import asyncio
import json
import os

from muster_client import AsyncMuster, PermanentError, Run, RunStopped, Suspended

SESSION = "worker in Python"
begun: list[str] = []
stopped: list[str] = []


async def work(run: Run) -> str | Suspended:
    begun.append(run.subtask.id)
    if run.subtask.task == "Wait.":
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            stopped.append(run.stopped.why if isinstance(run.stopped, RunStopped) else "nothing")
            raise
    if run.subtask.task == "Never.":
        raise PermanentError("It is not allowed.")
    if run.subtask.task == "Listen.":
        heard: asyncio.Queue[str] = asyncio.Queue()
        run.on_update(lambda update: heard.put_nowait(update.content))
        return f"Heard: {await heard.get()}"
    if run.continuation is None:
        question = await run.ask("Which port?")
        return await run.suspend(f"Port {question.answer.answer if question.answer else None}.", "Which colour?")
    return f"{run.continuation} {'Blue it is.' if 'Blue' in run.prompt else 'No answer.'}"


async def main() -> None:
    async with AsyncMuster(os.environ["MUSTER_URL"], os.environ["MUSTER_KEY"]) as muster:
        worker = muster.worker("external", work, concurrency=2, lease_seconds=3)
        working = asyncio.create_task(worker.run())
        told: dict[str, object] = {}

        never = await muster.subtasks.run(task="Never.", runner="external")
        told["never"] = [never.status, never.attempt]

        async def running(task: str) -> str:
            handle = await muster.subtasks.spawn(task=task, runner="external", parent_session_id=SESSION)
            while (await handle.get()).status == "pending":
                await asyncio.sleep(0.05)
            return handle.id

        listening = await running("Listen.")
        await muster.subtasks.steer(listening, "Leave the tests out.")
        told["heard"] = (await muster.subtasks.handle(listening).result()).result
        told["receipts"] = [update.status async for update in muster.subtasks.updates(listening)]

        waiting = await running("Wait.")
        await muster.subtasks.cancel(waiting)
        told["cancelled"] = (await muster.subtasks.handle(waiting).result()).status

        asking = await running("Paint.")
        for answer in (5432, "Blue"):
            while not (questions := await muster.questions.list(session_id=SESSION, status="open").all()):
                await asyncio.sleep(0.05)
            await muster.questions.answer(questions[0].id, answer=answer)
        painted = await muster.subtasks.handle(asking).result()
        told["painted"] = [painted.result, painted.attempt, painted.failures]

        returned = await running("Wait.")
        # It runs as soon as it is claimed, and the worker begins when it hears of that.
        while returned not in begun:
            await asyncio.sleep(0.05)
        await worker.stop(grace_seconds=0.1)
        await working
        told["returned"] = (await muster.subtasks.get(returned)).status
        await muster.subtasks.cancel(returned)
        print(json.dumps({**told, "stopped": stopped}))


asyncio.run(main())
