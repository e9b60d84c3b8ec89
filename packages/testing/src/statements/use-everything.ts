import { evaluations, tasks, training, transaction, tsgNotices } from '@muster/db'
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
import type { Harness } from '../harness.ts'
import { claimAll, claimOne, completed, drainOutbox, makeTask, settleOne, spawn, spawnMany } from '../journey.ts'
import { storeSchedules } from '../schedules.ts'
import { scriptedJudge } from '../scripted-judge.ts'

/** What `useEverything` needs of the server: few places in a queue, and a check. */
export const EVERYTHING_SETTINGS = { SUBTASK_MAX_PENDING: '20', CHECKS: '{"tests": {"argv": ["true"]}}' }

/** Every use-case once or twice, by the pools of a context, so that they have sent every statement. */
export async function useEverything(ctx: Ctx, harness: Harness): Promise<void> {
  await everythingOfSubtasks(ctx, harness)
  await everythingOfTasks(ctx)
  await everythingOfTsgs(ctx, harness)
  await everythingOfEvaluations(ctx, harness)
  await everythingOfChecks(ctx, harness)
  await everythingOfSessions(ctx, harness)
  await everythingOfSchedules(ctx, harness)
  await everythingOfHooks(ctx)
}

/** Every use-case of subtasks, of what they leave behind, of keys, and what maintenance does. */
async function everythingOfSubtasks(ctx: Ctx, harness: Harness): Promise<void> {
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
  const [log] = await harness.admin<{ last: number }[]>`select max(seq) as last from events`
  await readEvents(ctx, { afterSeq: (log?.last ?? 0) - 10, limit: 20 })
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

/** Every use-case of tasks. */
async function everythingOfTasks(ctx: Ctx): Promise<void> {
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

/** Every use-case of guides, in a project with a small part of all of them. */
async function everythingOfTsgs(ctx: Ctx, harness: Harness): Promise<void> {
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

/** Every use-case of evaluations, in a project with a small part of all of them. */
async function everythingOfEvaluations(ctx: Ctx, harness: Harness): Promise<void> {
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

/** Checks that pass, fail, are given back, wait for no worker, and are followed by a judge. */
async function everythingOfChecks(ctx: Ctx, harness: Harness): Promise<void> {
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

/** Every kind of delivery to a session, and its messages. */
async function everythingOfSessions(ctx: Ctx, harness: Harness): Promise<void> {
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

/** Every use-case of schedules: due, waiting for room, skipped, changed. */
async function everythingOfSchedules(ctx: Ctx, harness: Harness): Promise<void> {
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

/** The requests of Claude Code's hooks at each use of a tool. */
async function everythingOfHooks(ctx: Ctx): Promise<void> {
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
  const named = await spawn(ctx)
  await settleOne(ctx, await claimOne(ctx, { subtaskIds: [named.id] }))
  const run = await claimOne(ctx, { looksFirst: true })
  await hook('PreToolUse', { toolName: 'Write' }, { ...ctx, actor: await authenticate(ctx, run.credential) })
}
