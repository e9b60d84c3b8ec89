# Generated from openapi.yaml by scripts/check/python-client.ts. Do not edit: `npm run check -- --fix` writes it again.
# Of schemas 08aa67a1b8017c2b.
from pydantic import BaseModel, ConfigDict, Field, RootModel
from typing import Any, Literal
from datetime import datetime


class Agent(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    agent_id: str
    running: int
    pending: int
    """
    Of those without a permit, at most 1,000 are counted.
    """
    running_max: int
    """
    Subtasks that may run at once, if the limit of the project allows it.
    """
    pending_max: int
    """
    Subtasks that may be pending, likewise.
    """


class AgentList(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    items: list[Agent]
    next_cursor: str | None


class AgreementCriterion(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    id: str
    text: str


class AgreementLinks(BaseModel):
    """
    Paths to read more.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    evaluation: str
    output: str
    task: str | None
    subtask: str | None


class AgreementPairs(BaseModel):
    """
    How often the verdict and the person say met. For outputs: approve, and accepted.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    both_met: int
    only_verdict_met: int
    only_person_met: int
    both_unmet: int


class AssignmentRequest(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    subagent_session_id: str
    """
    The session that is to do it.
    """
    resend: bool | None = None
    """
    Deliver the whole brief again to the session that already holds the task. Default: false.
    """


class BriefContinuation(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    state: str
    """
    What the last attempt left with `POST /subtasks/{id}/wait`.
    """
    updates: str
    """
    What has reached the subtask since: the answer, and other updates. Part of `text` as well.
    """


class BriefCriterion(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    id: str
    text: str


class BriefSubagent(BaseModel):
    """
    The sub-agent of the run, whose tools the worker must enforce.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    name: str
    version: int
    instructions: str
    """
    Already part of `text`.
    """
    tools: list[str]
    """
    Allowed tools; `*` allows every tool.
    """
    disallowed_tools: list[str]
    max_turns: int | None
    """
    The maximum number of model requests.
    """


class BriefWarning(BaseModel):
    """
    A suggestion that does not block the request.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    field: str
    message: str
    timestamp: str


class Budget(BaseModel):
    """
    The limit for all attempts together. Null means no limit.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    max_steps: int
    """
    Model responses; for programs and outside workers, the steps that they report.
    """
    max_tokens: int | None
    max_cost_usd: float | None


class BudgetAmounts(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    cost_usd: float | None = None
    tokens: int | None = None
    """
    Read and written
    """


class Callback(BaseModel):
    """
    A webhook for this one only, which gets the event of its end, such as `subtask.completed`.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    url: str
    """
    As of a webhook.
    """
    secret: str | None = None
    """
    Signs the request by Standard Webhooks: `whsec_` and 24 to 64 bytes in base64. Without it, the request is not signed.
    """


class CheckInText(RootModel[str]):
    root: str


class ClaimRequest(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    runner: str | None = None
    """
    The runner whose queue to claim from. Default: external.
    """
    worker_id: str
    """
    Name of the worker, shown as `worker_id` of the subtask.
    """
    lease_seconds: int | None = None
    """
    Seconds that the lease lasts without a heartbeat. Default: 60.
    """
    wait_seconds: int | None = None
    """
    Seconds to wait for work. Default: 0.
    """


class ClaudeCodeHookInput(BaseModel):
    """
    `HookInput` of `@anthropic-ai/claude-agent-sdk`. Other fields are ignored.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    __pydantic_extra__: dict[str, Any]
    hook_event_name: str
    """
    What has happened.
    """
    session_id: str
    """
    Claude Code’s own session.
    """
    agent_id: str | None = None
    """
    The sub-agent inside of it that this is about.
    """
    agent_type: str | None = None
    """
    What kind of sub-agent that is.
    """
    tool_name: str | None = None
    tool_input: Any | None = None
    tool_use_id: str | None = None
    """
    Names one use of a tool in all events about it.
    """
    tool_response: Any | None = None
    """
    What the tool answered.
    """
    cwd: str | None = None
    """
    The folder of the session.
    """
    error: str | None = None
    """
    Why a tool failed.
    """
    last_assistant_message: str | None = None
    stop_hook_active: bool | None = None
    """
    Whether an earlier Stop made the agent go on.
    """


class ClaudeCodeHookOutput(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    hookEventName: str
    additionalContext: str | None = None
    """
    What is new, for the model to read.
    """
    updatedInput: dict[str, Any] | None = None
    """
    The input of the Agent tool, with the brief at the end of its prompt.
    """
    permissionDecision: Literal['deny'] | str | None = None
    permissionDecisionReason: str | None = None


class DeliveryAttempt(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    at: datetime
    status: int | None
    """
    The status of the answer; null if there was none.
    """
    latency_ms: int
    error: str | None
    """
    Why there was no answer, or none that counts.
    """
    response: str | None
    """
    The beginning of the answer, at most 1 KiB.
    """


class DiffPart(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    op: Literal['keep', 'add', 'remove'] | str
    text: str


class EvaluatedPayload(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    full_output: str
    evaluation_id: str
    """
    The latest evaluation of the output.
    """
    subtask_id: str | None


class EvaluationDimensions(BaseModel):
    """
    The score of some categories; null if no item of them counts.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    correctness: float | None
    security: float | None
    style: float | None
    completeness: float | None


class EvaluationGates(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    security: bool | None = None
    required_criteria: bool | None = None
    strict_constraints: bool | None = None


class ExhaustedBudget(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    scope: str
    """
    `project`, `agent` or `task`.
    """
    window: str
    """
    `day` or `total`.
    """
    unit: str
    """
    `tokens` or `cost_usd`.
    """
    agent_id: str | None = None
    task_id: str | None = None


class FieldProblem(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    pointer: str
    """
    JSON pointer into the body, `?name` for a query parameter, `{name}` for a path parameter, `name:` for a header.
    """
    field: str
    reason: str
    value: Any | None = None
    """
    What was sent, cut to 100 characters.
    """
    line: int | None = None
    """
    Of a text of lines, from 1.
    """


class Health(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    status: Literal['ok'] | str


class InboxClaimRequest(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    limit: int | None = None
    """
    The maximum number of items. Default: 50.
    """
    ack: Literal['auto', 'manual'] | str | None = None
    """
    Default: auto.
    """


class InjectionRequest(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    messages: list[str] | None = None
    """
    The latest messages, which are scanned for failures that guides cover. Default: [].
    """


class JudgeModel(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    model: str | None = None
    """
    Default: the judge of the server.
    """


class JudgeSettings(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    model: str | None = None


class Lease(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    token: str
    """
    The proof of the lease. Every write needs it.
    """
    attempt: int
    expires_at: datetime
    """
    When the lease expires, unless a heartbeat renews it.
    """


class LinkedTsg(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    id: str
    tsg_id: str = Field(..., deprecated=True)
    """
    Use `id`.
    """
    title: str


class LoopSettings(BaseModel):
    """
    When work counts as going in circles, and what happens then
    """

    model_config = ConfigDict(
        extra='allow',
    )
    repeats: int | None = None
    """
    After so many equal failures of one call a notice is sent (3); after twice as many the run is blocked.
    """
    quiet_seconds: int | None = None
    """
    After so many seconds without a new step a notice is sent (600); after twice as many the run is blocked. 0: never.
    """
    action: Literal['block', 'notice', 'off'] | str | None = None
    """
    block (the default): a notice, then the end. notice: the notice alone. off: nothing.
    """


class NewAnswer(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    option_id: str | None = None
    answer: Any | None = None
    """
    The answer to a question without options, valid against its schema; beside a decision, a text.
    """
    decision: Literal['approve', 'reject'] | str | None = None
    edited_arguments: dict[str, Any] | None = None
    """
    With approve: permits these arguments instead of those that were asked about.
    """
    always: bool | None = None
    """
    With approve: approves whatever the same rule asks about, for the rest of the run.
    """
    arguments_digest: str | None = None
    """
    The `arguments_digest` that you decide about. An approval of other arguments is refused.
    """
    revision: int | None = None
    """
    The current revision of the task, to answer a question that was asked at an older one.
    """


class NewBudget(BaseModel):
    """
    The limit for all attempts together. A subtask that reaches it ends as `budget_exceeded`.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    max_steps: int | None = None
    """
    Model responses; for programs and outside workers, the steps that they report. Default: 50.
    """
    max_tokens: int | None = None
    max_cost_usd: float | None = None


class NewCheckIn(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    content: str
    """
    A text with a check-in block of this task.
    """
    session_id: str | None = None
    """
    The session that says it. Default: the one that holds the task.
    """
    revision: int | None = None
    """
    The revision that the assignee works from, if the block names none.
    """


class NewCriterion(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    id: str | None = None
    """
    The id of an existing criterion of this task.
    """
    text: str
    check: str | None = None
    """
    A check of `CHECKS`. Its exit code decides the criterion, whatever the agent says. A criterion that the task has keeps its check where this is absent; null removes it.
    """


class NewDefaultAnswer(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    option_id: str | None = None
    answer: Any | None = None
    """
    The answer to a question without options, valid against its schema; beside a decision, a text.
    """
    decision: Literal['approve', 'reject'] | str | None = None


class NewDrain(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    runs: Literal['finish', 'release'] | str | None = None
    """
    Default: finish.
    """


class NewEvaluation(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    output: str
    """
    Characters that cannot be stored (U+0000, lone surrogates) become U+FFFD.
    """
    acceptance_criteria: list[str] | None = None
    """
    Instead of those of the task. Their ids are `criterion-1`, `criterion-2` and so on.
    """
    threshold: float | None = None
    """
    Below this score the text has to be revised. At most `approve_at` of the project (0.8), which stays as it is. Default: the setting of the project, otherwise 0.6.
    """
    task_id: str | None = None
    session_id: str | None = None
    """
    The session that it comes from.
    """
    judge: bool | JudgeModel | None = None


class NewFact(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    content: str
    """
    The fact, ideally one sentence that can be understood on its own.
    """
    tags: list[str] | None = None
    """
    Stored with the fact. Searches use the content only. Default: [].
    """
    source_subtask_id: str | None = None
    """
    A subtask’s own credential always means itself.
    """


class NewMessage(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    role: Literal['user', 'assistant', 'system', 'tool'] | str
    content: str
    """
    Characters that cannot be stored (U+0000, lone surrogates) become U+FFFD.
    """
    model: str | None = None
    task_id: str | None = None
    agent_name: str | None = None
    """
    Name of the agent that wrote the message.
    """
    usage: dict[str, Any] | None = None
    """
    The usage as reported by the model provider; at most 16 KiB as JSON.
    """
    metadata: dict[str, Any] | None = None
    """
    Your own data, at most 16 KiB as JSON. Default: {}.
    """


class NewNote(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    content: str
    """
    What the assignee should know or do from now on.
    """


class NewQuestionOption(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    id: str
    label: str
    description: str | None = None
    """
    Default: null.
    """


class NewRequiredOutput(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    name: str
    description: str | None = None
    schema_: dict[str, Any] | None = Field(None, alias='schema')
    """
    JSON Schema 2020-12 of the value; it alone decides whether an empty value is accepted. Null never is.
    """


class NewSuccessCriteria(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    criteria: list[str | NewCriterion]
    all_required: bool | None = None


class NewTaskBudget(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    max_tokens: int | None = None
    """
    Read and written.
    """
    max_cost_usd: float | None = None


class NewTsgApplicability(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    technologies: list[str]


class NewUpdate(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    content: str
    """
    What the agent should know or do from now on.
    """
    delivery: Literal['next_step', 'interrupt'] | str | None = None
    """
    Default: next_step.
    """


class NewWebhook(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    url: str
    """
    Where events are sent to, with POST. Public addresses only, unless operator and project allow more.
    """
    events: list[
        Literal[
            '*',
            'subtask.*',
            'task.*',
            'update.*',
            'question.*',
            'schedule.*',
            'check.*',
            'evaluation.*',
            'tsg.*',
            'webhook.*',
            'subtask.created',
            'subtask.started',
            'subtask.progress',
            'subtask.retrying',
            'subtask.released',
            'subtask.waiting',
            'subtask.resumed',
            'subtask.cancel_requested',
            'subtask.completed',
            'subtask.failed',
            'subtask.cancelled',
            'task.created',
            'task.revised',
            'task.assigned',
            'task.blocked',
            'task.unblocked',
            'task.checked_in',
            'task.in_review',
            'task.revision_requested',
            'task.completed',
            'task.failed',
            'task.cancelled',
            'update.queued',
            'update.delivered',
            'update.acknowledged',
            'update.superseded',
            'update.expired',
            'question.asked',
            'question.answered',
            'question.expired',
            'question.withdrawn',
            'schedule.created',
            'schedule.fired',
            'schedule.skipped',
            'schedule.paused',
            'schedule.finished',
            'schedule.deactivated',
            'check.completed',
            'evaluation.created',
            'tsg.surfaced',
            'tsg.resolved',
            'webhook.disabled',
        ] | str
    ]
    """
    The types of events that are sent.
    """
    subject: str | None = None
    """
    Only events of this subject: the id of a subtask, task, schedule or evaluation, or the `tsg_id` of a guide.
    """
    agent_id: str | None = None
    """
    Only events of subtasks and slots of this agent.
    """
    session_id: str | None = None
    """
    Only events of work whose parent session this is, or of tasks that it holds.
    """
    ordered: bool | None = None
    """
    true: the events of one subject are sent one after the other. Default: false.
    """
    description: str | None = None


class PhraseCandidate(BaseModel):
    """
    An unambiguous phrase, and what it means.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    phrase: str
    reading: str
    next_fire_at: str


class ProblemWarning(BaseModel):
    """
    What was changed or ignored in an input that has problems as well.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    field: str
    message: str
    timestamp: str


class PromptSection(RootModel[str]):
    root: str


class QuestionOption(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    id: str
    label: str
    description: str | None


class QuietHours(BaseModel):
    """
    Messages of these hours are sent when they are over. The time zone is that of the project
    """

    model_config = ConfigDict(
        extra='allow',
    )
    from_: str = Field(..., alias='from')
    to: str


class ReadinessPart(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    status: Literal['ok', 'degraded', 'failed', 'unknown'] | str
    """
    `failed` makes the process not ready. `degraded` does not, but needs an operator. `unknown`: another part failed before.
    """
    detail: str | None
    """
    What is wrong and what to do; null if nothing is known to be.
    """


class ReadinessParts(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    process: ReadinessPart
    database: ReadinessPart
    migrations: ReadinessPart
    writes: ReadinessPart
    queues: ReadinessPart
    relay: ReadinessPart
    partitions: ReadinessPart
    history: ReadinessPart


class Reason(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    reason: str
    """
    Stored in `last_error`.
    """


class RecommendationCounts(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    approve: int
    review: int
    request_revision: int


class Reference(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    kind: str
    """
    Such as `key`, `open`, `session`, `subtask`, `task`, `worker` or `muster`.
    """
    id: str
    name: str | None = None
    """
    Of a sender: the name of the API key, or the session that a caller without a key named.
    """


class ReflectionItem(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    emoji: str
    category: str | None
    """
    Null for an unknown emoji.
    """
    text: str
    weight: float
    """
    The weight in the score; 0: it does not count.
    """


class ReleaseRequest(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    lease_token: str
    """
    `lease.token` of the claim.
    """


class RequiredOutput(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    name: str
    description: str | None
    schema_: dict[str, Any] | None = Field(..., alias='schema')
    """
    JSON Schema 2020-12 of the value.
    """


class RetentionDays(BaseModel):
    """
    Days for which things are kept; RETENTION_DAYS of the server where it is absent
    """

    model_config = ConfigDict(
        extra='allow',
    )
    events: int | None = None
    steps: int | None = None
    inbox: int | None = None
    deliveries: int | None = None
    messages: int | None = None
    subtasks: int | None = None
    folders: int | None = None


class SandboxLimits(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    memory_bytes: int | None
    """
    Null: not limited.
    """
    processes: int | None
    """
    Processes and threads at once. Null: not limited.
    """
    problem: str | None
    """
    Which setting does not hold on this machine, and why.
    """


class ScheduleFilter(RootModel[Literal['true', 'false', 'all'] | str]):
    root: Literal['true', 'false', 'all'] | str


class ScheduleFirings(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    firings: list[datetime]
    """
    In order.
    """
    is_cut: bool
    """
    More would come until then.
    """


class SchedulePatch(BaseModel):
    """
    Only the fields to change. Null removes a field or resets it to its default. Other fields as in `NewSchedule`.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    task: str | None = None
    when: str | None = None
    every: str | None = None
    cron: str | None = None
    timezone: str | None = None
    agent_id: str | None = None
    """
    The agent whose limits it counts against. A key bound to an agent overrides it.
    """
    notify: bool | None = None
    timeout_seconds: int | None = None
    priority: Literal['low', 'normal', 'high', 'urgent'] | str | None = None
    subagent: str | None = None
    """
    The sub-agent to run, in the background.
    """
    runner: str | None = None
    model: str | None = None
    budget: NewBudget | None = None
    """
    The budget of each run. Replaces the whole budget.
    """
    max_fires: int | None = None
    """
    A value that is not above `fire_count` finishes the schedule.
    """
    overlap: Literal['skip', 'allow'] | str | None = None
    missed: Literal['skip', 'run_once'] | str | None = None
    grace_seconds: int | None = None
    """
    Seconds that a slot may fire late before it counts as missed.
    """
    parent_session_id: str | None = None
    callback: Callback | None = None
    """
    Where the end of each run is sent to from now on; null: nowhere. A merge patch without `secret` keeps the secret; `secret: null` removes it.
    """
    metadata: dict[str, Any] | None = None
    """
    Your own data, at most 16 KiB as JSON.
    """


class SchedulePreviewRequest(BaseModel):
    """
    The body of a creation, and the time at which to read the phrase. Other fields as in `NewSchedule`.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    task: str | None = None
    when: str | None = None
    every: str | None = None
    cron: str | None = None
    timezone: str | None = None
    agent_id: str | None = None
    notify: bool | None = None
    timeout_seconds: int | None = None
    priority: Literal['low', 'normal', 'high', 'urgent'] | str | None = None
    subagent: str | None = None
    runner: str | None = None
    model: str | None = None
    budget: NewBudget | None = None
    max_fires: int | None = None
    overlap: Literal['skip', 'allow'] | str | None = None
    missed: Literal['skip', 'run_once'] | str | None = None
    grace_seconds: int | None = None
    parent_session_id: str | None = None
    callback: Callback | None = None
    metadata: dict[str, Any] | None = None
    from_: datetime | None = Field(None, alias='from')
    """
    The time at which to read the phrase. Default: now.
    """


class ScheduleWarning(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    code: str
    message: str


class SecretRotation(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    overlap_seconds: int | None = None
    """
    For so long, deliveries have a second signature by the secret before. 0 if it has leaked. Default: 86400.
    """


class SentPrompt(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    attempt: int
    system: str | None
    """
    The instructions above the conversation; null if the runner gives its program one text.
    """
    message: str | None
    """
    The first message of the attempt; null if it goes on with the result of a tool.
    """
    is_continued: bool
    """
    The attempt goes on after a wait. The transcript has the conversation between `system` and `message`.
    """
    is_cut: bool
    """
    A text was longer than the 256 KiB that are kept of it.
    """
    at: datetime


class SentPromptList(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    items: list[SentPrompt]
    next_cursor: str | None


class ShortenedField(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    field: str
    """
    The field. It is null in this answer.
    """
    beginning: str
    """
    The first 2,000 characters of the value; of an object, as JSON.
    """
    bytes: int
    """
    Length of the whole value, in bytes of UTF-8.
    """
    whole_at: str
    """
    The request or the tool call that returns the whole value.
    """


class SlackSettings(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    webhook_url: str | None = None
    """
    An incoming webhook. It is stored encrypted and never shown; absent later: it stays as it is
    """
    on: list[Literal['completed', 'failed', 'question'] | str]
    """
    What is reported. A subtask or schedule with `notify: false` is not.
    """
    quiet_hours: QuietHours | None = None
    digest_minutes: int | None = None
    """
    What is reported within so many minutes becomes one message, but for questions.
    """


class SpawnResult(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    success: bool
    """
    Whether the subtask completed. True while it has not ended.
    """
    subagent_type: str
    summary: str | None
    """
    The summary of the result, otherwise the result, cut to 4,000 characters. Null until the end.
    """
    duration_ms: int
    """
    As of the subtask; 0 until it has ended.
    """
    background: bool
    error: str | None
    """
    Why the subtask did not complete.
    """
    subtask_id: str
    runner: str
    runner_reason: str | None = None
    """
    Why this runner, in one sentence.
    """
    warnings: list[str]
    """
    Tools that the definition lists and this run does not have.
    """


class StatsGrouping(RootModel[Literal['day', 'subagent', 'criterion', 'agreement'] | str]):
    root: Literal['day', 'subagent', 'criterion', 'agreement'] | str


class StoredByRun(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    id: str
    """
    A subtask, or a task that was assigned.
    """
    bytes: int


class StoredBytes(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    bytes: int
    """
    What the project stores: texts before compression, with a fixed charge a row.
    """
    limit_bytes: int
    """
    How much it may store. Beyond it, what would be stored is refused with `quota_exceeded`.
    """
    run_limit_bytes: int
    """
    How much one run may store.
    """
    runs: list[StoredByRun]
    """
    The runs under way that have stored most. At most 10.
    """


class SubagentMarkdown(RootModel[str]):
    root: str
    """
    Front matter as in Claude Code with the instructions below, or the sections `## Role`, `## Model`, `## Allowed Tools`, `## Protocol`.
    """


class SubagentProblem(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    line: int
    """
    The line in the text, starting at 1.
    """
    field: str
    pointer: str
    reason: str


class SubagentRef(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    name: str
    version: int


class SubagentSpawn(BaseModel):
    """
    Other fields as in `NewSubtask`.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    prompt: str
    """
    The instructions, complete: the sub-agent has only its definition besides.
    """
    description: str
    """
    For people; stored as `metadata.description` of the subtask.
    """
    model: str | None = None
    """
    Overrides the model of the definition.
    """
    run_in_background: bool | None = None
    """
    Return without waiting. In the background, only Muster’s own MCP tools are available. Default: false.
    """
    resume: str | None = None
    """
    An ended subtask of the same sub-agent that the new one continues.
    """
    wait_seconds: float | None = None
    """
    Seconds to wait for the end. Default: 60, in the background 0.
    """
    agent_id: str | None = None
    """
    The agent on whose behalf it runs. Default: that of `resume`, else `default`.
    """
    parent_session_id: str | None = None
    timeout_seconds: int | None = None
    runner: str | None = None
    callback: Callback | None = None


class SubagentSummary(BaseModel):
    """
    Other fields as in `Subagent`.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    name: str
    title: str | None
    description: str
    model: str
    tools: list[str]
    disallowed_tools: list[str]
    ask: list[str]
    definition_path: str | None
    version: int
    source: Literal['file', 'api', 'builtin'] | str
    """
    For one name, the API takes precedence over files, and files over built-in definitions.
    """
    target_latency_ms: int | None
    max_turns: int | None
    background: bool
    mcp_servers: list[str]
    skills: list[str]
    callback_url: str | None
    unknown_keys: list[str]


class TaskBudget(BaseModel):
    """
    What all subtasks and judgements of a task may use together; null for any amount.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    max_tokens: int | None
    max_cost_usd: float | None


class TaskCompletion(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    outputs: dict[str, Any]
    """
    By name; at least the required outputs, more are stored too.
    """
    summary: str | None = None


class TaskConstraints(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    rules: list[str]
    enforcement_level: Literal['strict', 'advisory'] | str
    """
    strict: a constraint counts as a criterion. advisory: it only warns.
    """


class TaskDeliverables(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    items: list[str]
    validation_added: str


class TaskDispatch(BaseModel):
    """
    Other fields as in `NewSubtask`.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    agent_id: str | None = None
    priority: Literal['low', 'normal', 'high', 'urgent'] | str | None = None
    """
    Default: that of the task.
    """
    timeout_seconds: int | None = None
    notify: bool | None = None
    parent_session_id: str | None = None
    """
    The session whose inbox receives the result. Default: the parent session of the task.
    """
    subagent: str | None = None
    runner: str | None = None
    model: str | None = None
    max_attempts: int | None = None
    budget: NewBudget | None = None
    max_revisions: int | None = None
    """
    How many revision rounds may follow a poor result. Default: 0.
    """
    callback: Callback | None = None
    metadata: dict[str, Any] | None = None


class TaskStatusCounts(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    blocked: int
    pending: int
    assigned: int
    in_progress: int
    in_review: int
    revision_requested: int
    completed: int
    failed: int
    cancelled: int


class TaskSuccessCriteria(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    criteria: list[str]
    all_required: bool


class TaskSummary(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    id: str
    title: str
    status: Literal[
        'blocked',
        'pending',
        'assigned',
        'in_progress',
        'in_review',
        'revision_requested',
        'completed',
        'failed',
        'cancelled',
    ] | str
    """
    completed, failed and cancelled are final.
    """
    priority: Literal['low', 'normal', 'high', 'urgent'] | str
    """
    Waiting raises the rank of a subtask: one minute equals one level.
    """
    parent_session_id: str | None
    subagent_session_id: str | None
    has_enhanced_context: bool
    deliverables_count: int
    success_criteria_count: int
    created_at: datetime
    updated_at: datetime
    """
    When anything about it changed last.
    """


class TaskValidation(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    performed: bool
    warnings: list[BriefWarning]


class TelegramSettings(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    bot_token: str | None = None
    """
    Of the bot. It is stored encrypted and never shown; absent later: it stays as it is
    """
    chat_id: str
    """
    The chat that the bot writes to: a number, or @name of a channel
    """
    interactive: bool | None = None
    """
    Whether messages have buttons, and the bot reads this chat. Default: true, and false for @name, which is public
    """
    on: list[Literal['completed', 'failed', 'question'] | str]
    """
    What is reported. A subtask or schedule with `notify: false` is not.
    """
    quiet_hours: QuietHours | None = None
    digest_minutes: int | None = None
    """
    What is reported within so many minutes becomes one message, but for questions.
    """


class ToolAnswer(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    allowed: bool
    reason: str
    always_allowed: list[str]
    """
    Tools that are always allowed in the background.
    """


class ToolCheck(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    tool_name: str
    """
    The name of a tool, or one use of it, as in `Bash(git status)`.
    """
    background: bool | None = None
    """
    Whether the run is in the background. Default: false.
    """


class TrainingFormat(RootModel[Literal['openai', 'anthropic', 'jsonl'] | str]):
    root: Literal['openai', 'anthropic', 'jsonl'] | str
    """
    openai and anthropic: their fine-tuning formats. jsonl: with evaluation, quality and tags.
    """


class TrainingMessage(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    role: Literal['user', 'assistant', 'system', 'tool'] | str
    content: str


class TrainingRecord(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    messages: list[TrainingMessage]
    system: str | None = None
    """
    For anthropic: the system prompt.
    """
    evaluation: dict[str, Any] | None = None
    """
    For jsonl: the latest evaluation.
    """
    quality: str | None = None
    """
    For jsonl.
    """
    tags: list[str] | None = None
    """
    For jsonl.
    """


class TsgApplicability(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    technologies: list[str]


class TsgFeedback(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    resolved: bool
    session_id: str | None = None
    """
    The credential of a sub-agent always means its own.
    """
    task_id: str | None = None


class TsgMarkdown(RootModel[str]):
    root: str
    """
    Front matter in YAML with the fields of `NewTsg`, followed by the content.
    """


class TsgScan(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    error_message: str
    context: str | None = None
    """
    The surrounding output. It is scanned too.
    """
    session_id: str | None = None
    """
    The session whose next injection announces the guides, each once.
    """


class TsgSummary(BaseModel):
    """
    Other fields as in `Tsg`.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    id: str
    tsg_id: str = Field(..., deprecated=True)
    title: str
    patterns: list[str]
    match: Literal['substring', 'regex'] | str
    """
    substring: ignores case. regex: RE2 syntax, case-sensitive; `(?i)` ignores case, `(?m)` makes ^ and $ match at lines.
    """
    applicability: TsgApplicability
    severity: Literal['low', 'medium', 'high', 'critical'] | str
    """
    Guides are sorted by it, the most severe first.
    """
    created_at: datetime
    updated_at: datetime


class TsgUsage(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    tsg_id: str
    surfaced: int
    """
    How often the guide was announced, at most once per session.
    """
    read: int
    """
    How often a session read the guide.
    """
    resolved: int
    """
    How often feedback said that it helped.
    """
    unresolved: int
    """
    How often feedback said that it did not help.
    """
    rate: float | None
    """
    resolved / (resolved + unresolved); null if both are 0.
    """


class Usage(BaseModel):
    """
    The usage of all attempts so far.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    input_tokens: int
    output_tokens: int
    cost_usd: float
    steps: int
    """
    Entries of the transcript.
    """
    tool_calls: int


class UsageDelta(BaseModel):
    """
    Usage since the last report: amounts to add, not totals.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    input_tokens: int | None = None
    """
    Default: 0.
    """
    cached_input_tokens: int | None = None
    """
    Of the input tokens, those that the provider read from its cache. Default: 0.
    """
    output_tokens: int | None = None
    """
    Default: 0.
    """
    cost_usd: float | None = None
    """
    Default: 0.
    """
    tool_calls: int | None = None
    """
    Default: 0.
    """
    model: str | None = None
    """
    The model that was used. Without `cost_usd`, `GET /usage` prices the tokens by it.
    """


class UsageGroup(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    key: str | None
    """
    The day (UTC), project, agent, task, model or runner; `(judge)` is the runner of judgements. Null: none.
    """
    runs: int
    """
    Subtasks that ran and ended.
    """
    attempts: int
    """
    The number of their attempts.
    """
    judgements: int
    """
    The number of judgements that ended.
    """
    input_tokens: int
    """
    Tokens that models have read, with those from a cache.
    """
    cached_input_tokens: int
    """
    Of the input tokens, those that providers read from their caches.
    """
    output_tokens: int
    duration_ms: int
    """
    How long the attempts ran with a live worker, in milliseconds.
    """
    cost_usd: float | None
    """
    The cost of everything whose cost is known. Null if the cost of nothing is known.
    """
    cost_source: Literal['reported', 'priced', 'mixed'] | str | None
    """
    `reported`: runners and judges said it. `priced`: calculated from tokens and prices. Null: there is none.
    """
    unpriced_runs: int
    """
    Attempts and judgements without a price for their model. `cost_usd` lacks them.
    """
    unpriced_models: list[str]
    """
    The names of those models. `MODEL_PRICES` can set their prices.
    """
    unreported_runs: int
    """
    Attempts and judgements that reported nothing. `cost_usd` lacks them too.
    """


class UsageReport(BaseModel):
    """
    Other fields as in `UsageGroup`.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    since: datetime
    """
    Subtasks and judgements that ended from then on
    """
    until: datetime
    """
    and before then.
    """
    by: Literal['day', 'project', 'agent', 'task', 'model', 'runner'] | str
    runs: int
    attempts: int
    judgements: int
    input_tokens: int
    cached_input_tokens: int
    output_tokens: int
    duration_ms: int
    cost_usd: float | None
    cost_source: Literal['reported', 'priced', 'mixed'] | str | None
    unpriced_runs: int
    unpriced_models: list[str]
    unreported_runs: int
    groups: list[UsageGroup]
    """
    Days: newest first. Others: most tokens first. At most 400.
    """
    is_cut: bool
    """
    True if there are more than 400 groups. The totals count them all.
    """
    stored: StoredBytes
    """
    What is stored now, whatever the range.
    """
    prices_date: str
    """
    The date of the list prices that count where `MODEL_PRICES` has none.
    """


class VerdictCounts(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    met: int
    unmet: int
    unclear: int
    not_addressed: int


class WaitRequest(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    lease_token: str
    """
    `lease.token` of the claim.
    """
    question_id: str
    """
    A question of this subtask.
    """
    continuation: str | None = None
    """
    What the next attempt needs to go on: `brief.continuation.state` of its claim. At most 1 MiB of UTF-8.
    """
    usage: UsageDelta | None = None


class WebhookPatch(BaseModel):
    """
    Other fields as in `NewWebhook`.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    url: str | None = None
    events: (
        list[
            Literal[
                '*',
                'subtask.*',
                'task.*',
                'update.*',
                'question.*',
                'schedule.*',
                'check.*',
                'evaluation.*',
                'tsg.*',
                'webhook.*',
                'subtask.created',
                'subtask.started',
                'subtask.progress',
                'subtask.retrying',
                'subtask.released',
                'subtask.waiting',
                'subtask.resumed',
                'subtask.cancel_requested',
                'subtask.completed',
                'subtask.failed',
                'subtask.cancelled',
                'task.created',
                'task.revised',
                'task.assigned',
                'task.blocked',
                'task.unblocked',
                'task.checked_in',
                'task.in_review',
                'task.revision_requested',
                'task.completed',
                'task.failed',
                'task.cancelled',
                'update.queued',
                'update.delivered',
                'update.acknowledged',
                'update.superseded',
                'update.expired',
                'question.asked',
                'question.answered',
                'question.expired',
                'question.withdrawn',
                'schedule.created',
                'schedule.fired',
                'schedule.skipped',
                'schedule.paused',
                'schedule.finished',
                'schedule.deactivated',
                'check.completed',
                'evaluation.created',
                'tsg.surfaced',
                'tsg.resolved',
                'webhook.disabled',
            ] | str
        ]
        | None
    ) = None
    subject: str | None = None
    agent_id: str | None = None
    session_id: str | None = None
    ordered: bool | None = None
    """
    true: the events of one subject are sent one after the other.
    """
    description: str | None = None
    enabled: bool | None = None
    """
    false: nothing is sent any more, and what waits is given up. true: enables it again, also after a 410.
    """


class WebhookWithSecret(BaseModel):
    """
    Other fields as in `Webhook`.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    id: str
    url: str
    events: list[
        Literal[
            '*',
            'subtask.*',
            'task.*',
            'update.*',
            'question.*',
            'schedule.*',
            'check.*',
            'evaluation.*',
            'tsg.*',
            'webhook.*',
            'subtask.created',
            'subtask.started',
            'subtask.progress',
            'subtask.retrying',
            'subtask.released',
            'subtask.waiting',
            'subtask.resumed',
            'subtask.cancel_requested',
            'subtask.completed',
            'subtask.failed',
            'subtask.cancelled',
            'task.created',
            'task.revised',
            'task.assigned',
            'task.blocked',
            'task.unblocked',
            'task.checked_in',
            'task.in_review',
            'task.revision_requested',
            'task.completed',
            'task.failed',
            'task.cancelled',
            'update.queued',
            'update.delivered',
            'update.acknowledged',
            'update.superseded',
            'update.expired',
            'question.asked',
            'question.answered',
            'question.expired',
            'question.withdrawn',
            'schedule.created',
            'schedule.fired',
            'schedule.skipped',
            'schedule.paused',
            'schedule.finished',
            'schedule.deactivated',
            'check.completed',
            'evaluation.created',
            'tsg.surfaced',
            'tsg.resolved',
            'webhook.disabled',
        ] | str
    ]
    subject: str | None
    agent_id: str | None
    session_id: str | None
    ordered: bool
    description: str | None
    status: Literal['enabled', 'disabled'] | str
    disabled_reason: str | None
    disabled_at: datetime | None
    previous_secret_until: datetime | None
    created_at: datetime
    secret: str | None
    """
    Signs its deliveries. Shown once; null when the answer is repeated.
    """


class WordedUpdate(BaseModel):
    """
    Other fields as in `Update`.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    id: str
    update_id: str = Field(..., deprecated=True)
    subtask_id: str | None
    task_id: str | None
    update_type: Literal[
        'instructions', 'acceptance_criteria', 'context', 'note', 'revision_request'
    ] | str
    fields: list[str]
    content: str
    diff: Any
    revision: int | None
    sender: Reference
    delivery: Literal['next_step', 'interrupt'] | str
    """
    next_step: before the next step. interrupt: stop the current step and deliver this first, if the runner supports it.
    """
    status: Literal['queued', 'delivered', 'acknowledged', 'superseded', 'expired'] | str
    """
    The receipt. delivered: the agent received it. acknowledged: the agent confirmed it. superseded: a newer delivery replaced it. expired: the work ended before delivery.
    """
    delivered_to: str | None
    created_at: datetime
    delivered_at: datetime | None
    acknowledged_at: datetime | None
    text: str
    """
    The update as text for the agent: a header, and the content in a block.
    """


class WorkerDrain(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    runs: Literal['finish', 'release'] | str
    """
    `finish` lets its runs end, `release` gives them back, so that other workers run them again.
    """
    requested_at: datetime
    """
    When it was asked first.
    """
    drained_at: datetime | None
    """
    When it held no work any more.
    """


class AgentBudget(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    day: BudgetAmounts | None = None
    """
    For each day, in UTC
    """
    total: BudgetAmounts | None = None
    """
    For all time
    """


class AgentLimits(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    pending: int | None = None
    running: int | None = None
    budget: AgentBudget | None = None


class AgreementGroup(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    key: str | None
    """
    The sub-agent (null: none), the criterion, or the method.
    """
    outputs: int
    """
    The number of outputs of which people have spoken.
    """
    n: int
    """
    The number of pairs in which both verdict and person say met or not.
    """
    observed_agreement: float | None
    """
    The part of the pairs in which they say the same; null without pairs.
    """
    kappa: float | None
    """
    Cohen's kappa of the pairs: 1 for full agreement, 0 for that of chance. Null where it says nothing.
    """
    reason: Literal['too_few', 'one_category'] | str | None
    """
    Why there is no kappa. too_few: n is below 10. one_category: the verdicts, or the people, say the same of all pairs.
    """
    pairs: AgreementPairs
    undecided: int
    """
    Pairs that do not count, because one side does not decide: `review`, `unclear` or `not_addressed`.
    """
    named: int
    """
    How many of n are about a criterion that a review names; in the others the word about the whole output counts.
    """


class Answer(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    option_id: str | None = None
    answer: Any | None = None
    decision: Literal['approve', 'reject'] | str | None = None
    edited_arguments: dict[str, Any] | None = None
    always: bool | None = None
    arguments_digest: str | None = None
    """
    Of the arguments that were approved. An approval permits nothing else.
    """


class ApiKey(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    id: str
    project_id: str
    """
    The project that it opens.
    """
    name: str
    key_prefix: str
    """
    The first characters, to identify the key.
    """
    scopes: list[
        Literal[
            'subtasks:read',
            'subtasks:write',
            'subtasks:claim',
            'tasks:read',
            'tasks:write',
            'sessions:write',
            'schedules:read',
            'schedules:write',
            'evaluations:read',
            'evaluations:write',
            'subagents:read',
            'subagents:write',
            'subagents:spawn',
            'tsgs:read',
            'tsgs:write',
            'memory:read',
            'memory:write',
            'events:read',
            'webhooks:write',
            'admin',
        ] | str
    ]
    agent_id: str | None
    """
    The agent that the key is bound to, if any.
    """
    created_at: datetime
    expires_at: datetime | None
    """
    When it stops working.
    """
    revoked_at: datetime | None


class ApiKeyList(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    items: list[ApiKey]
    next_cursor: str | None


class AuditEntry(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    seq: int
    """
    Its place in the log, in the order of the writes, with gaps.
    """
    at: datetime
    actor: Reference
    """
    Who wrote: `key`, `open`, `subtask`, `session` or `system`. `GET /api-keys` has the names of keys; `name` is the session that an open caller named.
    """
    door: Literal['http', 'mcp', 'script', 'telegram'] | str
    """
    `http` for REST, `mcp` for a tool, `script` for a command on the machine, `telegram` for a person in the chat of the project.
    """
    address: str | None
    """
    Address of the caller, as the server saw it; null for a command.
    """
    operation: str
    """
    The `operationId`, the name of the tool, or the command.
    """
    request_id: str | None
    """
    The `X-Request-Id` of the answer, also in the logs.
    """
    ids: dict[str, str]
    """
    What the request names, and what it has made.
    """
    fields: list[str]
    """
    Names of the fields that the request sets; never their values.
    """


class AuditList(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    items: list[AuditEntry]
    next_cursor: str | None


class Brief(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    text: str
    """
    The complete prompt as one text for the agent.
    """
    task: str
    criteria: list[BriefCriterion]
    required_outputs: list[RequiredOutput]
    revision: int | None
    feedback: str | None
    """
    Why the last result was rejected.
    """
    subagent: BriefSubagent | None
    continuation: BriefContinuation | None
    """
    In an attempt that goes on after a wait.
    """


class BrokenSubagent(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    name: str
    errors: list[SubagentProblem]


class CheckRun(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    id: str
    batch_id: str
    """
    The same for all checks of one request, or of one submission.
    """
    task_id: str
    subtask_id: str | None
    """
    The run whose result is checked.
    """
    evaluation_id: str | None
    """
    The evaluation to which the verdicts are added. Null if nothing was submitted.
    """
    criterion_id: str
    check: str
    """
    Its name in `CHECKS`.
    """
    status: Literal['pending', 'running', 'met', 'unmet', 'could_not_run'] | str
    """
    met: exit code 0. could_not_run: nothing was proved, and the criterion is unclear.
    """
    exit_code: int | None
    reason: str | None
    """
    Why it is not met.
    """
    output: str | None
    """
    The last 8 KiB of what it printed.
    """
    duration_ms: int | None
    tries: int
    """
    How often it was started: a second time if its worker was lost.
    """
    worker_id: str | None
    created_at: datetime
    started_at: datetime | None
    """
    When it was started last.
    """
    ended_at: datetime | None


class CheckRunList(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    items: list[CheckRun]
    next_cursor: str | None


class CheckedInCriterion(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    id: str
    text: str
    state: Literal['open', 'met', 'unmet', 'unclear'] | str
    """
    The state in the latest check-in, or by its latest check; `open` before the first.
    """
    note: str


class ClaudeCodeHookAnswer(BaseModel):
    """
    `HookJSONOutput` of `@anthropic-ai/claude-agent-sdk`.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    hookSpecificOutput: ClaudeCodeHookOutput | None = None
    decision: Literal['block'] | str | None = None
    """
    With Stop and SubagentStop: the agent goes on for one more turn.
    """
    reason: str | None = None
    """
    What is new, for that turn.
    """


class CleanCriterion(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    text: str
    source: Literal['acceptance', 'success', 'constraint'] | str
    required: bool
    check: str | None = None


class CompleteRequest(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    lease_token: str
    """
    `lease.token` of the claim.
    """
    result: str | None = None
    """
    The result. More than 1 MiB is cut. Required, unless the work is blocked.
    """
    outputs: dict[str, Any] | None = None
    """
    Values of the required outputs, by name.
    """
    summary: str | None = None
    usage: UsageDelta | None = None
    blocked_reason: str | None = None
    """
    Set it if the work cannot continue. The subtask ends as `incomplete_blocked`.
    """


class ConfirmedUpdate(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    genuine: bool
    """
    Always true: every other case is answered with 404.
    """
    task_id: str | None
    subtask_id: str | None
    revision: int | None
    sender: Reference
    created_at: datetime
    content_sha256: str
    """
    SHA-256 of the content in UTF-8, in hexadecimal.
    """
    content: str


class CreatedApiKey(BaseModel):
    """
    Other fields as in `ApiKey`.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    id: str
    project_id: str
    name: str
    key_prefix: str
    scopes: list[
        Literal[
            'subtasks:read',
            'subtasks:write',
            'subtasks:claim',
            'tasks:read',
            'tasks:write',
            'sessions:write',
            'schedules:read',
            'schedules:write',
            'evaluations:read',
            'evaluations:write',
            'subagents:read',
            'subagents:write',
            'subagents:spawn',
            'tsgs:read',
            'tsgs:write',
            'memory:read',
            'memory:write',
            'events:read',
            'webhooks:write',
            'admin',
        ] | str
    ]
    agent_id: str | None
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None
    key: str | None
    """
    Shown once; null when the answer is repeated.
    """


class Criterion(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    id: str
    """
    Lasts across edits of the brief.
    """
    text: str
    source: Literal['acceptance', 'success', 'constraint'] | str
    required: bool
    check: str | None = None
    """
    The check that decides it. Absent if none does.
    """
    state: Literal['open', 'met', 'unmet', 'unclear'] | str
    """
    The state in the latest check-in, or by its latest check; `open` before the first.
    """


class CriterionVerdict(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    id: str
    text: str
    source: Literal['acceptance', 'success', 'constraint'] | str
    required: bool
    check: str | None = None
    """
    The check that decides it. Absent if none does.
    """
    verdict: Literal['met', 'unmet', 'unclear', 'not_addressed'] | str
    """
    not_addressed: there is no evidence. unclear: an open question, a ✅ whose words deny it, or a judge that cannot tell.
    """
    evidence: str | None
    """
    A quote of the agent, of the output, or of the schema validator.
    """
    method: Literal['check_in', 'schema', 'check', 'judge', 'person'] | str
    """
    check_in: the agent’s own report. schema: an output was validated. check: a program was executed. judge: a model read the output; a met quotes it. person: a review says it.
    """


class DeliveryReceiver(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    kind: Literal['webhook', 'callback', 'telegram', 'slack', 'email'] | str
    """
    A webhook, the callback of one subtask or task, or a channel of the project.
    """
    id: str
    """
    Of a webhook, its id. Those of callbacks and channels tell them apart.
    """


class Drain(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    worker_id: str
    runs: Literal['finish', 'release'] | str
    """
    `finish` lets its runs end, `release` gives them back, so that other workers run them again.
    """
    requested_at: datetime
    """
    When the worker was asked first.
    """


class EmailSettings(BaseModel):
    """
    Needs SMTP_URL and SMTP_FROM of the operator
    """

    model_config = ConfigDict(
        extra='allow',
    )
    to: list[str]
    on: list[Literal['completed', 'failed', 'question'] | str]
    """
    What is reported. A subtask or schedule with `notify: false` is not.
    """
    quiet_hours: QuietHours | None = None
    digest_minutes: int | None = None
    """
    What is reported within so many minutes becomes one message, but for questions.
    """


class Episode(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    id: str
    """
    Id of the subtask.
    """
    agent_id: str
    task: str
    """
    The instructions of the subtask.
    """
    outcome: Literal[
        'completed',
        'cancelled',
        'incomplete_blocked',
        'validation_failed',
        'timed_out',
        'errored',
        'worker_lost',
        'budget_exceeded',
    ] | str
    summary: str | None
    result: str | None
    """
    Null if the subtask ended without a result.
    """
    result_truncated: bool
    """
    Whether the stored result was cut.
    """
    completed_at: datetime


class EvaluationGroup(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    key: str | None
    """
    The day (UTC), the sub-agent (null: none), or the criterion.
    """
    outputs: int
    scored: int
    """
    The number of outputs with a score.
    """
    average_score: float | None
    """
    The average score; null if there are none.
    """
    recommendations: RecommendationCounts
    verdicts: VerdictCounts | None
    """
    The verdicts on the criterion; null for other groupings.
    """


class EvaluationRef(BaseModel):
    """
    The latest evaluation of the result. Present once the subtask has completed.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    id: str
    score: float | None
    recommendation: Literal['approve', 'review', 'request_revision'] | str


class EvaluationSettings(BaseModel):
    """
    By what outputs are judged; what is absent is as in the defaults
    """

    model_config = ConfigDict(
        extra='allow',
    )
    weights: dict[str, float] | None = None
    """
    What an item of each category adds, from -1 to 1; 0: it does not count.
    """
    approve_at: float | None = None
    """
    From this score on a result is approved (0.8).
    """
    threshold: float | None = None
    """
    Below this score a result has to be revised (0.6); at most approve_at.
    """
    gates: EvaluationGates | None = None
    """
    What caps a recommendation at review: a security item, a required criterion that is not met, a strict constraint that is not shown to be kept.
    """
    trust: Literal['evidence', 'self_report'] | str | None = None
    """
    What `review: auto` completes a task on. evidence (the default): for each required criterion. self_report: the word of the agent is enough, except for strict constraints.
    """
    judge: bool | JudgeSettings | None = None
    """
    Whether a model gives verdicts as well (false), and which.
    """


class EvaluationStats(BaseModel):
    """
    Other fields as in `EvaluationGroup`.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    since: datetime
    """
    Outputs that were first evaluated from then on
    """
    until: datetime
    """
    and before then.
    """
    from_: datetime = Field(..., alias='from', deprecated=True)
    """
    Use `since`.
    """
    to: datetime = Field(..., deprecated=True)
    """
    Use `until`.
    """
    by: Literal['day', 'subagent', 'criterion'] | str
    outputs: int
    scored: int
    average_score: float | None
    recommendations: RecommendationCounts
    groups: list[EvaluationGroup]
    """
    Days: newest first. Others: most outputs first. At most 400.
    """
    is_cut: bool
    """
    True if the time range has more than the newest 50,000 outputs that were counted.
    """


class EvaluationWarning(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    code: Literal[
        'negative_item', 'unmet_criterion', 'gate', 'self_report_only', 'unmatched'
    ] | str
    message: str
    criterion_id: str | None = None


class Event(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    id: int
    """
    Position in the log. A reader that pages by it misses no event.
    """
    type: Literal[
        'subtask.created',
        'subtask.started',
        'subtask.progress',
        'subtask.retrying',
        'subtask.released',
        'subtask.waiting',
        'subtask.resumed',
        'subtask.cancel_requested',
        'subtask.completed',
        'subtask.failed',
        'subtask.cancelled',
        'task.created',
        'task.revised',
        'task.assigned',
        'task.blocked',
        'task.unblocked',
        'task.checked_in',
        'task.in_review',
        'task.revision_requested',
        'task.completed',
        'task.failed',
        'task.cancelled',
        'update.queued',
        'update.delivered',
        'update.acknowledged',
        'update.superseded',
        'update.expired',
        'question.asked',
        'question.answered',
        'question.expired',
        'question.withdrawn',
        'schedule.created',
        'schedule.fired',
        'schedule.skipped',
        'schedule.paused',
        'schedule.finished',
        'schedule.deactivated',
        'check.completed',
        'evaluation.created',
        'tsg.surfaced',
        'tsg.resolved',
        'webhook.disabled',
    ] | str
    at: datetime
    project_id: str
    subject: Reference
    data: dict[str, Any]
    actor: Reference


class EventDelivery(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    id: str
    """
    The same in all attempts: the header `webhook-id` of webhooks and callbacks.
    """
    receiver: DeliveryReceiver
    subject: Reference | None
    """
    What the event is about; null for a test.
    """
    type: str
    """
    The type of the event, or `webhook.test`.
    """
    event_id: int | None
    """
    The position of the event in the log; null for a test.
    """
    status: Literal['pending', 'sending', 'delivered', 'failed'] | str
    """
    pending: waits for its next attempt. sending: a worker sends it. delivered: the receiver answered 2xx. failed: given up; it can be sent again.
    """
    attempts: list[DeliveryAttempt]
    """
    The last 20 attempts, oldest first.
    """
    next_attempt_at: datetime | None
    """
    When it is due; while it is pending.
    """
    created_at: datetime
    ended_at: datetime | None
    """
    When it was delivered or given up.
    """
    ended_reason: str | None
    """
    Why it was given up without another attempt.
    """
    body: str
    """
    What is sent, byte for byte; messages of channels are composed from it.
    """


class EventDeliverySummary(BaseModel):
    """
    Other fields as in `EventDelivery`.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    id: str
    receiver: DeliveryReceiver
    subject: Reference | None
    type: str
    event_id: int | None
    status: Literal['pending', 'sending', 'delivered', 'failed'] | str
    """
    pending: waits for its next attempt. sending: a worker sends it. delivered: the receiver answered 2xx. failed: given up; it can be sent again.
    """
    attempts: list[DeliveryAttempt]
    next_attempt_at: datetime | None
    created_at: datetime
    ended_at: datetime | None
    ended_reason: str | None


class Fact(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    id: str
    content: str
    tags: list[str]
    agent_id: str | None
    """
    The agent of the credential, otherwise of the source subtask.
    """
    source_subtask_id: str | None
    author: Reference
    """
    The owner of the credential that made the request.
    """
    created_at: datetime


class FailRequest(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    lease_token: str
    """
    `lease.token` of the claim.
    """
    error: str
    """
    What went wrong. The caller of the subtask reads this text.
    """
    retryable: bool | None = None
    """
    Whether another attempt may succeed. Default: true.
    """
    usage: UsageDelta | None = None


class FileCheck(BaseModel):
    """
    What the server knew about a file when it validated the brief.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    field: Literal['relevant_files', 'related_documentation'] | str
    path: str
    """
    As it was sent.
    """
    status: Literal['found', 'not_found', 'not_checked'] | str
    """
    `not_checked` wherever the server may not look: outside of `WORKSPACE_ROOTS`, also by way of links.
    """
    nearest: str | None
    """
    For `not_found`: the path in the same folder with the most similar name, if there is one.
    """


class HeartbeatAnswer(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    expires_at: datetime
    """
    Until when the lease holds now.
    """
    cancel_requested: bool
    """
    True: stop the work and call fail or release.
    """
    updates: list[WordedUpdate]
    """
    Repeated until they are acknowledged.
    """


class InboxItem(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    id: str
    inbox_id: str = Field(..., deprecated=True)
    """
    Use `id`.
    """
    kind: Literal['subtask', 'task', 'question'] | str
    """
    subtask: a subtask of the session ended. task: a task with this `parent_session_id`, not run by a subtask, ended or waits for a review. question: a run or an assignee asks something.
    """
    question_id: str | None
    """
    Null unless kind is question.
    """
    subtask_id: str | None
    """
    Null for kind task.
    """
    task_id: str | None
    """
    The task, or the task that the subtask ran.
    """
    task: str
    """
    The instructions of the subtask, the title of the task, or the prompt of the question.
    """
    status: Literal[
        'completed',
        'failed',
        'cancelled',
        'in_review',
        'blocked',
        'open',
        'answered',
        'expired',
        'withdrawn',
    ] | str
    """
    in_review: a task whose outputs wait for a review. blocked: a task whose assignee went in circles, with the evidence in `error`. open, answered, expired, withdrawn: the state of a question.
    """
    final_outcome: (
        Literal[
            'completed',
            'cancelled',
            'incomplete_blocked',
            'validation_failed',
            'timed_out',
            'errored',
            'worker_lost',
            'budget_exceeded',
        ] | str
        | None
    )
    """
    Null for kind task.
    """
    score: float | None
    """
    The score of the latest evaluation of the result.
    """
    recommendation: Literal['approve', 'review', 'request_revision'] | str | None
    """
    Null if the subtask did not complete.
    """
    result: str | None
    """
    The result; of a task, its outputs as text; of a question, what its answer has to fit. Null if the result has to be revised: then read `/subtasks/{id}/payload` or `/tasks/{id}/payload`.
    """
    summary: str | None
    """
    The submitted summary. For a result that has to be revised: the problems, and its first and last part.
    """
    error: str | None
    """
    Why the work did not complete.
    """
    truncated: bool
    """
    True if the result was cut.
    """
    completed_at: datetime
    """
    When the subtask or the task ended, or the task was handed in for review.
    """


class InjectionItem(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    kind: Literal['assignment', 'update', 'tsg_notice', 'inbox'] | str
    """
    assignment: a whole brief. update: a change to a brief or a note. tsg_notice: a guide for a recent failure. inbox: the end of a subtask, or the end or review of a task.
    """
    id: str
    """
    The id of the task, update, guide or inbox item.
    """
    update_id: str | None
    """
    The id to confirm the update with.
    """
    task_id: str | None
    revision: int | None
    """
    The revision of the brief after the update.
    """
    text: str


class Judgement(BaseModel):
    """
    The progress of the judge. Its verdicts are stored as a separate evaluation.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    status: Literal['pending', 'done', 'failed'] | str
    model: str | None
    """
    Null while the default judge of the server has not answered.
    """
    evaluation_id: str | None
    """
    The evaluation with the verdicts of the judge.
    """
    error: str | None
    """
    Why the judge gives no verdicts.
    """
    cost_usd: float


class Memory(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    kind: Literal['fact', 'episode'] | str
    """
    fact: a stored statement. episode: the instructions and the result of an ended subtask.
    """
    id: str
    """
    Id for `/memory/facts/{id}` or `/memory/episodes/{id}`.
    """
    score: float
    """
    How well the item matches. Comparable within one answer only.
    """
    content: str | None
    """
    For a fact: its first 4000 characters.
    """
    tags: list[str]
    task: str | None
    """
    For an episode: the first 1000 characters of the instructions.
    """
    outcome: (
        Literal[
            'completed',
            'cancelled',
            'incomplete_blocked',
            'validation_failed',
            'timed_out',
            'errored',
            'worker_lost',
            'budget_exceeded',
        ] | str
        | None
    )
    """
    For an episode.
    """
    summary: str | None
    """
    For an episode: the first 1000 characters of the summary.
    """
    result: str | None
    """
    For an episode: the first 2000 characters of the result.
    """
    truncated: bool
    """
    Whether texts were cut in this answer.
    """
    agent_id: str | None
    """
    The agent of the credential, otherwise of the source subtask.
    """
    source_subtask_id: str | None
    """
    The source subtask; for an episode, the subtask itself.
    """
    created_at: datetime
    """
    When it was learnt, or when the subtask ended.
    """


class MemorySearch(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    items: list[Memory]
    """
    Best first; equal scores newest first.
    """


class Message(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    id: str
    session_id: str
    role: Literal['user', 'assistant', 'system', 'tool'] | str
    content: str | None
    """
    Null if it is longer than 64 KiB.
    """
    content_bytes: int
    """
    Length of the whole content, in bytes of UTF-8.
    """
    model: str | None
    task_id: str | None
    agent_name: str | None
    usage: dict[str, Any] | None
    metadata: dict[str, Any]
    eval_score: float | None
    """
    The score of its evaluation, if it has reflection or check-in blocks; null if no item in them counts.
    """
    eval_summary: str | None
    """
    The problems, if the message has to be revised.
    """
    quality_flag: Literal['excellent', 'good', 'needs_work', 'bad'] | str | None
    training_candidate: bool
    created_at: datetime


class MessageList(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    items: list[Message]
    next_cursor: str | None


class NewApiKey(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    name: str
    scopes: list[
        Literal[
            'subtasks:read',
            'subtasks:write',
            'subtasks:claim',
            'tasks:read',
            'tasks:write',
            'sessions:write',
            'schedules:read',
            'schedules:write',
            'evaluations:read',
            'evaluations:write',
            'subagents:read',
            'subagents:write',
            'subagents:spawn',
            'tsgs:read',
            'tsgs:write',
            'memory:read',
            'memory:write',
            'events:read',
            'webhooks:write',
            'admin',
        ] | str
    ]
    agent_id: str | None = None
    """
    Binds the key to one agent: it overrides what requests say.
    """
    expires_at: datetime | None = None
    """
    When the key expires, in the future. Default: never.
    """


class NewConstraints(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    rules: list[str | NewCriterion]
    enforcement_level: Literal['strict', 'advisory'] | str | None = None


class NewQualityFlag(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    quality: Literal['excellent', 'good', 'needs_work', 'bad'] | str
    tags: list[str] | None = None
    """
    Tags to filter the export by. They replace the previous tags. Default: [].
    """


class NewSchedule(BaseModel):
    """
    Other fields as in `NewSubtask`.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    task: str
    when: str | None = None
    """
    One point in time, as a phrase or RFC 3339.
    """
    every: str | None = None
    """
    A recurrence, as a phrase.
    """
    cron: str | None = None
    """
    A recurrence, as a cron expression of five fields, or of six with seconds first.
    """
    timezone: str | None = None
    """
    IANA name, for times that name no zone. Default: that of the project, otherwise UTC.
    """
    agent_id: str | None = None
    notify: bool | None = None
    timeout_seconds: int | None = None
    priority: Literal['low', 'normal', 'high', 'urgent'] | str | None = None
    subagent: str | None = None
    """
    The sub-agent of each run, in its then current version.
    """
    runner: str | None = None
    model: str | None = None
    budget: NewBudget | None = None
    max_fires: int | None = None
    """
    The schedule finishes after this number of firings. Default: no limit.
    """
    overlap: Literal['skip', 'allow'] | str | None = None
    """
    Default: skip.
    """
    missed: Literal['skip', 'run_once'] | str | None = None
    """
    Default: run_once.
    """
    grace_seconds: int | None = None
    """
    Seconds that a slot may fire late before it counts as missed. Default: 60.
    """
    parent_session_id: str | None = None
    """
    The session whose inbox gets the results. Default: none; channels, webhooks and callback get them.
    """
    callback: Callback | None = None
    """
    Where the end of each run is sent to. It is not shown again.
    """
    metadata: dict[str, Any] | None = None
    """
    Each run gets a copy. Default: {}.
    """


class NewStep(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    kind: Literal['message', 'tool_call', 'tool_result', 'update', 'error'] | str
    content: Any


class NewSubtask(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    task: str
    """
    The instructions, complete: the runner has no other information.
    """
    agent_id: str | None = None
    """
    The agent whose limits it counts against. A key bound to an agent overrides it. Default: default.
    """
    priority: Literal['low', 'normal', 'high', 'urgent'] | str | None = None
    """
    Default: normal.
    """
    timeout_seconds: int | None = None
    """
    The time limit of one attempt, at most SUBTASK_MAX_TIMEOUT (600). Default: SUBTASK_DEFAULT_TIMEOUT (120).
    """
    notify: bool | None = None
    """
    Whether to put the result into the inbox of the parent session. Default: true.
    """
    parent_session_id: str | None = None
    """
    The session that asks, and whose inbox gets the result.
    """
    task_id: str | None = None
    """
    The task that this subtask is about.
    """
    subagent: str | None = None
    """
    The sub-agent to run, in the background.
    """
    runner: str | None = None
    """
    The runner that executes the subtask, one of `GET /runners`. Default: the one marked `default`.
    """
    model: str | None = None
    """
    The model, if the runner supports a choice. Overrides the model of the sub-agent.
    """
    required_outputs: list[str | NewRequiredOutput] | None = None
    """
    The outputs that a complete result must contain, each a name or an object. Without a schema, null and empty values (`""`, blanks, `[]`, `{}`) count as missing. Default: [].
    """
    max_attempts: int | None = None
    """
    Failed attempts after which the subtask fails. Default: 2.
    """
    budget: NewBudget | None = None
    callback: Callback | None = None
    metadata: dict[str, Any] | None = None
    """
    Your own data, at most 16 KiB as JSON. Default: {}.
    """
    wait_seconds: float | None = None
    """
    Seconds to wait for the end. Needs the scope `subtasks:read`. Default: 0.
    """


class NewSubtaskQuestion(BaseModel):
    """
    Other fields as in `NewTaskQuestion`.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    kind: Literal['question', 'approval'] | str | None = None
    prompt: str
    options: list[NewQuestionOption] | None = None
    schema_: dict[str, Any] | None = Field(None, alias='schema')
    arguments: dict[str, Any] | None = None
    default: NewDefaultAnswer | None = None
    expires_in_seconds: int | None = None
    on_expiry: Literal['default', 'continue', 'fail'] | str | None = None
    lease_token: str | None = None
    """
    `lease.token` of the claim, where an outside worker asks with its key.
    """


class NewTask(BaseModel):
    """
    Other fields as in `CreatedTask`.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    title: str | None = None
    instructions: str | None = None
    acceptance_criteria: list[str | NewCriterion] | None = None
    required_outputs: list[str | NewRequiredOutput] | None = None
    priority: Literal['low', 'normal', 'high', 'urgent'] | str | None = None
    depends_on: list[str] | None = None
    client_cwd: str | None = None
    background_context: str | None = None
    expected_deliverables: list[str] | None = None
    success_criteria: NewSuccessCriteria | None = None
    constraints: NewConstraints | None = None
    relevant_files: list[str] | None = None
    related_documentation: list[str] | None = None
    budget: NewTaskBudget | None = None
    metadata: dict[str, Any] | None = None
    description: str | None = None
    tsgs: list[str] | None = None
    parent_session_id: str | None = None
    review: Literal['none', 'auto', 'manual'] | str | None = None


class NewTaskQuestion(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    kind: Literal['question', 'approval'] | str | None = None
    """
    Default: question.
    """
    prompt: str
    """
    What the session that is asked should decide.
    """
    options: list[NewQuestionOption] | None = None
    """
    Default: null.
    """
    schema_: dict[str, Any] | None = Field(None, alias='schema')
    """
    JSON Schema that the answer must fit. Not together with options. Default: null.
    """
    arguments: dict[str, Any] | None = None
    """
    For an approval: the arguments that it permits. Required there. Default: null.
    """
    default: NewDefaultAnswer | None = None
    """
    The answer if none comes in time. Never an approval. Default: null.
    """
    expires_in_seconds: int | None = None
    """
    Default: 86400.
    """
    on_expiry: Literal['default', 'continue', 'fail'] | str | None = None
    """
    Default: continue.
    """


class NewTsg(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    id: str | None = None
    """
    Default: made from the title.
    """
    tsg_id: str | None = Field(None, deprecated=True)
    """
    Use `id`.
    """
    title: str
    content: str
    """
    What to do, in Markdown.
    """
    patterns: list[str]
    """
    Texts of the failure. One match is enough to announce the guide.
    """
    match: Literal['substring', 'regex'] | str | None = None
    """
    Default: substring.
    """
    applicability: NewTsgApplicability | None = None
    """
    Where the guide applies.
    """
    severity: Literal['low', 'medium', 'high', 'critical'] | str | None = None
    """
    Default: medium.
    """


class NewVerdict(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    criterion_id: str
    """
    A criterion of the current brief.
    """
    verdict: Literal['met', 'unmet', 'unclear'] | str
    comment: str | None = None


class PersonWord(BaseModel):
    """
    What a person, or a controller with a key of the project, said.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    kind: Literal['verdict', 'decision', 'flag'] | str
    """
    A verdict on the criterion, the decision of a review, or a quality flag.
    """
    value: (
        Literal['met', 'unmet', 'unclear', 'not_addressed'] | str
        | Literal['approve', 'request_revision'] | str
        | Literal['excellent', 'good', 'needs_work', 'bad'] | str
    )
    comment: str | None
    """
    The comment on the verdict, or the note of the review.
    """
    author: Reference
    """
    The owner of the credential that made the request.
    """
    at: datetime


class Problem(BaseModel):
    """
    RFC 9457 problem details. Its extensions depend on `code`.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    type: str
    """
    URL of the page about this code.
    """
    title: str
    status: int
    detail: str
    """
    What went wrong and what to do, for people.
    """
    instance: str
    """
    Path of the request.
    """
    code: Literal[
        'validation_failed',
        'cursor_invalid',
        'unauthenticated',
        'forbidden',
        'spawn_blocked',
        'not_found',
        'subagent_not_found',
        'method_not_allowed',
        'conflict',
        'invalid_transition',
        'not_cancellable',
        'not_steerable',
        'tsg_in_use',
        'request_in_progress',
        'cursor_pruned',
        'lease_lost',
        'revision_stale',
        'payload_too_large',
        'uri_too_long',
        'unsupported_media_type',
        'expectation_failed',
        'idempotency_mismatch',
        'outputs_missing',
        'dependency_cycle',
        'schedule_ambiguous',
        'schedule_unparseable',
        'schedule_in_past',
        'subagent_invalid',
        'background_mcp_blocked',
        'runner_unavailable',
        'revision_required',
        'rate_limited',
        'pending_limit_reached',
        'quota_exceeded',
        'budget_exhausted',
        'headers_too_large',
        'internal',
        'method_not_implemented',
        'unavailable',
        'subtasks_disabled',
        'secrets_not_configured',
        'schedules_disabled',
    ] | str
    """
    What to decide by. `x-error-codes` has the status of each.
    """
    request_id: str
    """
    It is in the log of the server.
    """
    retryable: bool
    """
    Whether the same request may succeed later.
    """
    errors: list[FieldProblem] | None = None
    """
    `validation_failed` and others: the problems of the input, the first 50 of them.
    """
    errors_omitted: int | None = None
    """
    How many more problems there are than `errors` has.
    """
    warnings: list[ProblemWarning] | None = None
    """
    What else was noticed in an invalid brief.
    """
    warnings_omitted: int | None = None
    revision: int | None = None
    """
    `revision_required`, `revision_stale`: the current revision.
    """
    candidates: list[PhraseCandidate] | None = None
    """
    `schedule_ambiguous`: what the phrase may mean.
    """
    tools: list[str] | None = None
    """
    `background_mcp_blocked`: the tools that are not available.
    """
    tool: str | None = None
    """
    The first of `tools`.
    """
    subagent_type: str | None = None
    missing: list[str] | None = None
    """
    `runner_unavailable`: what the runner lacks.
    """
    available: list[str] | None = None
    """
    `runner_unavailable`: the runners that are available.
    """
    path: list[str] | None = None
    """
    `dependency_cycle`: the ids of the cycle.
    """
    task_ids: list[str] | None = None
    """
    `tsg_in_use`: some of the tasks that link the guide.
    """
    tsg_id: str | None = None
    id: str | None = None
    """
    `spawn_blocked`: the session of the caller.
    """
    subtask_id: str | None = None
    """
    The subtask that stands in the way.
    """
    status_now: str | None = None
    """
    The status that does not allow the request.
    """
    blocked_by: list[str] | None = None
    """
    The tasks that this one waits for.
    """
    answered_by: Reference | None = None
    """
    Who answered the question before.
    """
    answered_at: str | None = None
    arguments_digest: str | None = None
    """
    Of the arguments that the approval is about.
    """
    required_scope: str | None = None
    """
    `forbidden`: the scope that the credential lacks.
    """
    oldest: int | None = None
    """
    `cursor_pruned`: the id of the oldest event that is kept.
    """
    limit: float | None = None
    """
    `pending_limit_reached`, `budget_exhausted`, `quota_exceeded`: the limit.
    """
    limited_by: str | None = None
    """
    `pending_limit_reached`, `quota_exceeded`: what sets the limit.
    """
    agent_id: str | None = None
    budget: ExhaustedBudget | None = None
    """
    `budget_exhausted`: which budget.
    """
    used: float | None = None
    reserved: float | None = None
    """
    What accepted work may still use.
    """
    requested: float | None = None
    resets_at: str | None = None
    """
    When the budget of a day begins again.
    """


class ProjectBudget(BaseModel):
    """
    What subtasks and judgements may use; without limits where it is absent
    """

    model_config = ConfigDict(
        extra='allow',
    )
    day: BudgetAmounts | None = None
    """
    For each day, in UTC
    """
    total: BudgetAmounts | None = None
    """
    For all time
    """
    per_agent: AgentBudget | None = None
    """
    For each agent that has none of its own
    """


class ProjectLimits(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    pending_per_agent: int | None = None
    running_per_agent: int | None = None
    pending: int | None = None
    """
    Of all agents together; SUBTASK_PROJECT_MAX_PENDING of the server where it is absent
    """
    running: int | None = None
    """
    Of all agents together; SUBTASK_PROJECT_MAX_CONCURRENT of the server where it is absent
    """
    stored_bytes: int | None = None
    """
    Bytes that the project may store; PROJECT_STORED_BYTES_CEILING of the server where it is absent
    """
    run_stored_bytes: int | None = None
    """
    Bytes that one run may store; RUN_STORED_BYTES_CEILING of the server where it is absent
    """
    agents: dict[str, AgentLimits] | None = None
    budget: ProjectBudget | None = None


class ProjectSettings(BaseModel):
    """
    What is absent is as in the defaults of the server.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    limits: ProjectLimits | None = None
    timezone: str | None = None
    """
    IANA name, for schedules that name none; UTC where it is absent
    """
    background_mcp: Literal['reject', 'strip'] | str | None = None
    """
    Background sub-agents with MCP tools: reject refuses to start them, strip starts them without the tools. Default: BACKGROUND_MCP of the server
    """
    evaluation: EvaluationSettings | None = None
    ask: list[str] | None = None
    """
    Uses of tools to ask the parent session about before they are executed, beside those of each definition
    """
    outbound_allow: list[str] | None = None
    """
    Addresses besides the public internet that deliveries may reach, as far as OUTBOUND_ALLOW names them as well
    """
    telegram: TelegramSettings | None = None
    slack: SlackSettings | None = None
    email: EmailSettings | None = None
    retention_days: RetentionDays | None = None
    loops: LoopSettings | None = None


class PutSubagent(BaseModel):
    """
    Other fields as in `Subagent`.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    name: str
    title: str | None
    description: str
    model: str
    tools: list[str]
    disallowed_tools: list[str]
    ask: list[str]
    definition_path: str | None
    version: int
    source: Literal['file', 'api', 'builtin'] | str
    """
    For one name, the API takes precedence over files, and files over built-in definitions.
    """
    target_latency_ms: int | None
    max_turns: int | None
    background: bool
    mcp_servers: list[str]
    skills: list[str]
    callback_url: str | None
    unknown_keys: list[str]
    instructions: str
    warnings: list[SubagentProblem]
    """
    Possible mistakes in the definition.
    """


class QualityFlag(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    task_id: str | None
    subtask_id: str | None
    evaluation_id: str | None
    """
    The latest evaluation at the time of the flag.
    """
    quality: Literal['excellent', 'good', 'needs_work', 'bad'] | str
    tags: list[str]
    training_candidate: bool
    """
    Whether it is a training example: excellent and good make it one, needs_work and bad remove it.
    """
    author: Reference
    """
    The owner of the credential that made the request.
    """
    created_at: datetime
    """
    When it was flagged first.
    """
    updated_at: datetime
    """
    When it was flagged last.
    """


class Question(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    id: str
    question_id: str = Field(..., deprecated=True)
    """
    Use `id`.
    """
    kind: Literal['question', 'approval'] | str
    """
    question: asks for an option, a form or a text. approval: asks whether a call with exactly these arguments may be made.
    """
    subtask_id: str | None
    task_id: str | None
    session_id: str | None
    """
    The parent session, which finds the question in its inbox.
    """
    prompt: str
    options: list[QuestionOption] | None
    schema_: dict[str, Any] | None = Field(..., alias='schema')
    default: Answer | None
    revision: int | None
    """
    The revision of the task when it was asked; null for a subtask without a task.
    """
    arguments: dict[str, Any] | None
    arguments_digest: str | None
    """
    SHA-256 of the arguments as JSON with sorted keys, in hexadecimal.
    """
    status: Literal['open', 'answered', 'expired', 'withdrawn'] | str
    expires_at: datetime
    """
    When it expires, unless it is answered.
    """
    on_expiry: Literal['default', 'continue', 'fail'] | str
    """
    default: the default becomes the answer. continue: the run or assignee receives a note that no answer came. fail: the task fails; a subtask is cancelled.
    """
    answer: Answer | None
    answered_by: Reference | None
    """
    The owner of the credential that answered; null for an expiry.
    """
    update_id: str | None
    """
    The update that delivers the answer to the run or assignee, with its receipt.
    """
    asked_at: datetime
    answered_at: datetime | None


class QuestionList(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    items: list[Question]
    next_cursor: str | None


class Readiness(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    status: Literal['ready', 'not_ready'] | str
    reason: str | None
    """
    What is missing; null if ready.
    """
    parts: ReadinessParts
    """
    Each part that serving rests on. All of them are always there.
    """


class Reflection(BaseModel):
    """
    The agent’s reflection on its own work, from all reflection blocks.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    items: list[ReflectionItem]
    """
    In order. At most the first 200 negative and the first 200 other items.
    """
    item_count: int
    """
    The total number of items.
    """
    score: float | None
    """
    The score of the reflections only.
    """
    categories: dict[str, int]
    """
    The number of items per category.
    """


class Runner(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    name: str
    available: bool
    default: bool
    """
    True for the runner of a subtask that names no runner and no sub-agent.
    """
    default_for_subagents: bool
    """
    True for the runner of a sub-agent whose caller names none.
    """
    follows_definitions: bool
    """
    Whether it applies the definition of a sub-agent. Only such runners run sub-agents.
    """
    missing: list[str]
    """
    What the operator must install or set before the runner is available.
    """
    steerable: bool
    """
    Whether updates reach a subtask that is already running.
    """
    version: str | None = None
    """
    For claude-code: the version of the program, once known.
    """
    sandbox: Literal['program', 'commands', 'none'] | str
    """
    What of a run is confined: the whole program, the commands that its model runs, or nothing.
    """
    sandbox_problem: str | None = None
    """
    Why nothing is confined, where something could be. See docs/sandbox.md.
    """
    sandbox_limits: SandboxLimits | None = None
    """
    What everything in one sandbox may use together. Absent where nothing is confined.
    """


class RunnerList(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    items: list[Runner]


class ScannedTsg(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    id: str
    tsg_id: str = Field(..., deprecated=True)
    """
    Use `id`.
    """
    title: str
    severity: Literal['low', 'medium', 'high', 'critical'] | str
    """
    Guides are sorted by it, the most severe first.
    """
    matched_pattern: str
    """
    The longest matching pattern.
    """
    success_rate: float | None
    """
    The share of feedback that says the guide helped; null without feedback.
    """


class Schedule(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    id: str
    agent_id: str
    task: str
    schedule_type: Literal['once', 'recurring'] | str
    phrase: str
    """
    As it was sent.
    """
    canonical: str
    """
    A phrase for the same field that reads as the same rule.
    """
    reading: str
    """
    How the phrase was understood, in words.
    """
    timezone: str
    fire_at: datetime | None
    """
    Of one that fires once: when.
    """
    interval_seconds: int | None
    """
    For an interval: elapsed seconds between two firings.
    """
    cron_expr: str | None
    """
    The rule as a five-field cron expression; null if cron cannot express it.
    """
    rule: str | None
    """
    The rule as DTSTART and RRULE (RFC 5545); null for intervals and one-time schedules.
    """
    anchor_at: datetime
    """
    Where counting begins.
    """
    next_fire_at: datetime | None
    """
    When it is due next.
    """
    upcoming: list[datetime]
    """
    The next five times.
    """
    warnings: list[ScheduleWarning]
    """
    How details were decided that the phrase left open.
    """
    state: Literal['active', 'paused', 'finished', 'deactivated'] | str
    """
    Only an active schedule fires. finished and deactivated are final.
    """
    active: bool
    """
    Whether its state is active.
    """
    fire_count: int
    """
    The number of fired slots. Triggered runs do not count.
    """
    max_fires: int | None
    last_fired_at: datetime | None
    """
    When a slot last fired.
    """
    overlap: Literal['skip', 'allow'] | str
    """
    What happens to a slot while an earlier run is still active. skip: the slot passes. allow: it fires too.
    """
    missed: Literal['skip', 'run_once'] | str
    """
    Slots that the server could not fire in time. skip: they pass. run_once: one run, for the latest, replaces all.
    """
    grace_seconds: int
    notify: bool
    timeout_seconds: int
    priority: Literal['low', 'normal', 'high', 'urgent'] | str
    """
    Waiting raises the rank of a subtask: one minute equals one level.
    """
    subagent: str | None
    """
    The sub-agent of each run, in its then current version.
    """
    runner: str
    model: str | None
    budget: Budget
    parent_session_id: str | None
    """
    The session whose inbox receives the results; null: no inbox receives them.
    """
    metadata: dict[str, Any]
    created_by_session_id: str | None
    """
    The session that created it.
    """
    created_by_session: str | None = Field(..., deprecated=True)
    """
    Use `created_by_session_id`.
    """
    created_at: datetime
    updated_at: datetime
    """
    When it last changed or fired.
    """


class ScheduleList(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    items: list[Schedule]
    next_cursor: str | None


class SchedulePreview(BaseModel):
    """
    Other fields as in `Schedule`.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    schedule_type: Literal['once', 'recurring'] | str
    phrase: str
    canonical: str
    reading: str
    timezone: str
    fire_at: datetime | None
    interval_seconds: int | None
    cron_expr: str | None
    rule: str | None
    anchor_at: datetime
    next_fire_at: datetime | None
    upcoming: list[datetime]
    warnings: list[ScheduleWarning]


class ScheduleRun(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    slot: datetime
    """
    When it was due; of a triggered one, when it was asked for.
    """
    fired_at: datetime | None
    """
    When its subtask was made.
    """
    outcome: Literal[
        'waiting', 'fired', 'skipped_overlap', 'skipped_missed', 'skipped_paused'
    ] | str
    """
    waiting: the queue of its agent is full; the slot fires as soon as there is room. All other outcomes are final.
    """
    manual: bool
    """
    Whether the run was triggered by hand.
    """
    subtask_id: str | None


class ScheduleRunList(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    items: list[ScheduleRun]
    next_cursor: str | None


class Step(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    seq: int
    """
    Position in the transcript of the subtask, over all attempts.
    """
    attempt: int
    kind: Literal['message', 'tool_call', 'tool_result', 'update', 'error'] | str
    content: Any
    at: datetime


class StepList(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    items: list[Step]
    next_cursor: str | None


class Subagent(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    name: str
    title: str | None
    """
    The original name, if it was changed to a valid one.
    """
    description: str
    """
    What the sub-agent is for. Callers choose a sub-agent by this text.
    """
    model: str
    """
    haiku, sonnet, opus, `inherit` (the default of the runner), or the name of a provider’s model.
    """
    tools: list[str]
    """
    Allowed tools, as rules: `Read`, `Bash(git:*)`, `mcp__server__*`; `*` allows every tool.
    """
    disallowed_tools: list[str]
    """
    Denied tools. They take precedence over `tools`.
    """
    ask: list[str]
    """
    Uses of tools that are asked about before they are executed.
    """
    definition_path: str | None
    version: int
    """
    The version that a run started now would use.
    """
    source: Literal['file', 'api', 'builtin'] | str
    """
    For one name, the API takes precedence over files, and files over built-in definitions.
    """
    target_latency_ms: int | None
    """
    The target duration; the run is not stopped.
    """
    max_turns: int | None
    """
    The maximum number of model requests of one run.
    """
    background: bool
    """
    Whether it always runs in the background.
    """
    mcp_servers: list[str]
    skills: list[str]
    callback_url: str | None
    """
    Where the end of each run is sent to that names no callback itself. Its secret is not shown.
    """
    unknown_keys: list[str]
    """
    Front matter keys that Muster does not use. They are kept.
    """
    instructions: str
    runner: str | None
    """
    The runner of a run that names none; null if no runner can run sub-agents.
    """
    warnings: list[str]
    """
    Tools that the definition lists and a run by that runner does not have.
    """


class SubagentImportRow(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    path: str
    """
    The path of the file in the collection.
    """
    outcome: Literal['imported', 'renamed', 'refused', 'ignored'] | str
    """
    imported: stored. renamed: stored under a valid form of its name; `title` keeps the original. refused: see `errors`. ignored: a Markdown file that defines no sub-agent.
    """
    name: str | None
    """
    The name of the sub-agent; null if the file has none.
    """
    title: str | None
    """
    The original name of a renamed definition.
    """
    version: int | None
    """
    The version that a run started now would use; null if the file was not imported.
    """
    errors: list[SubagentProblem]
    """
    Why the file was refused.
    """
    warnings: list[SubagentProblem]
    """
    Possible mistakes in the definition.
    """


class SubagentList(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    items: list[SubagentSummary]
    next_cursor: str | None
    broken: list[BrokenSubagent]
    """
    All unusable files, on every page.
    """


class Subtask(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    id: str
    agent_id: str
    session_id: str
    """
    The session of the subtask itself: `subtask-<id>`.
    """
    parent_session_id: str | None
    """
    The session whose inbox receives the result.
    """
    task: str
    task_id: str | None
    task_revision: int | None
    schedule_id: str | None
    subagent: SubagentRef | None
    background: bool
    priority: Literal['low', 'normal', 'high', 'urgent'] | str
    """
    Waiting raises the rank of a subtask: one minute equals one level.
    """
    status: Literal['pending', 'running', 'waiting', 'completed', 'failed', 'cancelled'] | str
    """
    completed, failed and cancelled are final.
    """
    final_outcome: (
        Literal[
            'completed',
            'cancelled',
            'incomplete_blocked',
            'validation_failed',
            'timed_out',
            'errored',
            'worker_lost',
            'budget_exceeded',
        ] | str
        | None
    )
    """
    Null until the subtask has ended.
    """
    result: str | None
    """
    Null before the end, if there is no result, and if it is named in `shortened`.
    """
    result_truncated: bool
    """
    True if the result was longer than 1 MiB and was cut.
    """
    summary: str | None
    error: str | None
    """
    Why the subtask did not complete.
    """
    outputs: dict[str, Any] | None
    shortened: list[ShortenedField] | None = None
    """
    Only in lists: `result` and `outputs` where they are longer than 2,000 characters.
    """
    required_outputs: list[RequiredOutput]
    worker_id: str | None
    attempt: int
    """
    The number of claims so far.
    """
    failures: int
    """
    The number of attempts that failed.
    """
    max_attempts: int
    timeout_seconds: int
    budget: Budget
    notify: bool
    """
    Whether the result goes into the inbox of the parent session.
    """
    runner: str
    runner_reason: str | None = None
    """
    Why this runner was chosen. Only in the answer that accepts the subtask.
    """
    warnings: list[str] | None = None
    """
    Tools that the definition lists and this run does not have. Only in the answer that accepts the subtask.
    """
    model: str | None
    usage: Usage
    resume_of: str | None
    """
    The ended subtask of the same sub-agent that this one continues.
    """
    revision_of: str | None
    """
    The previous subtask of the chain, whose result has to be revised.
    """
    revision_round: int
    """
    The revision round: 0 for the first subtask of a chain.
    """
    max_revisions: int
    """
    How many revision rounds may follow the first subtask.
    """
    evaluation: EvaluationRef | None
    duration_ms: int | None
    """
    From the start of the first attempt to the end, without `lost_ms` and `waited_ms`. Null until the subtask has ended.
    """
    lost_ms: int
    """
    Milliseconds during which no live worker held the subtask while it ran.
    """
    waiting_for: str | None
    """
    The question whose answer it waits for, in status `waiting`.
    """
    waited_ms: int
    """
    Milliseconds that it waited for answers, without the present wait.
    """
    created_at: datetime
    started_at: datetime | None
    """
    When its first attempt began.
    """
    completed_at: datetime | None
    cancel_requested_at: datetime | None
    """
    When cancellation was requested while the subtask ran.
    """
    metadata: dict[str, Any]


class SubtaskList(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    items: list[Subtask]
    next_cursor: str | None


class TaskCheckIn(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    id: str
    task_id: str
    session_id: str | None
    """
    The session that reports. Null if it is not known.
    """
    revision: int
    """
    The revision with the criteria that it reports on.
    """
    criteria: list[CheckedInCriterion]
    """
    The criteria that it says something of.
    """
    unmatched: list[str]
    """
    Lines that match no criterion, or more than one.
    """
    next_steps: list[str]
    author: Reference
    """
    The owner of the credential that made the request.
    """
    created_at: datetime


class TaskCheckInList(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    items: list[TaskCheckIn]
    next_cursor: str | None


class TaskContext(BaseModel):
    """
    The context of a task. Parts that were not sent are left out.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    background_context: str | None = None
    expected_deliverables: TaskDeliverables | None = None
    success_criteria: TaskSuccessCriteria | None = None
    constraints: TaskConstraints | None = None
    relevant_files: list[str] | None = None
    related_documentation: list[str] | None = None
    file_checks: list[FileCheck] | None = None
    validation_performed: bool
    validation_timestamp: str
    validation_warnings: list[str]


class TaskList(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    items: list[TaskSummary]
    next_cursor: str | None


class TaskPatch(BaseModel):
    """
    Only the fields to change. A list replaces the stored list. Null removes a field or resets it to its default. Other fields as in `CreatedTask`.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    title: str | None = None
    instructions: str | None = None
    acceptance_criteria: list[str | NewCriterion] | None = None
    required_outputs: list[str | NewRequiredOutput] | None = None
    priority: Literal['low', 'normal', 'high', 'urgent'] | str | None = None
    depends_on: list[str] | None = None
    client_cwd: str | None = None
    background_context: str | None = None
    expected_deliverables: list[str] | None = None
    success_criteria: NewSuccessCriteria | None = None
    constraints: NewConstraints | None = None
    relevant_files: list[str] | None = None
    related_documentation: list[str] | None = None
    budget: NewTaskBudget | None = None
    metadata: dict[str, Any] | None = None


class TaskReview(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    decision: Literal['approve', 'request_revision'] | str
    note: str | None = None
    """
    What to revise, or why the outputs are accepted.
    """
    criteria: list[NewVerdict] | None = None
    """
    Your verdicts on single criteria, which override those of the agent, of checks and of judges. A request for revision lists those that are not met.
    """


class TaskRevision(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    task_id: str
    revision: int
    fields: list[str]
    """
    The changed fields; for revision 1, the fields that were sent.
    """
    diff: dict[str, list[DiffPart]] | None
    """
    Null for revision 1.
    """
    acceptance_criteria: list[Criterion]
    """
    The criteria as of this revision.
    """
    required_outputs: list[RequiredOutput]
    author: Reference
    """
    The owner of the credential that made the request.
    """
    created_at: datetime


class TaskRevisionList(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    items: list[TaskRevision]
    next_cursor: str | None


class TaskStats(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    total_tasks: int
    active_tasks: int
    """
    Tasks that have not ended.
    """
    tasks_by_status: TaskStatusCounts


class Tsg(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    id: str
    tsg_id: str = Field(..., deprecated=True)
    """
    Use `id`.
    """
    title: str
    patterns: list[str]
    match: Literal['substring', 'regex'] | str
    """
    substring: ignores case. regex: RE2 syntax, case-sensitive; `(?i)` ignores case, `(?m)` makes ^ and $ match at lines.
    """
    applicability: TsgApplicability
    severity: Literal['low', 'medium', 'high', 'critical'] | str
    """
    Guides are sorted by it, the most severe first.
    """
    created_at: datetime
    updated_at: datetime
    content: str


class TsgList(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    items: list[TsgSummary]
    next_cursor: str | None


class TsgPatch(BaseModel):
    """
    Other fields as in `NewTsg`.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    title: str | None = None
    content: str | None = None
    patterns: list[str] | None = None
    match: Literal['substring', 'regex'] | str | None = None
    applicability: NewTsgApplicability | None = None
    severity: Literal['low', 'medium', 'high', 'critical'] | str | None = None


class TsgScanResult(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    items: list[ScannedTsg]
    """
    Best first, at most 20.
    """


class Update(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    id: str
    update_id: str = Field(..., deprecated=True)
    """
    Use `id`.
    """
    subtask_id: str | None
    task_id: str | None
    update_type: Literal[
        'instructions', 'acceptance_criteria', 'context', 'note', 'revision_request'
    ] | str
    fields: list[str]
    content: str
    diff: Any
    """
    The change of the brief; null for a note.
    """
    revision: int | None
    sender: Reference
    delivery: Literal['next_step', 'interrupt'] | str
    """
    next_step: before the next step. interrupt: stop the current step and deliver this first, if the runner supports it.
    """
    status: Literal['queued', 'delivered', 'acknowledged', 'superseded', 'expired'] | str
    """
    The receipt. delivered: the agent received it. acknowledged: the agent confirmed it. superseded: a newer delivery replaced it. expired: the work ended before delivery.
    """
    delivered_to: str | None
    """
    The session that received it.
    """
    created_at: datetime
    delivered_at: datetime | None
    acknowledged_at: datetime | None
    """
    When the agent took it in.
    """


class UpdateList(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    items: list[Update]
    next_cursor: str | None


class Webhook(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    id: str
    url: str
    events: list[
        Literal[
            '*',
            'subtask.*',
            'task.*',
            'update.*',
            'question.*',
            'schedule.*',
            'check.*',
            'evaluation.*',
            'tsg.*',
            'webhook.*',
            'subtask.created',
            'subtask.started',
            'subtask.progress',
            'subtask.retrying',
            'subtask.released',
            'subtask.waiting',
            'subtask.resumed',
            'subtask.cancel_requested',
            'subtask.completed',
            'subtask.failed',
            'subtask.cancelled',
            'task.created',
            'task.revised',
            'task.assigned',
            'task.blocked',
            'task.unblocked',
            'task.checked_in',
            'task.in_review',
            'task.revision_requested',
            'task.completed',
            'task.failed',
            'task.cancelled',
            'update.queued',
            'update.delivered',
            'update.acknowledged',
            'update.superseded',
            'update.expired',
            'question.asked',
            'question.answered',
            'question.expired',
            'question.withdrawn',
            'schedule.created',
            'schedule.fired',
            'schedule.skipped',
            'schedule.paused',
            'schedule.finished',
            'schedule.deactivated',
            'check.completed',
            'evaluation.created',
            'tsg.surfaced',
            'tsg.resolved',
            'webhook.disabled',
        ] | str
    ]
    subject: str | None
    agent_id: str | None
    session_id: str | None
    ordered: bool
    description: str | None
    status: Literal['enabled', 'disabled'] | str
    disabled_reason: str | None
    disabled_at: datetime | None
    previous_secret_until: datetime | None
    """
    Until when deliveries have a second signature, by the secret before the last rotation.
    """
    created_at: datetime


class WebhookList(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    items: list[Webhook]
    next_cursor: str | None


class Worker(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    id: str
    state: Literal['active', 'draining', 'drained', 'lost'] | str
    """
    `draining` takes no new work, `drained` holds none any more; `lost` has shown no sign of life for five seconds.
    """
    version: str | None
    """
    Version of Muster that it runs; null, as host and pid, where that does not say.
    """
    host: str | None
    pid: int | None
    runners: list[str]
    capacity: int
    """
    How many runs it takes at once.
    """
    running: int
    """
    How many subtasks it runs now, of all projects.
    """
    started_at: datetime
    """
    When it registered.
    """
    heartbeat_at: datetime
    """
    Its last sign of life. A live worker gives two a second.
    """
    drain: WorkerDrain | None
    """
    Null while it takes work.
    """


class WorkerList(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    items: list[Worker]
    next_cursor: str | None


class AgreementCase(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    evaluation_id: str
    """
    The latest evaluation by rule, checks or judge.
    """
    task_id: str | None
    subtask_id: str | None
    subagent: str | None
    criterion: AgreementCriterion | None
    """
    Null: the whole output.
    """
    verdict: Literal['met', 'unmet', 'unclear', 'not_addressed'] | str | None
    """
    The verdict on the criterion; null for the whole output, where the recommendation counts.
    """
    method: Literal['check_in', 'schema', 'check', 'judge', 'person'] | str | None
    score: float | None
    recommendation: Literal['approve', 'review', 'request_revision'] | str
    said: PersonWord
    difference: float
    """
    1 for met against unmet. For outputs, the distance of the score from what was said.
    """
    links: AgreementLinks


class AgreementStats(BaseModel):
    """
    Other fields as in `AgreementGroup`.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    since: datetime
    """
    Outputs that were first evaluated from then on
    """
    until: datetime
    """
    and before then.
    """
    from_: datetime = Field(..., alias='from', deprecated=True)
    """
    Use `since`.
    """
    to: datetime = Field(..., deprecated=True)
    """
    Use `until`.
    """
    by: Literal['agreement'] | str
    outputs: int
    n: int
    observed_agreement: float | None
    kappa: float | None
    reason: Literal['too_few', 'one_category'] | str | None
    pairs: AgreementPairs
    undecided: int
    named: int
    by_subagent: list[AgreementGroup]
    """
    Outputs by the sub-agent of the run, most first. At most 400.
    """
    by_criterion: list[AgreementGroup]
    """
    The latest verdicts on criteria, by their text, most outputs first. At most 400.
    """
    by_method: list[AgreementGroup]
    """
    Verdicts on criteria by how they were come to, including verdicts that another one replaced.
    """
    cases: list[AgreementCase]
    """
    The 20 cases in which verdict and person differ most.
    """
    is_cut: bool
    """
    True if people have spoken of more than the newest 5,000 outputs that were counted.
    """


class AnyEvaluationStats(RootModel[EvaluationStats | AgreementStats]):
    root: EvaluationStats | AgreementStats
    """
    `AgreementStats` for `by=agreement`, otherwise `EvaluationStats`.
    """


class CheckedIn(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    id: str
    check_in_id: str = Field(..., deprecated=True)
    """
    Use `id`.
    """
    revision: int
    """
    The revision that the check-in refers to. The current one where it names none or one that there is not.
    """
    criteria: list[CheckedInCriterion]
    unmatched: list[str]
    """
    Lines that match no criterion, or more than one.
    """
    next_steps: list[str]
    acknowledged_update_ids: list[str]
    """
    Updates that the check-in acknowledges, by the revision that it names.
    """


class ClaimedInbox(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    claim_id: str | None
    """
    The id to acknowledge; null if there is nothing to acknowledge.
    """
    items: list[InboxItem]
    """
    Oldest first, each delivered exactly once. At most 2 MiB of text, or one larger item.
    """
    has_more: bool
    """
    Whether more items are waiting. If true, claim again.
    """


class ClaimedSubtask(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    subtask: Subtask
    session_id: str
    credential: str
    """
    Opens this subtask only, and cannot start work.
    """
    traceparent: str | None
    """
    The span that asked for the subtask (W3C Trace Context). Null without a trace.
    """
    lease: Lease
    brief: Brief


class CleanBrief(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    title: str
    instructions: str
    description: str | None
    priority: Literal['low', 'normal', 'high', 'urgent'] | str
    """
    Waiting raises the rank of a subtask: one minute equals one level.
    """
    acceptance_criteria: list[CleanCriterion]
    required_outputs: list[RequiredOutput]
    tsgs: list[str]
    parent_session_id: str | None
    client_cwd: str | None
    depends_on: list[str]
    review: Literal['none', 'auto', 'manual'] | str
    """
    Who reviews the submitted outputs: none, auto (the evaluation), or manual (a person or controller).
    """
    task_context: TaskContext | None
    budget: TaskBudget | None
    metadata: dict[str, Any]


class CreatedTask(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    title: str | None = None
    """
    Send it together with `instructions`, or send `description` instead of both.
    """
    instructions: str | None = None
    acceptance_criteria: list[str | NewCriterion] | None = None
    required_outputs: list[str | NewRequiredOutput] | None = None
    """
    The outputs that completion must submit, each a name or an object. Without a schema, null and empty values (`""`, blanks, `[]`, `{}`) count as missing.
    """
    priority: Literal['low', 'normal', 'high', 'urgent'] | str | None = None
    """
    low, normal (the default), high or urgent.
    """
    depends_on: list[str] | None = None
    """
    Tasks that must be completed first.
    """
    client_cwd: str | None = None
    """
    The absolute folder that relative paths start at. A dispatched run works there if it is inside `WORKSPACE_ROOTS`, otherwise in `workspace`.
    """
    background_context: str | None = None
    """
    Why the task exists and the current situation.
    """
    expected_deliverables: list[str] | None = None
    success_criteria: NewSuccessCriteria | None = None
    """
    How to recognise that the task is done. A plain list of criteria is taken as well.
    """
    constraints: NewConstraints | None = None
    """
    Rules that the work must follow. A plain list of rules is taken as well.
    """
    relevant_files: list[str] | None = None
    """
    Relative paths start at `client_cwd`.
    """
    related_documentation: list[str] | None = None
    """
    URLs (the server does not fetch them) or files.
    """
    budget: NewTaskBudget | None = None
    """
    What all its subtasks and judgements may use together. Default: any amount.
    """
    metadata: dict[str, Any] | None = None
    """
    Your own data, at most 16 KiB as JSON.
    """
    description: str | None = None
    """
    In place of title and instructions: its first line is the title.
    """
    tsgs: list[str] | None = None
    """
    Ids of troubleshooting guides that belong to the task.
    """
    parent_session_id: str | None = None
    """
    The session whose inbox reports the end of the task, and that it waits for review.
    """
    review: Literal['none', 'auto', 'manual'] | str | None = None
    """
    Who reviews the submitted outputs. Default: none.
    """
    callback: Callback | None = None


class Evaluation(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    id: str
    evaluation_id: str = Field(..., deprecated=True)
    """
    Use `id`.
    """
    origin: Literal['request', 'message', 'subtask', 'completion', 'review'] | str
    """
    The cause: a request, a stored message, the result of a subtask, the completion of a task, or its review.
    """
    task_id: str | None
    subtask_id: str | None
    message_id: str | None
    session_id: str | None
    subagent: str | None
    score: float | None
    """
    Null if no item of the output counts.
    """
    recommendation: Literal['approve', 'review', 'request_revision'] | str
    summary: str | None = None
    """
    For an output that has to be revised: the problems, and the first and last part of the output.
    """
    criteria_revision: int | None
    """
    The task revision whose criteria were applied.
    """
    rule_version: int
    """
    Of the evaluation rule. 2: an approval needs every required criterion met.
    """
    judge_of: str | None
    """
    The evaluation to which this one adds the verdicts of checks or of a judge.
    """
    review_of: str | None
    """
    The evaluation that a person reviewed. The recommendation is then the decision of the review.
    """
    judge: Judgement | None
    """
    Null if no judge was asked.
    """
    created_at: datetime
    warnings: list[EvaluationWarning]
    reflection: Reflection
    dimensions: EvaluationDimensions
    criteria: list[CriterionVerdict]
    """
    One verdict per criterion, in order.
    """
    threshold: float
    """
    Outputs below this score have to be revised.
    """
    approve_at: float
    """
    Outputs at or above this score are approved.
    """
    trust: Literal['evidence', 'self_report'] | str | None
    """
    What `review: auto` completed on, as in `EvaluationSettings`. Null for `rule_version` 1, which asked for none.
    """
    full_payload: str | None = None
    """
    In the answer to `POST /evaluations`: the complete output, unless it has to be revised.
    """


class EvaluationSummary(BaseModel):
    """
    Other fields as in `Evaluation`.
    """

    model_config = ConfigDict(
        extra='allow',
    )
    id: str
    evaluation_id: str = Field(..., deprecated=True)
    origin: Literal['request', 'message', 'subtask', 'completion', 'review'] | str
    """
    The cause: a request, a stored message, the result of a subtask, the completion of a task, or its review.
    """
    task_id: str | None
    subtask_id: str | None
    message_id: str | None
    session_id: str | None
    subagent: str | None
    score: float | None
    recommendation: Literal['approve', 'review', 'request_revision'] | str
    summary: str | None = None
    criteria_revision: int | None
    rule_version: int
    judge_of: str | None
    review_of: str | None
    judge: Judgement | None
    created_at: datetime


class EventDeliveryList(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    items: list[EventDeliverySummary]
    next_cursor: str | None


class HeartbeatRequest(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    lease_token: str
    """
    `lease.token` of the claim.
    """
    ack_update_ids: list[str] | None = None
    """
    Ids of updates that the agent acknowledges. Default: [].
    """
    steps: list[NewStep] | None = None
    """
    Steps since the last heartbeat, for the transcript.
    """
    usage: UsageDelta | None = None


class Injection(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    claim_id: str | None
    """
    The id to acknowledge; null if there is nothing to acknowledge.
    """
    text: str
    """
    All items as one text for the next model request; empty if there is nothing new.
    """
    items: list[InjectionItem]
    lease_expires_at: datetime | None
    """
    When the items come again unless they are acknowledged.
    """


class Project(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    id: str
    name: str
    settings: ProjectSettings
    created_at: datetime


class ProjectPatch(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    name: str | None = None
    settings: ProjectSettings | None = None
    """
    Replaces the settings as a whole.
    """


class SubagentImport(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    items: list[SubagentImportRow]
    """
    A row for each Markdown file, in the order of the collection.
    """
    imported: int
    """
    The number of imported definitions, including renamed ones.
    """
    renamed: int
    refused: int
    ignored: int


class Task(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    id: str
    title: str
    instructions: str
    description: str | None
    """
    Set if the task was created with a description.
    """
    status: Literal[
        'blocked',
        'pending',
        'assigned',
        'in_progress',
        'in_review',
        'revision_requested',
        'completed',
        'failed',
        'cancelled',
    ] | str
    """
    completed, failed and cancelled are final.
    """
    revision: int
    """
    Increases with every change of the brief. Also in `ETag`.
    """
    priority: Literal['low', 'normal', 'high', 'urgent'] | str
    """
    Waiting raises the rank of a subtask: one minute equals one level.
    """
    acceptance_criteria: list[Criterion]
    """
    Acceptance criteria, success criteria and strict constraints.
    """
    required_outputs: list[RequiredOutput]
    completion_outputs: dict[str, Any] | None
    summary: str | None
    tsgs: list[LinkedTsg]
    parent_session_id: str | None
    subagent_session_id: str | None
    """
    The session that holds the task.
    """
    depends_on: list[str]
    blocked_by: list[str]
    """
    The tasks in depends_on that are not completed.
    """
    task_context: TaskContext | None
    validation: TaskValidation
    review: Literal['none', 'auto', 'manual'] | str
    """
    Who reviews the submitted outputs: none, auto (the evaluation), or manual (a person or controller).
    """
    client_cwd: str | None
    """
    The folder that relative paths start at.
    """
    workspace: str | None
    """
    The task’s own folder on the server.
    """
    budget: TaskBudget | None
    """
    Null: any amount.
    """
    metadata: dict[str, Any]
    next_steps: list[str]
    """
    The next steps that the assignee named in its latest check-in with next steps.
    """
    last_error: str | None
    """
    Why the task failed, was cancelled, or returned from the subtask that ran it.
    """
    created_at: datetime
    updated_at: datetime
    """
    When anything about it changed last.
    """
    completed_at: datetime | None


class ValidatedBrief(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    cleaned: CleanBrief
    """
    The brief as it would be stored.
    """
    warnings: list[BriefWarning]


class AssignedTask(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    task: Task
    subagent_credential: str | None
    """
    Opens this task only, and cannot start work. Shown once; null when the answer is repeated.
    """


class EvaluationList(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    items: list[EvaluationSummary]
    next_cursor: str | None


class RevisedTask(BaseModel):
    model_config = ConfigDict(
        extra='allow',
    )
    task: Task
    update_id: str | None
    """
    The update for the assignee. Null if nothing that the brief shows has changed.
    """
    revision: int
    diff: dict[str, list[DiffPart]]
