import { inbox, injections, pipeline, readOnce, type Tx, tasks, tsgNotices, tsgs, writeOnce } from '@muster/db'
import {
  DomainError,
  fenceOf,
  type HandInWays,
  MORE_ITEMS,
  MORE_RESULTS,
  renderInboxItem,
  renderTsgNotice,
  requireFound,
  requireOwnSession,
  requireScope,
  runOf,
  type TsgHit,
} from '@muster/domain'
import { type Ctx, inProject, reading } from '../core/ctx.ts'
import { matchTsgsAt, recordSurfaced } from '../guides/surface-tsgs.ts'
import {
  DELIVERY_LIMITS,
  findUndeliveredUpdates,
  fitUndelivered,
  recordDeliveries,
  renderUndeliveredUpdates,
  renderUpdatesOfTasks,
  type UndeliveredTask,
} from '../tasks/undelivered-updates.ts'

/** One thing that a session has not seen before. */
export interface InjectionItem {
  kind: 'assignment' | 'update' | 'tsg_notice' | 'inbox'
  /** Of the task, the update, the guide or the inbox item. */
  id: string
  updateId: string | null
  taskId: string | null
  revision: number | null
  text: string
}

/** What is put in front of a session's next model request. */
export interface Injection {
  /** To acknowledge with; null where nothing has to be. */
  claimId: string | null
  /** All items as one text; empty where there is nothing new. */
  text: string
  items: InjectionItem[]
  /** When the items come again unless they are acknowledged. */
  leaseExpiresAt: Date | null
}

export interface InjectionRequest {
  ack: 'auto' | 'manual'
  /** Seconds after which the items of a manual injection come again. Default 60. */
  leaseSeconds?: number
  /** The newest messages of the session, which are matched against guides. */
  messages: readonly string[]
  /** How the session can hand its tasks in. Default `call`. */
  handIn?: HandInWays
  /**
   * The maximum length of the text of a manual injection, in UTF-16 units: what does not fit stays undelivered. Default: no maximum.
   */
  lengthMax?: number
  /** Leaves out assignments and task updates, because they reach the session another way. */
  leavesTasks?: boolean
  /** Delivers nothing unless a task, an update or a result waits: a guide alone is not worth another turn of the agent. */
  isWhenStopping?: boolean
  /** Called where the uses of tools by the session are watched. */
  onWatched?: () => Promise<void>
  /** Asked last, before the commit. False means that the caller is gone: the transaction is rolled back. */
  isAwaited?: () => boolean
}

const MANUAL_LEASE_SECONDS = 60
const INBOX_ITEMS_MAX = 50
/** Text of other agents that one injection puts into a model's context. */
const INBOX_BYTES_MAX = 32_768
const NO_RESULTS: Results = { items: [], hasMore: false }
const NOTHING: Injection = { claimId: null, text: '', items: [], leaseExpiresAt: null }

/**
 * Delivers to a session everything undelivered: the tasks assigned to it, their updates, guide notices and results of its subtasks. Each item
 * comes once; with `manual`, again after a minute unless acknowledged, and no other until then. [B5] Hook Integration
 */
export async function injectSession(ctx: Ctx, sessionId: string, request: InjectionRequest): Promise<Injection> {
  requireScope(ctx.actor, 'sessions:write')
  requireOwnSession(ctx.actor, sessionId)
  // With a key, the answer is stored in the transaction that finds it, also where it is that there is nothing.
  if (ctx.idempotency !== undefined) {
    return await inProject(ctx, async (tx) => await inject(ctx, tx, sessionId, request, await look(ctx, sessionId, request, tx)))
  }
  // Most requests end here, without a transaction and without a lock: what is written after this look is for the next one.
  const seen = await look(ctx, sessionId, request)
  if (seen.toolUses) await request.onWatched?.()
  if (seen.isNothing) return NOTHING
  return (await deliverAlone(ctx, sessionId, request, seen)) ?? (await inProject(ctx, (tx) => inject(ctx, tx, sessionId, request, seen)))
}

/**
 * Delivers updates of tasks in one statement where nothing else waits and nothing else is to be stored with them, which is the usual case. Null where that is
 * not so; nothing has changed then. It must be left out wherever `inProject` stores something with a write, or `inject` looks for more than updates.
 */
async function deliverAlone(ctx: Ctx, sessionId: string, { ack, isAwaited }: InjectionRequest, seen: Seen): Promise<Injection | null> {
  const { actor, origin } = ctx
  if (!seen.taskUpdates || seen.results || hasNotices(seen)) return null
  if (ack !== 'auto' || isAwaited !== undefined || origin !== undefined || runOf(actor) !== null) return null
  const delivered = await writeOnce(ctx.db, actor.projectId, (tx) => injections.deliverUpdates(tx, actor.projectId, sessionId, DELIVERY_LIMITS, actor))
  if (delivered === null) return null
  if (delivered.length > 0) ctx.notifier.notify('outbox')
  const fence = fenceOf(ctx.newId())
  return compose(renderUpdatesOfTasks(delivered, fence), [], NO_RESULTS, fence)
}

/** What a look has seen, to be taken under the lock of the session: only for what was there is anything asked again. */
interface Seen extends injections.Waiting {
  hits: TsgHit[]
  isNothing: boolean
}

async function look(ctx: Ctx, sessionId: string, { messages, leavesTasks = false, isWhenStopping = false }: InjectionRequest, tx?: Tx): Promise<Seen> {
  const { projectId } = ctx.actor
  const find = (within: Pick<Tx, 'sql'>) => injections.findWaiting(within, projectId, sessionId)
  const found = await (tx === undefined ? readOnce(ctx.db, projectId, find) : find(tx))
  const waiting = { ...found, taskUpdates: found.taskUpdates && !leavesTasks }
  const list = (within: Tx) => tsgs.listTsgsToMatch(within, projectId)
  const hits = await matchTsgsAt(ctx, projectId, waiting.tsgRevision, messages, () => (tx === undefined ? reading(ctx, list) : list(tx)))
  const hasGuides = hits.length > 0 || waiting.tsgNotices
  return { ...waiting, hits, isNothing: !waiting.taskUpdates && !waiting.results && (isWhenStopping || !hasGuides) }
}

async function inject(ctx: Ctx, tx: Tx, sessionId: string, request: InjectionRequest, seen: Seen): Promise<Injection> {
  if (seen.isNothing) return NOTHING
  const { projectId } = ctx.actor
  // The claim and the updates are read under the locks.
  const [, open, found] = await pipeline([
    injections.lockSession(tx, projectId, sessionId),
    injections.findOpenClaim(tx, projectId, sessionId),
    seen.taskUpdates ? findUndeliveredUpdates(tx, projectId, sessionId) : [],
  ])
  // The holder of an open claim may have shown it to the model already, so later items wait.
  const isClaimed = open !== null && !open.isLapsed
  if (open !== null && !isClaimed) await injections.replaceClaim(tx, open.id)
  // After the locks of tasks, as wherever notices are left: the other way round, each could wait for the other.
  await recordSurfaced(ctx, tx, { projectId, actor: ctx.actor, sessionId }, seen.hits)
  if (isClaimed) return NOTHING
  const fence = fenceOf(ctx.newId())
  const { ack, leaseSeconds = MANUAL_LEASE_SECONDS, lengthMax = Number.POSITIVE_INFINITY, handIn = 'call', isAwaited } = request
  const undelivered = await renderUndeliveredUpdates(tx, projectId, found, fence, handIn)
  const injection =
    ack === 'manual'
      ? await claimInjection(ctx, tx, sessionId, undelivered, seen, fence, { leaseSeconds, lengthMax })
      : await deliver(ctx, tx, sessionId, undelivered, seen, fence)
  if (isAwaited?.() === false) throw new DomainError('unavailable', 'The injection took longer than its caller waits. Its items come with the next one.')
  return injection
}

async function deliver(ctx: Ctx, tx: Tx, sessionId: string, undelivered: readonly UndeliveredTask[], seen: Seen, fence: string): Promise<Injection> {
  const { projectId } = ctx.actor
  // Nothing of the answer depends on it: what was found under the locks of the tasks is still so.
  tx.withCommit(recordDeliveries(ctx, tx, projectId, sessionId, undelivered, ctx.actor))
  const [notices, results] = await Promise.all([
    hasNotices(seen) ? tsgNotices.takeTsgNotices(tx, projectId, sessionId) : [],
    seen.results ? claimResults(tx, projectId, sessionId, ctx.newId(), null) : NO_RESULTS,
  ])
  return compose(undelivered, notices, results, fence)
}

async function claimInjection(
  ctx: Ctx,
  tx: Tx,
  sessionId: string,
  undelivered: readonly UndeliveredTask[],
  seen: Seen,
  fence: string,
  { leaseSeconds, lengthMax }: { leaseSeconds: number; lengthMax: number },
): Promise<Injection> {
  const { projectId } = ctx.actor
  const id = ctx.newId()
  const { fitting, length, isAll } = fitUndelivered(undelivered, lengthMax - MORE_LENGTH_MAX)
  const room = isAll ? lengthMax - MORE_LENGTH_MAX - length : 0
  const waiting = hasNotices(seen) ? await tsgNotices.listTsgNotices(tx, projectId, sessionId) : []
  const notices = fitNotices(waiting, room)
  const resultsRoom = notices.length === waiting.length ? room - lengthOf(notices) : 0
  const hasRoomForResults = resultsRoom >= RESULT_EDGES_LENGTH_MAX * 2
  const results = seen.results && hasRoomForResults ? await claimResults(tx, projectId, sessionId, id, leaseSeconds, resultsRoom) : NO_RESULTS
  const isCut = !isAll || notices.length < waiting.length || (seen.results && !hasRoomForResults)
  const injection = compose(fitting, notices, results, fence, { resultBytesMax: resultLimits(resultsRoom).bytesMax, isCut })
  if (injection.items.length === 0) return injection
  const held = {
    tasks: fitting.map(({ taskId, assignmentGeneration, seq, revision }) => ({ taskId, assignmentGeneration, seq, revision })),
    tsgIds: notices.map((notice) => notice.tsgId),
    inboxClaimId: results.items.length > 0 ? id : null,
  }
  const leaseExpiresAt = await injections.insertClaim(tx, projectId, { id, sessionId, held, leaseSeconds })
  return { ...injection, claimId: id, leaseExpiresAt }
}

/** Guides that matched the messages have left notices since the look. */
const hasNotices = (seen: Seen) => seen.tsgNotices || seen.hits.length > 0

/** The line that says that more waits, with its empty line. */
const MORE_LENGTH_MAX = 80
/** More than the lines around one result take. */
const RESULT_EDGES_LENGTH_MAX = 700

/** How many results fit into a text, and how many bytes of them: half of it is for the lines around them. A character takes a byte or more. */
function resultLimits(lengthMax: number): { limit: number; bytesMax: number } {
  return {
    limit: Math.min(INBOX_ITEMS_MAX, Math.floor(lengthMax / 2 / RESULT_EDGES_LENGTH_MAX)),
    bytesMax: Math.min(INBOX_BYTES_MAX, Math.floor(lengthMax / 2)),
  }
}

function claimResults(
  tx: Tx,
  projectId: string,
  sessionId: string,
  claimId: string,
  leaseSeconds: number | null,
  lengthMax = Number.POSITIVE_INFINITY,
): Promise<Results> {
  return inbox.claimInboxItems(tx, projectId, { sessionId, claimId, ...resultLimits(lengthMax), leaseSeconds })
}

function lengthOf(notices: readonly tsgNotices.TsgNotice[]): number {
  return notices.reduce((length, notice) => length + renderNotice(notice).length + 2, 0)
}

function fitNotices(notices: readonly tsgNotices.TsgNotice[], lengthMax: number): tsgNotices.TsgNotice[] {
  let room = lengthMax
  return notices.filter((notice) => {
    room -= lengthOf([notice])
    return room >= 0
  })
}

function renderNotice({ tsgId, title, matchedPattern }: tsgNotices.TsgNotice): string {
  return renderTsgNotice({ tsgId, title, pattern: matchedPattern })
}

type Results = Awaited<ReturnType<typeof inbox.claimInboxItems>>

function compose(
  undelivered: readonly UndeliveredTask[],
  notices: readonly tsgNotices.TsgNotice[],
  results: Results,
  fence: string,
  { resultBytesMax = INBOX_BYTES_MAX, isCut = false } = {},
): Injection {
  const items: InjectionItem[] = [
    ...undelivered.flatMap((each) =>
      each.items.map((item) => ({
        kind: item.kind,
        id: item.update?.updateId ?? item.taskId,
        updateId: item.update?.updateId ?? null,
        taskId: item.taskId,
        revision: item.revision,
        text: item.text,
      })),
    ),
    ...notices.map((notice) => ({
      kind: 'tsg_notice' as const,
      id: notice.tsgId,
      updateId: null,
      taskId: null,
      revision: null,
      text: renderNotice(notice),
    })),
    ...results.items.map((result) => ({
      kind: 'inbox' as const,
      id: result.inboxId,
      updateId: null,
      taskId: result.taskId,
      revision: null,
      text: renderInboxItem(result, fence, resultBytesMax),
    })),
  ]
  const more = results.hasMore ? [MORE_RESULTS] : isCut && items.length > 0 ? [MORE_ITEMS] : []
  return { ...NOTHING, text: [...items.map((item) => item.text), ...more].join('\n\n'), items }
}

/**
 * Acknowledges a manual injection: its items do not come again. Repeating it changes nothing, and a late one counts unless the items were
 * delivered again.
 *
 * @throws DomainError `not_found` for a claim that this session never made, `conflict` when its items were delivered again since
 */
export async function acknowledgeInjection(ctx: Ctx, sessionId: string, claimId: string): Promise<void> {
  requireScope(ctx.actor, 'sessions:write')
  requireOwnSession(ctx.actor, sessionId)
  const { projectId } = ctx.actor
  await inProject(ctx, async (tx) => {
    await injections.lockSession(tx, projectId, sessionId)
    const claim = requireFound(await injections.findClaim(tx, projectId, sessionId, claimId), 'claim')
    if (claim.isAcknowledged) return
    if (claim.isReplaced) {
      throw new DomainError('conflict', 'This claim has lapsed, and its items were delivered again. Acknowledge the injection that brought them.')
    }
    const { held } = claim
    const taskIds = held.tasks.map((each) => each.taskId)
    await tasks.lockTasks(tx, taskIds)
    const heldSince = new Set(await injections.listTasksHeldSince(tx, projectId, sessionId, held.tasks))
    const delivered = held.tasks.filter((each) => heldSince.has(each.taskId))
    await recordDeliveries(ctx, tx, projectId, sessionId, delivered, ctx.actor)
    if (held.tsgIds.length > 0) await tsgNotices.markTsgNoticesDelivered(tx, projectId, sessionId, held.tsgIds)
    if (held.inboxClaimId !== null) await inbox.acknowledgeInboxClaim(tx, projectId, sessionId, held.inboxClaimId)
    await injections.acknowledgeClaim(tx, claimId)
  })
}
