"""The nouns of the API. A body is a model, a mapping, or keyword arguments."""

from __future__ import annotations

import asyncio
import sys
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any, TypeVar

from .._request import SILENT_SECONDS, WAIT_SECONDS, body_of, if_match, read
from .._sse import LineReader
from ..generated import models as m
from .follow import follow_events, poll_until
from .subtask import AsyncSubtaskHandle
from .transport import AsyncList, AsyncTransport

T = TypeVar("T")
NoneType = type(None)


class AsyncNoun:
    def __init__(self, transport: AsyncTransport) -> None:
        self._transport = transport

    async def _call(self, operation: str, model: type[T], **input: Any) -> T:
        return await self._transport.call(operation, model, **input)

    def _list(self, operation: str, model: type[T], path: Mapping[str, str], query: Mapping[str, Any]) -> AsyncList[T]:
        return AsyncList(self._transport, operation, model, path, query)


class AsyncSubtasks(AsyncNoun):
    """Units of background work."""

    async def get(self, id: str, *, wait_seconds: int | None = None) -> m.Subtask:
        """With ``wait_seconds``, answers when it ends or the time is over."""
        return await self._call("getSubtask", m.Subtask, path={"id": id}, query={"wait_seconds": wait_seconds})

    def list(
        self,
        *,
        status: str | None = None,
        parent_session_id: str | None = None,
        agent_id: str | None = None,
        task_id: str | None = None,
        schedule_id: str | None = None,
        subagent: str | None = None,
        limit: int | None = None,
    ) -> AsyncList[m.Subtask]:
        """Newest first."""
        return self._list(
            "listSubtasks",
            m.Subtask,
            {},
            {"status": status, "parent_session_id": parent_session_id, "agent_id": agent_id, "task_id": task_id, "schedule_id": schedule_id, "subagent": subagent, "limit": limit},
        )

    def agents(self, *, limit: int | None = None) -> AsyncList[m.Agent]:
        """The agents with subtasks that run or are pending, and their limits."""
        return self._list("listAgents", m.Agent, {}, {"limit": limit})

    async def cancel(self, id: str) -> m.Subtask:
        """Asks for its end."""
        return await self._call("cancelSubtask", m.Subtask, path={"id": id})

    def updates(self, id: str, *, limit: int | None = None) -> AsyncList[m.Update]:
        """The updates of a subtask, each with its receipt."""
        return self._list("listSubtaskUpdates", m.Update, {"id": id}, {"limit": limit})

    def steps(self, id: str, *, limit: int | None = None) -> AsyncList[m.Step]:
        """The transcript."""
        return self._list("listSubtaskSteps", m.Step, {"id": id}, {"limit": limit})

    def prompts(self, id: str, *, limit: int | None = None) -> AsyncList[m.SentPrompt]:
        """What each attempt sent first to its model or program."""
        return self._list("listSubtaskPrompts", m.SentPrompt, {"id": id}, {"limit": limit})

    async def payload(self, id: str) -> m.EvaluatedPayload:
        """The whole result, where lists and inbox shorten it."""
        return await self._call("getSubtaskPayload", m.EvaluatedPayload, path={"id": id})

    async def flag_quality(self, id: str, body: m.NewQualityFlag | Mapping[str, Any] | None = None, /, **fields: Any) -> m.QualityFlag:
        return await self._call("flagSubtaskQuality", m.QualityFlag, path={"id": id}, body=body_of(body, fields))

    async def ask(self, id: str, body: m.NewSubtaskQuestion | Mapping[str, Any] | None = None, /, **fields: Any) -> m.Question:
        """Asks the parent session."""
        return await self._call("askAboutSubtask", m.Question, path={"id": id}, body=body_of(body, fields))

    async def spawn(self, body: m.NewSubtask | Mapping[str, Any] | None = None, /, **fields: Any) -> AsyncSubtaskHandle:
        """Starts background work: ``spawn(task="...", parent_session_id="...")``."""
        subtask = await self._call("createSubtask", m.Subtask, body=body_of(body, fields))
        return AsyncSubtaskHandle(self._transport, subtask.id, subtask)

    async def run(self, body: m.NewSubtask | Mapping[str, Any] | None = None, /, **fields: Any) -> m.Subtask:
        """Spawns, and waits for the end."""
        handle = await self.spawn(body, **fields)
        return await handle.result()

    def handle(self, id: str) -> AsyncSubtaskHandle:
        """A handle on a subtask that exists, without a call."""
        return AsyncSubtaskHandle(self._transport, id)

    async def steer(self, id: str, content: str, **fields: Any) -> m.Update:
        """Sends an update to the run."""
        return await self.handle(id).steer(content, **fields)


class AsyncTasks(AsyncNoun):
    """Briefs with an owner, their revisions, and who works on them."""

    async def create(self, body: m.NewTask | Mapping[str, Any] | None = None, /, **fields: Any) -> m.Task:
        return await self._call("createTask", m.Task, body=body_of(body, fields))

    async def validate(self, body: m.NewTask | Mapping[str, Any] | None = None, /, **fields: Any) -> m.ValidatedBrief:
        """What Muster would make of a brief, without storing it."""
        return await self._call("validateTask", m.ValidatedBrief, body=body_of(body, fields))

    async def get(self, id: str) -> m.Task:
        return await self._call("getTask", m.Task, path={"id": id})

    def list(
        self,
        *,
        status: str | None = None,
        parent_session_id: str | None = None,
        subagent_session_id: str | None = None,
        priority: str | None = None,
        q: str | None = None,
        limit: int | None = None,
    ) -> AsyncList[m.TaskSummary]:
        """Newest first."""
        return self._list(
            "listTasks",
            m.TaskSummary,
            {},
            {"status": status, "parent_session_id": parent_session_id, "subagent_session_id": subagent_session_id, "priority": priority, "q": q, "limit": limit},
        )

    async def revise(self, id: str, revision: int | str, body: m.TaskPatch | Mapping[str, Any] | None = None, /, **fields: Any) -> m.RevisedTask:
        """Changes the brief that has this revision. Raises ``revision_stale`` if it has a newer one."""
        return await self._call("reviseTask", m.RevisedTask, path={"id": id}, headers=if_match(revision), body=body_of(body, fields))

    def revisions(self, id: str, *, limit: int | None = None) -> AsyncList[m.TaskRevision]:
        return self._list("listTaskRevisions", m.TaskRevision, {"id": id}, {"limit": limit})

    async def note(self, id: str, body: m.NewNote | Mapping[str, Any] | None = None, /, **fields: Any) -> m.Update:
        """Sends a note to the assignee."""
        return await self._call("noteTask", m.Update, path={"id": id}, body=body_of(body, fields))

    def updates(self, id: str, *, limit: int | None = None) -> AsyncList[m.Update]:
        """The updates of a task, each with its receipt."""
        return self._list("listTaskUpdates", m.Update, {"id": id}, {"limit": limit})

    async def confirm_update(self, update_id: str) -> m.ConfirmedUpdate:
        """Whether Muster sent an update, for an agent that doubts it."""
        return await self._call("confirmUpdate", m.ConfirmedUpdate, path={"update_id": update_id})

    async def assign(self, id: str, body: m.AssignmentRequest | Mapping[str, Any] | None = None, /, **fields: Any) -> m.AssignedTask:
        return await self._call("assignTask", m.AssignedTask, path={"id": id}, body=body_of(body, fields))

    async def dispatch(self, id: str, body: m.TaskDispatch | Mapping[str, Any] | None = None, /, **fields: Any) -> m.Subtask:
        """Runs the task as a subtask."""
        return await self._call("dispatchTask", m.Subtask, path={"id": id}, body=body_of(body, fields))

    async def check_in(self, id: str, body: m.NewCheckIn | Mapping[str, Any] | None = None, /, **fields: Any) -> m.CheckedIn:
        return await self._call("checkIn", m.CheckedIn, path={"id": id}, body=body_of(body, fields))

    async def complete(self, id: str, body: m.TaskCompletion | Mapping[str, Any] | None = None, /, **fields: Any) -> m.Task:
        return await self._call("completeTask", m.Task, path={"id": id}, body=body_of(body, fields))

    async def check(self, id: str) -> m.CheckRunList:
        """Has the checks of a task executed again."""
        return await self._call("requestTaskChecks", m.CheckRunList, path={"id": id})

    def checks(self, id: str, *, limit: int | None = None) -> AsyncList[m.CheckRun]:
        return self._list("listTaskChecks", m.CheckRun, {"id": id}, {"limit": limit})

    async def review(self, id: str, body: m.TaskReview | Mapping[str, Any] | None = None, /, **fields: Any) -> m.Task:
        return await self._call("reviewTask", m.Task, path={"id": id}, body=body_of(body, fields))

    async def fail(self, id: str, body: m.Reason | Mapping[str, Any] | None = None, /, **fields: Any) -> m.Task:
        return await self._call("failTask", m.Task, path={"id": id}, body=body_of(body, fields))

    async def cancel(self, id: str, body: m.Reason | Mapping[str, Any] | None = None, /, **fields: Any) -> m.Task:
        return await self._call("cancelTask", m.Task, path={"id": id}, body=body_of(body, fields))

    async def link_guide(self, id: str, tsg_id: str) -> m.Task:
        return await self._call("linkTsg", m.Task, path={"id": id, "tsg_id": tsg_id})

    async def unlink_guide(self, id: str, tsg_id: str) -> m.Task:
        return await self._call("unlinkTsg", m.Task, path={"id": id, "tsg_id": tsg_id})

    async def context(self, id: str) -> str:
        """The context of a task as text for a prompt."""
        return await self._call("getTaskContext", str, path={"id": id})

    async def payload(self, id: str) -> m.EvaluatedPayload:
        """The whole of what was delivered."""
        return await self._call("getTaskPayload", m.EvaluatedPayload, path={"id": id})

    async def flag_quality(self, id: str, body: m.NewQualityFlag | Mapping[str, Any] | None = None, /, **fields: Any) -> m.QualityFlag:
        return await self._call("flagTaskQuality", m.QualityFlag, path={"id": id}, body=body_of(body, fields))

    async def ask(self, id: str, body: m.NewTaskQuestion | Mapping[str, Any] | None = None, /, **fields: Any) -> m.Question:
        """Asks the parent session."""
        return await self._call("askAboutTask", m.Question, path={"id": id}, body=body_of(body, fields))

    async def stats(self) -> m.TaskStats:
        return await self._call("getStats", m.TaskStats)


class AsyncSchedules(AsyncNoun):
    """Rules in words or cron that create a subtask at each slot."""

    async def create(self, body: m.NewSchedule | Mapping[str, Any] | None = None, /, **fields: Any) -> m.Schedule:
        return await self._call("createSchedule", m.Schedule, body=body_of(body, fields))

    async def preview(self, body: m.SchedulePreviewRequest | Mapping[str, Any] | None = None, /, **fields: Any) -> m.SchedulePreview:
        """How Muster reads a rule, and when it would fire."""
        return await self._call("previewSchedule", m.SchedulePreview, body=body_of(body, fields))

    async def get(self, id: str) -> m.Schedule:
        return await self._call("getSchedule", m.Schedule, path={"id": id})

    def list(self, *, active: str | None = None, agent_id: str | None = None, limit: int | None = None) -> AsyncList[m.Schedule]:
        return self._list("listSchedules", m.Schedule, {}, {"active": active, "agent_id": agent_id, "limit": limit})

    async def revise(self, id: str, body: m.SchedulePatch | Mapping[str, Any] | None = None, /, **fields: Any) -> m.Schedule:
        return await self._call("reviseSchedule", m.Schedule, path={"id": id}, body=body_of(body, fields))

    async def deactivate(self, id: str) -> m.Schedule:
        return await self._call("deactivateSchedule", m.Schedule, path={"id": id})

    async def pause(self, id: str) -> m.Schedule:
        return await self._call("pauseSchedule", m.Schedule, path={"id": id})

    async def resume(self, id: str) -> m.Schedule:
        return await self._call("resumeSchedule", m.Schedule, path={"id": id})

    async def trigger(self, id: str) -> m.Subtask:
        """Starts a subtask now, beside the slots."""
        return await self._call("triggerSchedule", m.Subtask, path={"id": id})

    def runs(self, id: str, *, limit: int | None = None) -> AsyncList[m.ScheduleRun]:
        return self._list("listScheduleRuns", m.ScheduleRun, {"id": id}, {"limit": limit})

    async def firings(self, id: str, *, until: str, limit: int | None = None) -> m.ScheduleFirings:
        """The times at which it fires next, up to a time."""
        return await self._call("listScheduleFirings", m.ScheduleFirings, path={"id": id}, query={"until": until, "limit": limit})


class AsyncQuestions(AsyncNoun):
    """Questions and approvals that runs and assignees ask, and wait for."""

    async def get(self, id: str, *, wait_seconds: int | None = None) -> m.Question:
        return await self._call("getQuestion", m.Question, path={"id": id}, query={"wait_seconds": wait_seconds})

    def list(self, *, status: str | None = None, session_id: str | None = None, task_id: str | None = None, limit: int | None = None) -> AsyncList[m.Question]:
        return self._list("listQuestions", m.Question, {}, {"status": status, "session_id": session_id, "task_id": task_id, "limit": limit})

    async def answer(self, id: str, body: m.NewAnswer | Mapping[str, Any] | None = None, /, **fields: Any) -> m.Question:
        return await self._call("answerQuestion", m.Question, path={"id": id}, body=body_of(body, fields))

    async def withdraw(self, id: str) -> m.Question:
        return await self._call("withdrawQuestion", m.Question, path={"id": id})

    async def closed(self, id: str) -> m.Question:
        """Waits until the question is answered, expired or withdrawn, also over restarts of the server."""

        async def poll() -> m.Question:
            return await self.get(id, wait_seconds=WAIT_SECONDS)

        return await poll_until(poll, lambda question: question.status != "open")


class AsyncEvaluations(AsyncNoun):
    """Judgements of outputs."""

    async def create(self, body: m.NewEvaluation | Mapping[str, Any] | None = None, /, **fields: Any) -> m.Evaluation:
        return await self._call("createEvaluation", m.Evaluation, body=body_of(body, fields))

    async def get(self, id: str) -> m.Evaluation:
        return await self._call("getEvaluation", m.Evaluation, path={"id": id})

    def list(self, *, task_id: str | None = None, subtask_id: str | None = None, limit: int | None = None) -> AsyncList[m.EvaluationSummary]:
        return self._list("listEvaluations", m.EvaluationSummary, {}, {"task_id": task_id, "subtask_id": subtask_id, "limit": limit})

    async def payload(self, id: str) -> m.EvaluatedPayload:
        """The whole text that was evaluated."""
        return await self._call("getEvaluationPayload", m.EvaluatedPayload, path={"id": id})

    async def stats(self, *, from_: str | None = None, to: str | None = None, by: str | None = None) -> m.AnyEvaluationStats:
        return await self._call("getEvaluationStats", m.AnyEvaluationStats, query={"from": from_, "to": to, "by": by})

    async def export_training(self, **query: Any) -> AsyncIterator[Any]:
        """Training examples, one JSON value each, as they arrive."""
        reader = LineReader()
        async for chunk in self._transport.chunks("exportTraining", silent_seconds=SILENT_SECONDS, query=query):
            for line in reader.feed(chunk):
                yield json.loads(line)
        for line in reader.end():
            yield json.loads(line)


class AsyncSubagents(AsyncNoun):
    """Definitions in Markdown with role, model and tools."""

    def list(self, *, limit: int | None = None) -> AsyncList[m.SubagentSummary]:
        return self._list("listSubagents", m.SubagentSummary, {}, {"limit": limit})

    async def get(self, name: str) -> m.Subagent:
        return await self._call("getSubagent", m.Subagent, path={"name": name})

    async def put(self, name: str, markdown: str) -> m.PutSubagent:
        """Stores a definition from its Markdown."""
        return await self._call("putSubagent", m.PutSubagent, path={"name": name}, body=markdown)

    async def delete(self, name: str) -> None:
        await self._call("deleteSubagent", NoneType, path={"name": name})

    async def spawn(self, name: str, body: m.SubagentSpawn | Mapping[str, Any] | None = None, /, **fields: Any) -> m.SpawnResult:
        """Runs a sub-agent. In the foreground it may have ended already."""
        return await self._call("spawnSubagent", m.SpawnResult, path={"name": name}, body=body_of(body, fields))

    async def check_tool(self, name: str, body: m.ToolCheck | Mapping[str, Any] | None = None, /, **fields: Any) -> m.ToolAnswer:
        """Whether a sub-agent may use a tool with these arguments."""
        return await self._call("checkSubagentTool", m.ToolAnswer, path={"name": name}, body=body_of(body, fields))

    async def import_archive(self, content: bytes, content_type: str) -> m.SubagentImport:
        """Imports an archive: ``application/zip``, ``application/x-tar`` or ``application/gzip``."""
        return await self._call("importSubagents", m.SubagentImport, body=content, content_type=content_type)


class AsyncGuides(AsyncNoun):
    """Troubleshooting guides: patterns of a failure, and what to do about it."""

    async def create(self, body: m.NewTsg | Mapping[str, Any] | None = None, /, **fields: Any) -> m.Tsg:
        return await self._call("createTsg", m.Tsg, body=body_of(body, fields))

    async def put(self, tsg_id: str, markdown: str) -> m.Tsg:
        """Stores a guide from its Markdown."""
        return await self._call("putTsg", m.Tsg, path={"tsg_id": tsg_id}, body=markdown)

    async def get(self, tsg_id: str, *, session_id: str | None = None) -> m.Tsg:
        return await self._call("getTsg", m.Tsg, path={"tsg_id": tsg_id}, query={"session_id": session_id})

    def list(self, *, q: str | None = None, technology: str | None = None, severity: str | None = None, limit: int | None = None) -> AsyncList[m.TsgSummary]:
        return self._list("listTsgs", m.TsgSummary, {}, {"q": q, "technology": technology, "severity": severity, "limit": limit})

    async def update(self, tsg_id: str, body: m.TsgPatch | Mapping[str, Any] | None = None, /, **fields: Any) -> m.Tsg:
        return await self._call("updateTsg", m.Tsg, path={"tsg_id": tsg_id}, body=body_of(body, fields))

    async def delete(self, tsg_id: str, *, force: str | None = None) -> None:
        await self._call("deleteTsg", NoneType, path={"tsg_id": tsg_id}, query={"force": force})

    async def scan(self, body: m.TsgScan | Mapping[str, Any] | None = None, /, **fields: Any) -> m.TsgScanResult:
        """Which guides fit a text."""
        return await self._call("scanTsgs", m.TsgScanResult, body=body_of(body, fields))

    async def feedback(self, tsg_id: str, body: m.TsgFeedback | Mapping[str, Any] | None = None, /, **fields: Any) -> m.TsgUsage:
        return await self._call("recordTsgFeedback", m.TsgUsage, path={"tsg_id": tsg_id}, body=body_of(body, fields))

    async def usage(self, tsg_id: str) -> m.TsgUsage:
        return await self._call("getTsgUsage", m.TsgUsage, path={"tsg_id": tsg_id})


class AsyncMemory(AsyncNoun):
    """Facts that agents keep, and subtasks that have ended."""

    async def search(self, *, q: str, kind: str | None = None, agent_id: str | None = None, limit: int | None = None) -> m.MemorySearch:
        return await self._call("searchMemory", m.MemorySearch, query={"q": q, "kind": kind, "agent_id": agent_id, "limit": limit})

    async def learn(self, body: m.NewFact | Mapping[str, Any] | None = None, /, **fields: Any) -> m.Fact:
        return await self._call("learnFact", m.Fact, body=body_of(body, fields))

    async def fact(self, id: str) -> m.Fact:
        return await self._call("getFact", m.Fact, path={"id": id})

    async def delete_fact(self, id: str) -> None:
        await self._call("deleteFact", NoneType, path={"id": id})

    async def episode(self, id: str) -> m.Episode:
        return await self._call("getEpisode", m.Episode, path={"id": id})

    async def forget_episode(self, id: str) -> None:
        await self._call("forgetEpisode", NoneType, path={"id": id})


class AsyncSessions(AsyncNoun):
    """What sessions have not received yet, and their messages."""

    async def inject(self, id: str, body: m.InjectionRequest | Mapping[str, Any] | None = None, /, *, ack: str | None = None, **fields: Any) -> m.Injection:
        """Everything the session has not received. With ``ack="manual"`` it comes again after a minute unless it is acknowledged."""
        return await self._call("injectSession", m.Injection, path={"id": id}, body=body_of(body, fields), query={"ack": ack})

    async def acknowledge(self, id: str, claim_id: str) -> None:
        await self._call("acknowledgeInjection", NoneType, path={"id": id, "claim_id": claim_id})

    async def post(self, id: str, body: m.NewMessage | Mapping[str, Any] | None = None, /, **fields: Any) -> m.Message:
        return await self._call("postMessage", m.Message, path={"id": id}, body=body_of(body, fields))

    def messages(self, id: str, *, limit: int | None = None) -> AsyncList[m.Message]:
        return self._list("listMessages", m.Message, {"id": id}, {"limit": limit})


class AsyncInbox(AsyncNoun):
    """Results that wait for the session that asked for them."""

    async def claim_page(self, id: str, body: m.InboxClaimRequest | Mapping[str, Any] | None = None, /, **fields: Any) -> m.ClaimedInbox:
        """Takes items out of an inbox; ``claim`` does that item by item."""
        return await self._call("claimInbox", m.ClaimedInbox, path={"id": id}, body=body_of(body, fields))

    async def acknowledge(self, id: str, claim_id: str) -> None:
        await self._call("acknowledgeInbox", NoneType, path={"id": id, "claim_id": claim_id})

    async def claim(self, session: str, *, limit: int = 1, poll_seconds: float | None = None) -> AsyncIterator[m.InboxItem]:
        """The items of an inbox, oldest first. An item is acknowledged when the loop asks for the next one.

        What was not acknowledged, because the loop raised, was left or died, is delivered again after a minute. With ``poll_seconds`` it waits for more.
        """
        # A loop that waits for more waits for a server that is away, too.
        retries = None if poll_seconds is None else sys.maxsize
        while True:
            page = await self._call("claimInbox", m.ClaimedInbox, path={"id": session}, body={"limit": limit, "ack": "manual"}, retries=retries)
            for item in page.items:
                yield item
            if page.claim_id is not None:
                await self._call("acknowledgeInbox", NoneType, path={"id": session, "claim_id": page.claim_id}, retries=retries)
            if page.items:
                continue
            if poll_seconds is None:
                return
            await asyncio.sleep(poll_seconds)


class AsyncProjects(AsyncNoun):
    async def get(self, id: str) -> m.Project:
        return await self._call("getProject", m.Project, path={"id": id})

    async def update(self, id: str, body: m.ProjectPatch | Mapping[str, Any] | None = None, /, **fields: Any) -> m.Project:
        return await self._call("updateProject", m.Project, path={"id": id}, body=body_of(body, fields))


class AsyncKeys(AsyncNoun):
    """API keys of the project."""

    async def create(self, body: m.NewApiKey | Mapping[str, Any] | None = None, /, **fields: Any) -> m.CreatedApiKey:
        return await self._call("createApiKey", m.CreatedApiKey, body=body_of(body, fields))

    def list(self, *, limit: int | None = None) -> AsyncList[m.ApiKey]:
        return self._list("listApiKeys", m.ApiKey, {}, {"limit": limit})

    async def revoke(self, id: str) -> None:
        await self._call("revokeApiKey", NoneType, path={"id": id})


class AsyncServer(AsyncNoun):
    """The server itself."""

    async def health(self) -> m.Health:
        return await self._call("getHealth", m.Health)

    async def readiness(self) -> m.Readiness:
        return await self._call("getReadiness", m.Readiness)

    async def metrics(self) -> str:
        """In the format of Prometheus."""
        return await self._call("getMetrics", str)

    async def runners(self) -> m.RunnerList:
        """What can execute a subtask here."""
        return await self._call("listRunners", m.RunnerList)


class AsyncWebhooks(AsyncNoun):
    """Addresses to which events are pushed, and each delivery."""

    async def create(self, body: m.NewWebhook | Mapping[str, Any] | None = None, /, **fields: Any) -> m.WebhookWithSecret:
        """Its secret is in this answer only."""
        return await self._call("createWebhook", m.WebhookWithSecret, body=body_of(body, fields))

    async def get(self, id: str) -> m.Webhook:
        return await self._call("getWebhook", m.Webhook, path={"id": id})

    def list(self, *, limit: int | None = None) -> AsyncList[m.Webhook]:
        return self._list("listWebhooks", m.Webhook, {}, {"limit": limit})

    async def update(self, id: str, body: m.WebhookPatch | Mapping[str, Any] | None = None, /, **fields: Any) -> m.Webhook:
        return await self._call("updateWebhook", m.Webhook, path={"id": id}, body=body_of(body, fields))

    async def delete(self, id: str) -> None:
        await self._call("deleteWebhook", NoneType, path={"id": id})

    async def rotate_secret(self, id: str, body: m.SecretRotation | Mapping[str, Any] | None = None, /, **fields: Any) -> m.WebhookWithSecret:
        return await self._call("rotateWebhookSecret", m.WebhookWithSecret, path={"id": id}, body=body_of(body, fields))

    async def test(self, id: str) -> m.EventDelivery:
        """Sends a test event."""
        return await self._call("testWebhook", m.EventDelivery, path={"id": id})

    def deliveries(self, id: str, *, limit: int | None = None, status: str | None = None) -> AsyncList[m.EventDeliverySummary]:
        return self._list("listWebhookDeliveries", m.EventDeliverySummary, {"id": id}, {"limit": limit, "status": status})

    async def delivery(self, id: str, delivery_id: str) -> m.EventDelivery:
        return await self._call("getWebhookDelivery", m.EventDelivery, path={"id": id, "delivery_id": delivery_id})

    async def redeliver(self, id: str, delivery_id: str) -> m.EventDelivery:
        return await self._call("redeliverToWebhook", m.EventDelivery, path={"id": id, "delivery_id": delivery_id})


class AsyncDeliveries(AsyncNoun):
    """What was sent to webhooks, callbacks and channels."""

    def list(
        self,
        *,
        limit: int | None = None,
        receiver_kind: str | None = None,
        receiver_id: str | None = None,
        status: str | None = None,
        subject: str | None = None,
        since: str | None = None,
    ) -> AsyncList[m.EventDeliverySummary]:
        query = {"limit": limit, "receiver_kind": receiver_kind, "receiver_id": receiver_id, "status": status, "subject": subject, "since": since}
        return self._list("listDeliveries", m.EventDeliverySummary, {}, query)

    async def get(self, id: str) -> m.EventDelivery:
        return await self._call("getDelivery", m.EventDelivery, path={"id": id})

    async def redeliver(self, id: str) -> m.EventDelivery:
        """Sends the same bytes again."""
        return await self._call("redeliver", m.EventDelivery, path={"id": id})


class AsyncWorkers(AsyncNoun):
    """The processes that run subtasks."""

    def list(self, *, limit: int | None = None) -> AsyncList[m.Worker]:
        return self._list("listWorkers", m.Worker, {}, {"limit": limit})

    async def drain(self, id: str, body: m.NewDrain | Mapping[str, Any] | None = None, /, **fields: Any) -> m.Drain:
        """Has a worker take no more work."""
        return await self._call("drainWorker", m.Drain, path={"id": id}, body=body_of(body, fields))


class AsyncAudit(AsyncNoun):
    """Who changed what."""

    def list(
        self,
        *,
        actor: str | None = None,
        operation: str | None = None,
        subject: str | None = None,
        door: str | None = None,
        since: str | None = None,
        until: str | None = None,
        limit: int | None = None,
    ) -> AsyncList[m.AuditEntry]:
        return self._list(
            "listAudit",
            m.AuditEntry,
            {},
            {"actor": actor, "operation": operation, "subject": subject, "door": door, "since": since, "until": until, "limit": limit},
        )

    async def export(self, **query: Any) -> AsyncIterator[m.AuditEntry]:
        """Entries as they arrive."""
        reader = LineReader()
        async for chunk in self._transport.chunks("exportAudit", silent_seconds=SILENT_SECONDS, query=query):
            for line in reader.feed(chunk):
                yield read(m.AuditEntry, line.encode(), 200)
        for line in reader.end():
            yield read(m.AuditEntry, line.encode(), 200)


class AsyncEvents(AsyncNoun):
    """The event log of the project."""

    def follow(self, *, after: int | None = None, type: str | None = None, subject: str | None = None) -> AsyncIterator[m.Event]:
        """Events from now on, or after an id. Continues over lost connections without missing one, and does not end."""
        return follow_events(self._transport, "streamEvents", after=after, query={"type": type, "subject": subject})
