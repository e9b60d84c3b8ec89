import { readFile } from 'node:fs/promises'
import { DEFAULT_PROJECT_ID } from '@muster/domain'
import {
  claimAll,
  claimOne,
  completed,
  drainOutbox,
  type Harness,
  makeTask,
  scriptedJudge,
  settleOne,
  spawn,
  spawnMany,
  startHarness,
  storeSchedules,
} from '@muster/testing'
import {
  acknowledgeInbox,
  acknowledgeInjection,
  answerQuestion,
  askAboutSubtask,
  assignTask,
  authenticate,
  buildPrompt,
  type Ctx,
  cancelSubtask,
  cancelTask,
  checkIn,
  checkpointRun,
  claimChecks,
  claimInbox,
  claimSubtask,
  completeTask,
  confirmUpdate,
  createApiKey,
  createEvaluation,
  createSchedule,
  createTsg,
  deactivateSchedule,
  deleteExpired,
  deleteTsg,
  dispatchTask,
  endAbandonedChecks,
  expireQuestions,
  exportTraining,
  fireSchedules,
  flagQuality,
  getAgreementStats,
  getChangedSubtask,
  getEvaluation,
  getEvaluationPayload,
  getEvaluationStats,
  getSchedule,
  getSubtask,
  getSubtaskPayload,
  getTaskPayload,
  getTaskStats,
  getTsg,
  getTsgUsage,
  getUsage,
  heartbeat,
  holdChecks,
  injectSession,
  judgeEvaluation,
  judgeSilence,
  linkTsgToTask,
  listAgents,
  listApiKeys,
  listEvaluations,
  listMessages,
  listQuestions,
  listScheduleRuns,
  listSchedules,
  listSteps,
  listSubtasks,
  listTaskChecks,
  listTaskRevisions,
  listTasks,
  listTaskUpdates,
  listTsgs,
  listUpdates,
  lookAtRuns,
  noteTask,
  passIdlePermits,
  pauseSchedule,
  postMessage,
  putTsg,
  readEvents,
  reapRuns,
  recordTsgFeedback,
  renewLeases,
  requestChecks,
  resumeSchedule,
  returnTaskToPending,
  reviewTask,
  reviseSchedule,
  reviseTask,
  revokeApiKey,
  runCheck,
  scanTsgs,
  settleRuns,
  steerSubtask,
  takeHookEvent,
  triggerSchedule,
  unlinkTsgFromTask,
  updateProject,
  updateTsg,
} from '@muster/usecases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { claims, connect, type Database, type DatabaseRole, evaluations, type Tx, tasks, training, transaction, tsgNotices } from './index.ts'

interface Statement {
  text: string
  parameters: unknown[]
  role: DatabaseRole
}

interface PlanNode {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Index Cond'?: string
  'Actual Rows'?: number
  'Rows Removed by Filter'?: number
  Plans?: PlanNode[]
}

const ROWS = 20_000

let harness: Harness
let ctx: Ctx
const statements = new Map<string, Statement>()
const pools: Database[] = []

/** A pool like those of a process that records its statements. */
function noting(role: DatabaseRole): Database {
  const pool = connect(harness.database.appUrl, { role, connectionsMax: 5, applicationName: 'test' })
  const options = pool.sql.options as { debug: unknown }
  options.debug = (_connection: number, text: string, parameters: unknown[]) => {
    const key = `${role} ${text.replaceAll(/\s+/g, ' ')}`
    if (!statements.has(key)) statements.set(key, { text, parameters, role })
  }
  pools.push(pool)
  return pool
}

/** Past work in several projects, subtasks in hundreds with one that has most: the rows of a server after some months, in small numbers. */
async function fill(): Promise<void> {
  const { admin } = harness
  await admin`
    insert into subtasks (project_id, id, agent_id, parent_session_id, task, priority, runner, timeout_seconds, max_attempts, budget_max_steps, notify,
      status, final_outcome, completed_at, rank_at, attempt, task_id, subagent_name)
    select case when n % 20 <> 0 then ${DEFAULT_PROJECT_ID}::uuid else ('00000000-0000-7000-9000-' || lpad((n % 5000)::text, 12, '0'))::uuid end,
      gen_random_uuid(), 'agent-' || n % 400, 'session-' || n % 500, 'task', 'normal', 'own', 120, 2, 50, true, 'completed', 'completed', now(), now(), 1,
      case when n % 3 = 0 then gen_random_uuid() end, case when n % 5 < 2 then 'agent-' || n % 40 end
    from generate_series(1, ${ROWS}) as n`
  await admin`insert into attempts (project_id, subtask_id, attempt, worker_id, ended_at) select project_id, id, 1, 'w', now() from subtasks`
  await admin`insert into inbox (project_id, id, session_id, subtask_id, delivered_at) select project_id, gen_random_uuid(), parent_session_id, id, now() from subtasks`
  await admin`insert into steps (project_id, subtask_id, seq, attempt, kind) select project_id, id, 1, 1, 'message' from subtasks`
  await admin`
    insert into updates (project_id, id, subtask_id, seq, update_type, content, sender_kind, sender_id, status)
    select project_id, gen_random_uuid(), id, 1, 'note', 'x', 'key', 'k', 'acknowledged' from subtasks`
  await admin`
    insert into events (project_id, seq, type, subject_kind, subject_id, data, actor_kind, actor_id, at)
    select project_id, nextval('muster_system.event_seq'), 'subtask.completed', 'subtask', id, '{}', 'worker', 'w', now() from subtasks`
  await admin`
    insert into idempotency_keys (project_id, actor_id, key, request_hash, status, headers) select project_id, 'open', id::text, '', 200, '{}' from subtasks`
  await admin`
    insert into api_keys (project_id, id, name, key_hash, key_prefix, scopes) select project_id, gen_random_uuid(), 'x', sha256(id::text::bytea), 'x', '{admin}' from subtasks`
  await admin`insert into bodies (project_id, id, sha256, bytes) select project_id, gen_random_uuid(), '', '' from subtasks`
  await admin`
    insert into pgboss.job (name, state, data, completed_on, priority)
    select 'run.' || (array['own', 'other'])[1 + n % 2], (case when n % 4 = 0 then 'created' else 'completed' end)::pgboss.job_state, '{}', now(), -n from generate_series(1, ${ROWS}) as n`
  await admin`
    insert into tasks (project_id, id, title, instructions, status, subagent_session_id, parent_session_id, priority, completed_at)
    select case when n % 2 = 0 then ${DEFAULT_PROJECT_ID}::uuid else ('00000000-0000-7000-9000-' || lpad((n % 50)::text, 12, '0'))::uuid end,
      gen_random_uuid(), 'title ' || n, 'instructions of ' || n, 'completed', 'session-' || n % 500, 'session-' || n % 400, 'P' || n % 4, now()
    from generate_series(1, ${ROWS}) as n`
  await admin`
    insert into hook_reservations (project_id, id, session_id, subagent_type, task_id, bound_session_id, bound_at)
    select project_id, gen_random_uuid(), subagent_session_id, 'writer', id, 'x', now() from tasks`
  await admin`
    insert into subagent_versions (project_id, name, version, source, definition, content_hash)
    select project_id, 'agent-' || n % 40, n, 'api', '{}', '' from (select distinct project_id from subtasks order by project_id limit 20) as p, generate_series(1, ${ROWS / 20}) as n`
  await admin`insert into task_revisions (project_id, task_id, revision, fields, criteria, required_outputs, author_kind, author_id) select project_id, id, 1, '{}', '[]', '[]', 'key', 'k' from tasks`
  await admin`insert into task_dependencies (project_id, task_id, depends_on_id) select project_id, id, gen_random_uuid() from tasks`
  await admin`insert into task_tsgs (project_id, task_id, tsg_id) select project_id, id, 'guide-' || substr(id::text, 1, 4) from tasks`
  await admin`insert into assignments (project_id, task_id, session_id, ended_at, has_news) select project_id, id, subagent_session_id, now(), false from tasks`
  await admin`insert into check_ins (project_id, id, task_id, revision, content, verdicts, unmatched, next_steps, author_kind, author_id) select project_id, gen_random_uuid(), id, 1, 'x', '[]', '[]', '{}', 'key', 'k' from tasks`
  await admin`
    insert into updates (project_id, id, task_id, seq, update_type, content, sender_kind, sender_id, status)
    select project_id, gen_random_uuid(), id, 1, 'note', 'x', 'key', 'k', 'acknowledged' from tasks`
  await admin`
    insert into tsgs (project_id, tsg_id, title, content, patterns)
    select distinct project_id, 'guide-' || substr(id::text, 1, 4), 'About', 'x', array['x'] from tasks`
  await admin`
    insert into tsg_uses (project_id, id, tsg_id, kind, session_id)
    select project_id, gen_random_uuid(), 'guide-' || substr(id::text, 1, 4), 'surfaced', subagent_session_id from tasks`
  await admin`
    insert into tsg_notices (project_id, session_id, tsg_id, matched_pattern, delivered_at) select project_id, id::text, 'guide', 'x', now() from tasks`
  await admin`insert into bodies (project_id, id, sha256, bytes) select project_id, id, '', 'long' from tasks where substr(id::text, 1, 1) = '0'`
  await admin`
    insert into session_messages (project_id, id, session_id, role, content, body_id, task_id)
    select t.project_id, gen_random_uuid(), t.subagent_session_id, 'assistant', case when b.id is null then 'text ' || n end, b.id, t.id
    from tasks t left join bodies b on b.id = t.id cross join generate_series(1, 3) as n`
  await admin`
    insert into evaluations (project_id, id, origin, task_id, subtask_id, subagent_name, score, recommendation, detail)
    select project_id, gen_random_uuid(), 'subtask', gen_random_uuid(), id, 'role', 0.5, 'review', '{"criteria": []}' from subtasks`
  await admin`
    insert into evaluations (project_id, id, origin, task_id, recommendation, detail, output)
    select project_id, gen_random_uuid(), 'completion', id, 'review', '{"criteria": []}', 'x' from tasks`
  await admin`
    insert into evaluations (project_id, id, origin, task_id, subtask_id, score, recommendation, detail, judge_of, is_judged)
    select project_id, gen_random_uuid(), origin, task_id, subtask_id, score, recommendation, detail, id, true from evaluations where subtask_id is not null`
  await admin`
    insert into evaluations (project_id, id, origin, task_id, recommendation, detail, review_of)
    select project_id, gen_random_uuid(), 'review', task_id, 'approve', '{"criteria": []}', id from evaluations where origin = 'completion'`
  await admin`insert into judgements (project_id, evaluation_id, status, ended_at) select project_id, judge_of, 'done', now() from evaluations where is_judged`
  await admin`
    insert into quality_flags (project_id, subject_kind, subject_id, quality, tags, training_candidate, author_kind, author_id)
    select project_id, 'subtask', id, 'good', '{x}', substr(id::text, 1, 1) = '0', 'key', 'k' from subtasks`
  await admin`
    insert into questions (project_id, id, kind, subtask_id, session_id, asked_by_session, prompt, status, expires_at, on_expiry)
    select project_id, gen_random_uuid(), 'question', id, parent_session_id, 'subtask:' || id, 'x', 'withdrawn', now(), 'continue' from subtasks`
  await admin`
    insert into check_runs (project_id, id, batch_id, task_id, subtask_id, evaluation_id, criterion_id, check_name, place, status, ended_at)
    select project_id, gen_random_uuid(), gen_random_uuid(), id, gen_random_uuid(), gen_random_uuid(), 'c', 'tests', gen_random_uuid(), 'met', now() from tasks`
  await admin`
    insert into injection_claims (project_id, id, session_id, held, lease_expires_at, acknowledged_at)
    select project_id, gen_random_uuid(), subagent_session_id, '{"tasks": [], "tsgIds": [], "inboxClaimId": null}', now(), now() from tasks`
  await admin`
    insert into schedules (project_id, id, agent_id, task, phrase_kind, phrase, canonical, reading, timezone, timing, state, anchor_at, next_fire_at, overlap, missed,
      grace_seconds, notify, timeout_seconds, priority, runner, budget_max_steps)
    select case when n % 2 = 0 then ${DEFAULT_PROJECT_ID}::uuid else ('00000000-0000-7000-9000-' || lpad((n % 50)::text, 12, '0'))::uuid end,
      gen_random_uuid(), 'agent-' || n % 40, 'task', 'every', 'x', 'x', 'x', 'UTC', '{"kind": "interval", "seconds": 3600, "anchorAt": "2026-01-01T00:00:00Z"}',
      (array['active', 'paused', 'finished', 'deactivated'])[1 + n % 4], now(), case when n % 4 < 2 then now() + interval '1 hour' + n * interval '1 second' end,
      'skip', 'run_once', 60, true, 120, 'normal', 'own', 50
    from generate_series(1, ${ROWS}) as n`
  await admin`
    insert into schedule_slots (project_id, id, schedule_id, agent_id, slot, outcome)
    select project_id, gen_random_uuid(), id, agent_id, now() - n * interval '1 hour', 'skipped_missed' from schedules cross join generate_series(1, 3) as n`
  await admin`update subtasks t set schedule_id = d.id from (select id, row_number() over (order by id) as n from schedules) as d,
    (select id, row_number() over (order by id) as n from subtasks) as s where s.n = d.n and t.id = s.id`
  await admin`insert into muster_system.stored_bytes (project_id, run_id, bytes) select project_id, id, 1000 from subtasks on conflict do nothing`
  await admin`vacuum analyze`
}

/** Every use-case of schedules: due, waiting for room, skipped, changed. */
async function everythingOfSchedules(): Promise<void> {
  const fire = () => fireSchedules(ctx, { except: [ctx.newId()], signal: new AbortController().signal })
  const agentId = 'scheduled'
  await spawnMany(ctx, 19, { agentId, runner: 'external' })
  const ids = await storeSchedules(
    harness.admin,
    [0, 1, 2].map(() => ({ agentId, runner: 'external', timing: { kind: 'interval', seconds: 3600, anchorAt: '' } })),
  )
  await fire()
  // There was room for one of them. With fewer before them, there is room for all.
  for (const run of await claimAll(ctx, { runners: ['external'] })) await settleOne(ctx, run)
  await fire()
  const [id = '', second = '', third = ''] = ids
  await listScheduleRuns(ctx, id, { limit: 20 })
  await listScheduleRuns(ctx, id, { limit: 20, cursor: ctx.newId() })
  await spawnMany(ctx, 3, { agentId: 'scheduled too', runner: 'external' })
  await triggerSchedule(ctx, id, () => {})
  await pauseSchedule(ctx, second)
  await resumeSchedule(ctx, second)
  await deactivateSchedule(ctx, third)
  const made = await createSchedule(ctx, { task: 'x', runner: 'external', phrase: { kind: 'every', text: 'every 2 hours' } })
  await reviseSchedule(ctx, made.id, { phrase: { kind: 'every', text: 'every 3 hours' }, maxFires: 5, agentId: 'another' })
  await getSchedule(ctx, made.id)
  for (const filter of [{}, { active: true }, { active: false }, { agentId: 'agent-1' }]) {
    await listSchedules(ctx, { ...filter, limit: 20 })
    await listSchedules(ctx, { ...filter, limit: 20, cursor: ctx.newId() })
  }
}

/** Every kind of delivery to a session, and its messages. */
async function everythingOfSessions(): Promise<void> {
  const own = { ...ctx, actor: (await harness.projectCtx('sessions')).actor }
  const inject = (ack: 'auto' | 'manual') => injectSession(own, 'worker', { ack, messages: ['a known failure'] })
  await createTsg(own, { tsgId: 'known', title: 'Known', content: 'x', patterns: ['known failure'] })
  const task = await makeTask(own, { acceptance_criteria: ['All is well'] })
  await assignTask(own, task.id, 'worker')
  await noteTask(own, task.id, 'note')
  await spawn(own, { agentId: 'asked', parentSessionId: 'worker', runner: 'external' })
  for (const run of await claimAll(own, { runners: ['external'], projectId: own.actor.projectId })) await settleOne(own, run, completed('ä'.repeat(40_000)))
  // Claimed, lapsed, claimed again, acknowledged; then a new update; then nothing.
  await inject('manual')
  await harness.admin`update injection_claims set lease_expires_at = now() - interval '1 minute' where acknowledged_at is null`
  const claimed = await inject('manual')
  await acknowledgeInjection(own, 'worker', claimed.claimId ?? '')
  await noteTask(own, task.id, 'another')
  await createTsg(own, { tsgId: 'other', title: 'Other', content: 'x', patterns: ['failure'] })
  await inject('auto')
  await inject('auto')
  const block = `<npl-block type="check-in" task-id="${task.id}" revision="1">\n- ✅ All is well\n</npl-block>`
  await postMessage(own, 'worker', { role: 'assistant', content: block, taskId: task.id })
  await postMessage(own, 'worker', { role: 'user', content: `the next known failure${' '.repeat(70_000)}`, taskId: task.id })
  await listMessages(own, 'worker', { limit: 20 })
  await listMessages(own, 'worker', { limit: 20, cursor: ctx.newId() })
}

/** Every use-case of evaluations, in a project with a small part of all of them. */
async function everythingOfEvaluations(): Promise<void> {
  const own = { ...ctx, actor: (await harness.projectCtx('evaluations')).actor }
  const task = await makeTask(own, { acceptance_criteria: ['All is well'] })
  const evaluated = await createEvaluation(own, { output: `evaluated${' '.repeat(70_000)}`, taskId: task.id, judge: true })
  await spawn(own, { agentId: 'evaluated', runner: 'external', subagent: 'Explore' })
  const [run] = await claimAll(own, { runners: ['external'], projectId: own.actor.projectId })
  await settleOne(own, run as NonNullable<typeof run>)
  const subtaskId = run?.id ?? ''
  await dispatchTask(own, task.id, () => ({ runner: 'external', agentId: 'evaluated', maxRevisions: 1 }))
  for (const result of ['<npl-ref>\n🐛 x\n</npl-ref>', `<npl-block type="check-in" task-id="${task.id}">\n- ✅ All is well\n</npl-block>`]) {
    const [round] = await claimAll(own, { runners: ['external'], projectId: own.actor.projectId })
    await buildPrompt(own, round as NonNullable<typeof round>)
    await settleOne(own, round as NonNullable<typeof round>, completed(result))
  }
  const reviewed = await makeTask(own, { acceptance_criteria: ['All is well'], review: 'auto' })
  await assignTask(own, reviewed.id, 'reviewed')
  await completeTask(own, reviewed.id, { outputs: {}, summary: '<npl-ref>\n🐛 x\n</npl-ref>' })
  await transaction(own.db, own.actor.projectId, (tx) => evaluations.findSubmitted(tx, own.actor.projectId, reviewed.id, 'reviewed'))
  await getEvaluation(own, evaluated.evaluation.id)
  await getEvaluationPayload(own, evaluated.evaluation.id)
  await getTaskPayload(own, task.id)
  await getSubtaskPayload(own, subtaskId)
  await postMessage(own, 'worker', { role: 'assistant', content: '<npl-ref>\n✅ x\n</npl-ref>', taskId: task.id })
  const cursor = ctx.newId()
  for (const filter of [{}, { taskId: task.id }, { subtaskId }]) {
    await listEvaluations(own, { ...filter, limit: 20 })
    await listEvaluations(own, { ...filter, limit: 20, cursor })
  }
  await flagQuality(own, { kind: 'task', id: task.id }, { quality: 'good', tags: ['x'] })
  await flagQuality(own, { kind: 'subtask', id: subtaskId }, { quality: 'needs_work', tags: [] })
  for (const filter of [{}, { quality: 'good' as const }, { tags: ['x'] }])
    for await (const _ of exportTraining(own, { format: 'jsonl', tags: [], ...filter }));
  await transaction(own.db, own.actor.projectId, (tx) =>
    training.listFlagged(tx, own.actor.projectId, { tags: [], after: { kind: 'task', id: task.id }, limit: 5 }),
  )
  for (const by of ['day', 'subagent', 'criterion'] as const) await getEvaluationStats(own, { by })
  const byHand = await makeTask(own, { acceptance_criteria: ['All is well'], review: 'manual' })
  await completeTask(own, byHand.id, { outputs: {} })
  const criteria = [{ criterionId: byHand.criteria[0]?.id ?? '', verdict: 'unmet' as const, comment: null }]
  await reviewTask(own, byHand.id, { decision: 'request_revision', criteria })
  await getAgreementStats(own, {})
  for (const by of ['day', 'task'] as const) await getUsage(own, { by })
}

/** Checks that pass, fail, are given back, wait for nobody, and are followed by a judge. */
async function everythingOfChecks(): Promise<void> {
  const own = { ...ctx, actor: (await harness.projectCtx('checks')).actor }
  await updateProject(own, own.actor.projectId, { settings: { evaluation: { judge: true } } })
  const place = ctx.newId()
  const made = await makeTask(own, { acceptance_criteria: [{ text: 'All is well', check: 'tests' }, 'All is said'], review: 'auto' })
  await dispatchTask(own, made.id, () => ({ runner: 'external', agentId: 'checked', maxRevisions: 1 }))
  const work = async (status: 'met' | 'unmet') => {
    for (const held of await claimChecks(own, { workerId: ctx.newId(), place }, 10)) {
      await holdChecks(own, [held])
      const checker = { check: async () => ({ status, exitCode: 0, reason: null, output: '', durationMs: 1 }) }
      await runCheck(own, { checker, findFolder: async () => '/' }, held, new AbortController().signal)
    }
  }
  for (const status of ['unmet', 'met'] as const) {
    const [run] = await claimAll(own, { runners: ['external'], projectId: own.actor.projectId })
    await buildPrompt(own, run as NonNullable<typeof run>)
    await settleOne({ ...own, place }, run as NonNullable<typeof run>)
    await work(status)
  }
  const usage = { inputTokens: 0, outputTokens: 0, costUsdMicros: 0 }
  const judge = scriptedJudge(async () => ({ kind: 'failed', error: 'x', retryable: false, retryAfterMs: null, usage }))
  for (const job of await own.judgeJobs.take(100)) await judgeEvaluation(own, judge, job, new AbortController().signal)
  await requestChecks(own, made.id)
  for (const held of await claimChecks(own, { workerId: ctx.newId(), place }, 10))
    await runCheck(own, { checker: { check: async () => null }, findFolder: async () => '/' }, held, new AbortController().signal)
  await harness.admin`update check_runs set due_at = due_at - interval '2 hours' where ended_at is null`
  await endAbandonedChecks(own)
  await listTaskChecks(own, made.id, { limit: 20 })
  await listTaskChecks(own, made.id, { limit: 20, cursor: ctx.newId() })
}

/** Every use-case of guides, in a project with a small part of all of them. */
async function everythingOfTsgs(): Promise<void> {
  const project = await harness.projectCtx('guides')
  const own = { ...ctx, actor: project.actor }
  await createTsg(own, { tsgId: 'known', title: 'Known', content: 'x', patterns: ['known'] })
  await updateTsg(own, 'known', { severity: 'high' })
  await putTsg(own, 'known', { title: 'Known', content: 'x', patterns: ['known'] })
  await getTsg(own, 'known', { sessionId: 'chat' })
  for (const filter of [{}, { q: 'known' }, { technology: 'node' }, { severity: 'high' as const }]) {
    await listTsgs(own, { ...filter, limit: 20 })
    await listTsgs(own, { ...filter, limit: 20, cursor: '1790000000000-known' })
  }
  await scanTsgs(own, { errorMessage: 'known', sessionId: 'chat' })
  await recordTsgFeedback(own, 'known', { resolved: true })
  await getTsgUsage(own, 'known')
  await transaction(own.db, own.actor.projectId, (tx) => tsgNotices.takeTsgNotices(tx, own.actor.projectId, 'chat'))
  await deleteTsg(own, 'known', { force: true })
}

/** Every use-case of tasks. */
async function everythingOfTasks(): Promise<void> {
  const first = await makeTask(ctx, { parent_session_id: 'chat', acceptance_criteria: ['All is well'] })
  const second = await makeTask(ctx, { depends_on: [first.id], review: 'manual' })
  const third = await makeTask(ctx)
  await createTsg(ctx, { tsgId: 'to-link', title: 'To link', content: 'x', patterns: ['to link'] })
  await linkTsgToTask(ctx, first.id, 'to-link')
  await unlinkTsgFromTask(ctx, first.id, 'to-link')
  await reviseTask(ctx, third.id, { title: 'Other', depends_on: [first.id] }, 'any')
  await assignTask(ctx, first.id, 'holder')
  const { credential } = await assignTask(ctx, first.id, 'another holder')
  await authenticate(ctx, credential)
  await authenticate(ctx, (await assignTask(ctx, first.id, 'another holder')).credential)
  const note = await noteTask(ctx, first.id, 'note')
  await confirmUpdate(ctx, note.updateId)
  await checkIn(ctx, first.id, { content: '<npl-block type="check-in" revision="1">\n- ✅ All is well\n</npl-block>' })
  await completeTask(ctx, first.id, { outputs: {} })
  await completeTask(ctx, second.id, { outputs: {} })
  await reviewTask(ctx, second.id, { decision: 'request_revision' })
  await cancelTask(ctx, second.id, 'x')
  await listTaskRevisions(ctx, first.id, { limit: 20, cursor: '5' })
  await listTaskUpdates(ctx, first.id, { limit: 20 })
  await getTaskStats(ctx)
  const cursor = ctx.newId()
  const filters = [
    {},
    { status: 'completed' as const },
    { priority: 'high' as const },
    { parentSession: 'session-1' },
    { subagentSession: 'session-1' },
    { text: 'title 7' },
  ]
  for (const filter of filters) {
    await listTasks(ctx, { ...filter, limit: 20 })
    await listTasks(ctx, { ...filter, limit: 20, cursor })
  }
  await transaction(ctx.db, ctx.actor.projectId, async (tx) => {
    await tasks.lockTasks(tx, [first.id, second.id])
    await returnTaskToPending(ctx, tx, ctx.actor.projectId, third.id, 'x', ctx.actor)
  })
}

/** The requests of Claude Code's hooks at each use of a tool. */
async function everythingOfHooks(): Promise<void> {
  const hook = (event: string, fields: Partial<Parameters<typeof takeHookEvent>[1]>, as = ctx) => {
    const call = { event, sessionId: 'claude', agentId: null, agentType: null, toolName: null, toolInput: null, error: null, lastAssistantMessage: null }
    return takeHookEvent(as, { ...call, ...fields }, () => true)
  }
  const { id } = await makeTask(ctx)
  await hook('PreToolUse', { toolName: 'Agent', toolInput: { subagent_type: 'writer', prompt: `muster-task: ${id}` } })
  await hook('SubagentStart', { agentId: 'a1', agentType: 'writer' })
  await hook('PostToolUseFailure', { agentId: 'a1', agentType: 'writer', toolName: 'Bash', toolInput: {}, error: 'x' })
  await hook('PostToolUse', { agentId: 'a1', agentType: 'writer', toolName: 'Bash', toolInput: {} })
  await hook('SubagentStop', { agentId: 'a1', agentType: 'writer', lastAssistantMessage: 'Done.' })
  await hook('Stop', {})
  await spawn(ctx, { agentId: 'hooked', subagent: 'Explore' })
  const run = await claimOne(ctx)
  await hook('PreToolUse', { toolName: 'Write' }, { ...ctx, actor: await authenticate(ctx, run.credential) })
}

/** Every use-case once or twice, so that every statement is recorded. */
async function everything(): Promise<void> {
  const projectId = ctx.actor.projectId
  const idempotency = { key: 'a key', requestHash: Buffer.alloc(32), toAnswer: () => ({ status: 200, headers: {}, body: {} }) }
  const [first, second, third] = await spawnMany(ctx, 6, { agentId: 'busy', parentSessionId: 'chat', priority: 'low', runner: 'external' })
  await spawn({ ...ctx, idempotency }, { agentId: 'busy', priority: 'urgent', runner: 'external' })
  await steerSubtask(ctx, first?.id ?? '', { content: 'note', delivery: 'next_step', steerable: () => true })
  await cancelSubtask(ctx, third?.id ?? '')
  const claim = await claimSubtask(ctx, { runner: 'external', workerId: 'outside', leaseSeconds: 60 })
  const token = {
    leaseToken: claim?.lease.token ?? '',
    ackUpdateIds: [ctx.newId()],
    steps: [{ kind: 'message' as const, content: 'x' }],
    usage: { inputTokens: 1 },
  }
  await heartbeat(ctx, claim?.subtask.id ?? '', token)
  await authenticate(ctx, claim?.credential ?? '')
  const run = await claimOne(ctx, { runners: ['external'] })
  await buildPrompt(ctx, { ...run, updateSeq: 1 })
  await steerSubtask(ctx, run.id, { content: 'note', delivery: 'next_step', steerable: () => true })
  await checkpointRun(ctx, projectId, {
    ...run,
    subtaskId: run.id,
    workerId: 'w',
    steps: [{ kind: 'tool_result', content: { name: 'Bash', output: 'x', is_error: true } }],
    usage: {},
    acknowledgedIds: [],
    takesUpdates: true,
    afterStepSeq: null,
    renewsLease: true,
    repeatUnacknowledged: true,
  })
  await renewLeases(ctx, [{ subtaskId: run.id, attempt: run.attempt }])
  await lookAtRuns(ctx, [{ subtaskId: run.id, attempt: run.attempt }])
  await judgeSilence(ctx, { projectId, subtaskId: run.id, attempt: run.attempt, quietSeconds: 600, noticeId: ctx.newId() })
  const question = { kind: 'question', prompt: 'x', options: null, schema: null, arguments: null, default: null } as const
  const { id: questionId } = await askAboutSubtask(ctx, run.id, { ...question, expiresInSeconds: 60, onExpiry: 'continue' })
  await answerQuestion(ctx, questionId, { answer: 'x' })
  await expireQuestions(ctx)
  await settleOne(ctx, run, completed('ä'.repeat(40_000)))
  await settleRuns(ctx, projectId, [{ subtaskId: run.id, attempt: run.attempt, end: completed() }])
  for (const each of await claimAll(ctx, { runners: ['external'] })) await settleOne(ctx, each, { kind: 'lost', ranMs: 0, lostMs: 0 })
  await getSubtask(ctx, run.id)
  await getChangedSubtask(ctx, run.id, 'the version that was read')
  await getSubtask(ctx, second?.id ?? '')
  const cursor = ctx.newId()
  for (const filter of [
    {},
    { status: 'completed' as const },
    { agentId: 'agent-1' },
    { session: 'session-1' },
    { taskId: cursor },
    { scheduleId: cursor },
    { subagent: 'role' },
  ]) {
    await listSubtasks(ctx, { ...filter, limit: 20 })
    await listSubtasks(ctx, { ...filter, limit: 20, cursor })
  }
  await listAgents(ctx, { limit: 20 })
  await listAgents({ ...ctx, actor: { ...ctx.actor, agentId: 'default' } }, { limit: 20 })
  await listSteps(ctx, run.id, { limit: 20 })
  await listUpdates(ctx, run.id, { limit: 20 })
  for (const filter of [{}, { status: 'open' as const }, { session: 'session-1' }, { taskId: cursor }]) {
    await listQuestions(ctx, { ...filter, limit: 20 })
    await listQuestions(ctx, { ...filter, limit: 20, cursor })
  }
  await readEvents(ctx, { afterSeq: ROWS - 10, limit: 20 })
  await readEvents(ctx, { afterSeq: 0, limit: 20, subjectId: run.id })
  const inbox = await claimInbox(ctx, 'chat', { limit: 10, ack: 'manual' })
  await acknowledgeInbox(ctx, 'chat', inbox.claimId ?? '')
  const { apiKey, secret } = await createApiKey(ctx, { name: 'x', scopes: ['admin'] })
  await authenticate(ctx, secret)
  await listApiKeys(ctx, { limit: 20 })
  await revokeApiKey(ctx, apiKey.id)
  await updateProject(ctx, projectId, { settings: {} })
  await reapRuns(ctx)
  await passIdlePermits(ctx)
  await deleteExpired(ctx)
  await drainOutbox(ctx)
}

beforeAll(async () => {
  harness = await startHarness({ settings: { SUBTASK_MAX_PENDING: '20', CHECKS: '{"tests": {"argv": ["true"]}}' } })
  await fill()
  ctx = { ...harness.ctx, db: noting('muster_app'), dispatchDb: noting('muster_dispatch') }
  await everything()
  await everythingOfTasks()
  await everythingOfTsgs()
  await everythingOfEvaluations()
  await everythingOfChecks()
  await everythingOfSessions()
  await everythingOfSchedules()
  await everythingOfHooks()
  // Every statement, with enough rows that its plan is meaningful.
}, 180_000)

afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.close()))
  await harness.close()
})

/** Tables that a plan reads from end to end. */
function scanned(node: PlanNode): string[] {
  const own = node['Node Type'] === 'Seq Scan' && node['Relation Name'] !== undefined ? [node['Relation Name']] : []
  return [...own, ...(node.Plans ?? []).flatMap(scanned)]
}

/** Indexes of a plan that are not read by their first columns, with the condition. Of its index, such a read goes through all that the project has. */
function skipped(node: PlanNode, columnsOf: ReadonlyMap<string, readonly string[]>): string[] {
  const condition = node['Index Cond'] ?? ''
  const isGiven = (columnsOf.get(node['Index Name'] ?? '') ?? []).map((column) => new RegExp(`[(.]${column} (=|<|>|IS)`).test(condition))
  const own = isGiven.indexOf(false) < isGiven.lastIndexOf(true) && isGiven.includes(false) ? [`${node['Index Name']} by ${condition}`] : []
  return [...own, ...(node.Plans ?? []).flatMap((each) => skipped(each, columnsOf))]
}

async function planOf({ text, parameters, role }: Statement, isGeneric = false): Promise<PlanNode> {
  const { sql } = role === 'muster_app' ? harness.deps.db : harness.deps.dispatchDb
  let plan: PlanNode | undefined
  await sql
    .begin(async (tx) => {
      await tx`select set_config('muster.project_id', ${DEFAULT_PROJECT_ID}, true)`
      const [row] = isGeneric
        ? await tx.unsafe<{ 'QUERY PLAN': { Plan: PlanNode }[] }[]>(`explain (generic_plan, format json) ${text}`)
        : await tx.unsafe<{ 'QUERY PLAN': { Plan: PlanNode }[] }[]>(`explain (format json) ${text}`, parameters as never[])
      plan = row?.['QUERY PLAN'][0]?.Plan
      throw new Error('explained')
    })
    .catch((error: Error) => {
      if (error.message !== 'explained') throw new Error(`${error.message}: ${text}`)
    })
  return plan as PlanNode
}

/** Tables that are always small or empty, so that reading them whole is right. */
const SMALL = new Set(['byte_changes', 'clock', 'workers', 'projects', 'outbox', 'queue', 'pg_database', 'pg_roles'])

// Calls of functions; the driver's query of types; and deletions of a large part of a table, which may read it whole.
const NOT_JUDGED = /^\s*select (pg_notify|set_config)|advisory|pg_catalog|delete from idempotency_keys/

describe('every statement', () => {
  it('finds its rows by an index, however much has been stored', async () => {
    const asked = [...statements.values()].filter(({ text }) => /^\s*(select|insert|update|delete|with)\b/i.test(text) && !NOT_JUDGED.test(text))
    expect(asked.length).toBeGreaterThan(50)
    // Partitions that were created in advance, for example.
    const unused = await harness.admin<{ name: string }[]>`select relname as name from pg_class where relkind = 'r' and reltuples = 0`
    const empty = new Set(unused.map(({ name }) => name))
    const slow: string[] = []
    for (const statement of asked) {
      const tables = scanned(await planOf(statement)).filter((table) => !SMALL.has(table) && !empty.has(table))
      if (tables.length > 0) slow.push(`${tables.join(', ')} for ${statement.text.replaceAll(/\s+/g, ' ').slice(0, 1200)}`)
    }
    expect(slow).toEqual([])
  })
})

describe('every statement of a project among hundreds', () => {
  it('reads indexes by their first columns, and not all that its project has in one', async () => {
    const indexes = await harness.admin<{ name: string; columns: string[] }[]>`
      select c.relname as name, array(select pg_get_indexdef(i.indexrelid, k, true) from generate_series(1, i.indnkeyatts) as k) as columns
      from pg_index i join pg_class c on c.oid = i.indexrelid join pg_am am on am.oid = c.relam
      -- One that is nearly empty may be read as it is, and so may the guides of a project, which are few.
      where am.amname = 'btree' and c.reltuples > ${ROWS / 10} and i.indrelid <> 'tsgs'::regclass and c.relnamespace in ('public'::regnamespace, 'pgboss'::regnamespace)`
    const columnsOf = new Map(indexes.map(({ name, columns }) => [name, columns]))
    const asked = [...statements.values()].filter(({ text }) => /^\s*(select|insert|update|delete|with)\b/i.test(text) && !NOT_JUDGED.test(text))
    const slow: string[] = []
    for (const statement of asked) {
      // Lists that find the ids of a page first are planned for their values; all others are planned once.
      const found = skipped(await planOf(statement, !statement.text.includes('= any(array(')), columnsOf)
      if (found.length > 0) slow.push(`${found.join(', ')} for ${statement.text.replaceAll(/\s+/g, ' ').slice(0, 1200)}`)
    }
    expect(slow).toEqual([])
  })
})

describe('a claim', () => {
  // The queue has grown since the last statistics, and the plan is generic, as for every claim.
  async function planOfClaim(role: DatabaseRole): Promise<string> {
    const claim = [...statements.values()].find((each) => each.role === role && each.text.includes('taken as materialized')) as Statement
    let plan = ''
    await harness.admin
      .begin(async (sql) => {
        await sql`update pg_class set reltuples = 20 where oid = 'pgboss.job_common'::regclass`
        await claims.readFromFront({ sql: sql as unknown as Tx['sql'] })
        plan = JSON.stringify(await sql.unsafe(`explain (generic_plan, format json) ${claim.text}`))
        throw new Error('explained')
      })
      .catch((error: Error) => expect(error.message).toBe('explained'))
    return plan
  }

  /** How a plan reads a table: the index of each scan, or its kind. */
  function scansOf(node: PlanNode, table: string): string[] {
    const own = node['Relation Name'] === table && node['Node Type'] !== 'ModifyTable' ? [node['Index Name'] ?? node['Node Type']] : []
    return [...own, ...(node.Plans ?? []).flatMap((each) => scansOf(each, table))]
  }

  it.each(['muster_dispatch', 'muster_app'] as const)('reads its queue from the front, as %s', async (role) => {
    const pool = role === 'muster_app' ? harness.deps.db : harness.deps.dispatchDb
    const bitmaps = await pool.sql.begin(async (sql) => {
      if (role === 'muster_app') await claims.readFromFront({ sql: sql as unknown as Tx['sql'] })
      return (await sql<{ enable_bitmapscan: string }[]>`show enable_bitmapscan`)[0]?.enable_bitmapscan as string
    })
    expect(bitmaps).toBe('off')
    const plan = await planOfClaim(role)
    const byProject = 'job_common_name_expr_priority_created_on_id_idx'
    // The projects and the best jobs of each come from our index; what is taken is locked by its id.
    const read = scansOf((JSON.parse(plan) as [{ 'QUERY PLAN': [{ Plan: PlanNode }] }])[0]['QUERY PLAN'][0].Plan, 'job_common')
    expect(read).toEqual([byProject, byProject, byProject, 'job_common_pkey', 'job_common_pkey', 'job_common_pkey'])
  })
})

describe('a look for due schedules', () => {
  it('reads what is due from its index, and no more than what is due', async () => {
    await storeSchedules(harness.admin, [{ runner: 'external' }, { runner: 'external' }])
    const look = [...statements.values()].find(({ text, role }) => role === 'muster_dispatch' && text.includes('as next_in_ms'))
    const plan = await explainAnalyzed(look as Statement)
    expect(JSON.stringify(plan)).toContain('"Index Name":"schedules_due"')
    expect(rowsRead(plan, 'schedules')).toBeLessThanOrEqual(3)
    await fireSchedules(harness.deps, { except: [], signal: new AbortController().signal })
  })

  async function explainAnalyzed({ text, parameters }: Statement): Promise<PlanNode> {
    const [row] = await harness.deps.dispatchDb.sql.unsafe<{ 'QUERY PLAN': { Plan: PlanNode }[] }[]>(
      `explain (analyze, format json) ${text}`,
      parameters as never[],
    )
    return row?.['QUERY PLAN'][0]?.Plan as PlanNode
  }

  /** Rows of a table that a plan reads, with those that it discards. */
  function rowsRead(node: PlanNode, table: string): number {
    const own = node['Relation Name'] === table ? (node['Actual Rows'] ?? 0) + (node['Rows Removed by Filter'] ?? 0) : 0
    return own + (node.Plans ?? []).reduce((sum, each) => sum + rowsRead(each, table), 0)
  }
})

describe('a search for guides', () => {
  it('finds words by their index', async () => {
    const literals: Record<string, string> = {
      wanted: `'known'`,
      of_technology: 'null::text',
      of_severity: 'null::text',
      before_at: 'null::timestamptz',
      before_id: `''`,
      most: '20',
    }
    const [search] = await harness.admin<{ body: string }[]>`select prosrc as body from pg_proc where proname = 'muster_search_tsgs'`
    const text = search?.body.replaceAll(/\b\w+\b/g, (word) => literals[word] ?? word) as string
    const plan = await harness.admin.begin(async (sql) => {
      await sql`select set_config('muster.project_id', ${DEFAULT_PROJECT_ID}, true)`
      return await sql.unsafe(`explain (format json) ${text}`)
    })
    expect(JSON.stringify(plan)).toContain('"Index Name":"tsgs_search"')
  })
})

/**
 * Statements that do not name the project, each with its reason: what would have to change before the tables are distributed by `project_id`. Everything else
 * names it, or is confined to one project by row-level security. docs/sharding.md goes by this list.
 */
const ACROSS_PROJECTS: readonly [statement: RegExp, reason: string][] = [
  [/\bpgboss\./, 'the queue of pg-boss is one for all projects: a table of one node'],
  [/"?projects"? /, 'projects are found by their id, which is the key itself'],
  [
    /muster_find_(api_key|subtask_credential|assignment_credential)/,
    'a credential is looked up by its hash before its project is known: a reference table, or a hash that begins with the project',
  ],
  [/muster_(relay|log_ends)\b/, 'the outbox and the order of the event log are one for all projects'],
  [
    /muster_(forget_ended_runs|delete_audit|add_up_bytes)\b|delete from (idempotency_keys|muster_system\.)/,
    'maintenance deletes what is old, of all projects in turn',
  ],
  [/^\s*with own as materialized/, 'the heartbeat of a worker renews the leases of all its runs, of several projects'],
  [/^\s*select id, attempt, status = 'running' as is_running/, 'a worker looks at all its runs at once, of several projects'],
  [/update check_runs/, 'a worker holds and returns checks of several projects'],
  [/muster_search_(tasks|tsgs)\b/, 'a function reads the project from its session, as row-level security does'],
  [/muster_system\.data_folders\b/, 'a restore is of the whole database, and holds the runs of all projects'],
  [/^\s*select muster_now\(\)/, 'it reads no table'],
]

describe('under a distribution by project_id', () => {
  it('every statement names the project, is confined to one by row-level security, or is listed with its reason', async () => {
    const asked = [...statements.values()].filter(
      ({ text }) => /^\s*(select|insert|update|delete|with)\b/i.test(text) && !/^\s*select (pg_notify|set_config)|advisory|pg_catalog/.test(text),
    )
    const used = new Set<RegExp>()
    const unexplained: string[] = []
    for (const statement of asked) {
      const { text, role } = statement
      if (text.includes('project_id')) continue
      const found = ACROSS_PROJECTS.find(([pattern]) => pattern.test(text))
      if (found !== undefined) used.add(found[0])
      // The policy of each table adds the condition, and the plan shows it.
      else if (role !== 'muster_app' || !JSON.stringify(await planOf(statement)).includes('project_id'))
        unexplained.push(`${role}: ${text.replaceAll(/\s+/g, ' ').slice(0, 300)}`)
    }
    expect(unexplained).toEqual([])
    expect(ACROSS_PROJECTS.flatMap(([pattern]) => (used.has(pattern) ? [] : String(pattern)))).toEqual([])
  })

  it('the keys that would have to begin with the project are those that docs/sharding.md names', async () => {
    const rows = await harness.admin<{ name: string }[]>`
      select distinct c.relname as name from pg_index i
      join pg_class c on c.oid = i.indrelid
      join pg_attribute key on key.attrelid = c.oid and key.attname = 'project_id'
      where i.indisunique and c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace and not key.attnum = any(i.indkey)
      order by 1`
    const text = await readFile(new URL('../../../docs/sharding.md', import.meta.url), 'utf8')
    const named = /\*\*Keys without the project\*\*: (.+?)\.\n/
      .exec(text)?.[1]
      ?.match(/`\w+`/g)
      ?.map((name) => name.slice(1, -1))
    expect(named).toEqual(rows.map(({ name }) => name))
  })

  it('the tables to distribute are those that docs/sharding.md names', async () => {
    const rows = await harness.admin<{ name: string }[]>`
      select c.relname as name from pg_class c join pg_attribute key on key.attrelid = c.oid and key.attname = 'project_id'
      where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace = 'public'::regnamespace order by 1`
    const text = await readFile(new URL('../../../docs/sharding.md', import.meta.url), 'utf8')
    const named = /\*\*By `project_id`\*\*: (.+?)\.\n/
      .exec(text)?.[1]
      ?.match(/`\w+`/g)
      ?.map((name) => name.slice(1, -1))
    expect(named).toEqual(rows.map(({ name }) => name))
  })
})
