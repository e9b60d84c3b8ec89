"""Journeys 1, 2 and 4 through the installed wheel, in a venv that has nothing else. client-packages.test.ts runs it."""

import asyncio
import json
import os
from typing import Any

from muster_client import AsyncMuster, Muster, MusterError, Run

URL, KEY = os.environ["MUSTER_URL"], os.environ["MUSTER_KEY"]
SESSION = "journeys in Python"


def spawn(muster: Muster) -> dict[str, Any]:
    """Spawn: a subtask whose worker is killed half-way is finished by another, once."""
    running = muster.subtasks.spawn(task="Hold.", runner="hold", parent_session_id=SESSION)
    print(f"holding {running.id}", flush=True)
    events = [event.type for event in running.events()]
    result = running.result()
    inbox = [item.subtask_id for _ in range(2) for item in muster.inbox.claim(SESSION)]
    return {"id": running.id, "status": result.status, "attempt": result.attempt, "ends": events.count("subtask.completed"), "inbox": inbox}


def steer(muster: Muster) -> dict[str, Any]:
    """Brief and steer: a session gets the whole brief once, then what changed; the controller sees the receipt."""
    task = muster.tasks.create(
        title="Describe the functions",
        instructions="List the public functions.",
        acceptance_criteria=["Every function is listed"],
        required_outputs=["functions"],
    )
    assigned = muster.tasks.assign(task.id, subagent_session_id=SESSION)
    agent = Muster(URL, assigned.subagent_credential)
    brief = agent.brief(SESSION)
    messages: list[dict[str, str]] = []
    brief.inject(messages)
    brief.inject(messages)
    revised = muster.tasks.revise(task.id, task.revision, instructions="List the public functions. Leave out the tests.")
    refused = []
    try:
        muster.tasks.revise(task.id, task.revision, instructions="Do nothing.")
    except MusterError as error:
        refused.append(error.code)
    brief.inject(messages)
    try:
        agent.tasks.complete(task.id, outputs={})
    except MusterError as error:
        refused.append(error.code)
    completed = agent.tasks.complete(task.id, outputs={"functions": ["parse"]})
    agent.close()
    return {
        "messages": [message["content"] for message in messages],
        "revision": revised.revision,
        "refused": refused,
        "receipts": [update.status for update in muster.tasks.updates(task.id)],
        "status": completed.status,
    }


async def judge() -> dict[str, Any]:
    """Judge: a poor result becomes a revision round for the same worker, which then delivers a good one."""
    prompts: list[str] = []

    async def work(run: Run) -> str:
        prompts.append(run.prompt)
        if len(prompts) == 1:
            return 'Here it is.\n<npl-block type="reflection">\n🐛 It does not compile.\n</npl-block>'
        return 'Here it is.\n<npl-block type="check-in">\n- ✅ It compiles.\n</npl-block>'

    async with AsyncMuster(URL, KEY) as muster:
        worker = muster.worker("external", work)
        working = asyncio.create_task(worker.run())
        task = await muster.tasks.create(title="Compile it", instructions="Make it compile, without a warning.", acceptance_criteria=["It compiles"])
        await muster.tasks.dispatch(task.id, runner="external", max_revisions=2)
        async for event in muster.events.follow(subject=task.id, after=0):
            if event.type == "task.completed":
                break
        await worker.stop()
        await working
        evaluations = await muster.evaluations.list(task_id=task.id).all()
    return {"fedBack": "It does not compile." in prompts[1], "recommendations": [evaluation.recommendation for evaluation in evaluations]}


with Muster(URL, KEY) as client:
    told = {"spawn": spawn(client), "steer": steer(client), "judge": asyncio.run(judge())}
print(json.dumps(told))
