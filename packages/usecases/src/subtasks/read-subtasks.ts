import { bodies, type Database, lanes, readOnce, type Step, steps, subtasks, type Update, updates, versions } from '@muster/db'
import {
  isTerminal,
  notFound,
  ownSubjectId,
  requireController,
  requireFound,
  requireOwnSubtask,
  requireScope,
  type Subtask,
  type SubtaskStatus,
  unstorableReason,
} from '@muster/domain'
import { BatchExecutor } from '../core/batch-executor.ts'
import { type Ctx, reading, readingMany } from '../core/ctx.ts'
import { cursorInvalid, idInCursor, numberInCursor, type Page, page } from '../core/page.ts'

/** @throws DomainError `not_found` */
export async function getSubtask(ctx: Ctx, id: string): Promise<Subtask> {
  return (await getChangedSubtask(ctx, id, null)).subtask
}

/** A subtask with its version, which changes with everything that a reader sees. */
export interface VersionedSubtask {
  subtask: Subtask
  version: string
}

/**
 * @param knownVersion the version that the caller has already, or null
 * @returns null if that is still the version
 * @throws DomainError `not_found`
 */
export async function getChangedSubtask(ctx: Ctx, id: string, knownVersion: null): Promise<VersionedSubtask>
export async function getChangedSubtask(ctx: Ctx, id: string, knownVersion: string | null): Promise<VersionedSubtask | null>
export async function getChangedSubtask(ctx: Ctx, id: string, knownVersion: string | null): Promise<VersionedSubtask | null> {
  requireScope(ctx.actor, 'subtasks:read')
  requireOwnSubtask(ctx.actor, id)
  const read = requireFound(await readsOf(ctx.db).add({ projectId: ctx.actor.projectId, id, knownVersion }), 'subtask')
  if (read === UNCHANGED) return null
  const { subtask, version, resultBodyId } = read
  if (resultBodyId === null) return { subtask, version }
  return { subtask: { ...subtask, result: await reading(ctx, (tx) => bodies.readBody(tx, resultBodyId)) }, version }
}

interface SubtaskRead {
  projectId: string
  id: string
  knownVersion: string | null
}

const UNCHANGED = 'unchanged'

type SubtaskReads = BatchExecutor<SubtaskRead, versions.SubtaskHead | typeof UNCHANGED | null>
const readsByDatabase = new WeakMap<Database, SubtaskReads>()

/** Reads that come at once share a statement for each project. None sees a state from before its call. */
function readsOf(db: Database): SubtaskReads {
  const known = readsByDatabase.get(db)
  if (known !== undefined) return known
  const reads: SubtaskReads = new BatchExecutor((items) => readHeads(db, items), { batchesAtOnce: 4, batchSizeMax: 50 })
  readsByDatabase.set(db, reads)
  return reads
}

async function readHeads(db: Database, items: readonly SubtaskRead[]): Promise<{ answer: versions.SubtaskHead | typeof UNCHANGED | null }[]> {
  const byProject = Map.groupBy(items, ({ projectId }) => projectId)
  const found = await Promise.all([...byProject].map(async ([projectId, reads]) => [projectId, await readHeadsOf(db, projectId, reads)] as const))
  const answers = new Map(found)
  return items.map((item) => ({ answer: answers.get(item.projectId)?.(item) ?? null }))
}

/** Most reads are of subtasks that ended and have not changed: asking for their versions is much cheaper than reading them. */
async function readHeadsOf(db: Database, projectId: string, reads: readonly SubtaskRead[]) {
  const known = reads.filter(({ knownVersion }) => knownVersion !== null).map(({ id }) => id)
  const found = known.length === 0 ? null : await readOnce(db, projectId, (tx) => versions.listSubtaskVersions(tx, projectId, known))
  const isChanged = ({ id, knownVersion }: SubtaskRead) => knownVersion === null || found?.get(id) !== knownVersion
  const changed = reads.filter(isChanged).map(({ id }) => id)
  const heads = changed.length === 0 ? null : await readOnce(db, projectId, (tx) => versions.listSubtaskHeads(tx, projectId, changed))
  return (read: SubtaskRead) => (isChanged(read) ? (heads?.get(read.id) ?? null) : UNCHANGED)
}

export interface SubtaskQuery {
  status?: SubtaskStatus | undefined
  /** The parent session. */
  session?: string | undefined
  agentId?: string | undefined
  taskId?: string | undefined
  scheduleId?: string | undefined
  /** Its name. */
  subagent?: string | undefined
  limit: number
  cursor?: string | undefined
}

/** A subtask in a list. A result above `INLINE_BYTES_MAX` is null there. */
export interface ListedSubtask extends Subtask {
  /** At least the first 2,000 code points of such a result. */
  resultBeginning?: subtasks.ResultBeginning
}

/** The longest value that an answer for orientation shows whole, in code points. */
export const SHOWN_POINTS_MAX = 2_000

/** Newest first. A subtask's own credential sees itself alone. */
export async function listSubtasks(ctx: Ctx, query: SubtaskQuery): Promise<Page<ListedSubtask>> {
  requireScope(ctx.actor, 'subtasks:read')
  const beforeId = idInCursor(query.cursor)
  const items = await readingMany(ctx, async (tx) => {
    const found = await subtasks.listSubtasks(tx, ctx.actor.projectId, {
      status: query.status,
      parentSessionId: query.session,
      agentId: ctx.actor.agentId ?? query.agentId,
      taskId: query.taskId,
      scheduleId: query.scheduleId,
      subagentName: query.subagent,
      onlyId: ownSubjectId(ctx.actor),
      beforeId,
      limit: query.limit + 1,
    })
    const without = found.filter(({ status, result }) => isTerminal(status) && result === null).map(({ id }) => id)
    if (without.length === 0) return found
    const beginnings = await subtasks.listResultBeginnings(tx, without, SHOWN_POINTS_MAX)
    return found.map((subtask): ListedSubtask => {
      const resultBeginning = beginnings.get(subtask.id)
      return resultBeginning === undefined ? subtask : { ...subtask, resultBeginning }
    })
  })
  return page(items, query.limit, (last) => last.id)
}

/**
 * The agents with subtasks that run or are pending, by name, with their limits. A key of one agent sees that agent alone.
 *
 * @throws DomainError `forbidden` for the credential of a sub-agent
 */
export async function listAgents(ctx: Ctx, query: { limit: number; cursor?: string | undefined }): Promise<Page<lanes.Lane>> {
  requireScope(ctx.actor, 'subtasks:read')
  requireController(ctx.actor)
  if (query.cursor !== undefined && unstorableReason(query.cursor) !== null) throw cursorInvalid()
  const wanted = { after: query.cursor ?? '', agentId: ctx.actor.agentId ?? null, limit: query.limit + 1 }
  const items = await reading(ctx, (tx) => lanes.listLanes(tx, ctx.actor.projectId, wanted, lanes.laneDefaults(ctx.settings)))
  return page(items, query.limit, (last) => last.agentId)
}

/** The transcript, oldest first. */
export async function listSteps(ctx: Ctx, subtaskId: string, query: { limit: number; cursor?: string | undefined }): Promise<Page<Step>> {
  return await listOfSubtask(ctx, subtaskId, query, (tx, afterSeq, limit, subtask) => steps.listSteps(tx, ctx.actor.projectId, subtask, afterSeq, limit))
}

/** What was sent first in each attempt, oldest first. None of an outside worker: it is given its prompt by the claim, and what it makes of it is its own. */
export async function listPrompts(
  ctx: Ctx,
  subtaskId: string,
  query: { limit: number; cursor?: string | undefined },
): Promise<Page<steps.SentPrompt & { seq: number }>> {
  return await listOfSubtask(ctx, subtaskId, query, async (tx, afterAttempt, limit, subtask) => {
    const found = await steps.listPrompts(tx, ctx.actor.projectId, subtask, afterAttempt, limit)
    return found.map((prompt) => ({ ...prompt, seq: prompt.attempt }))
  })
}

/** The updates with their receipts, oldest first. */
export async function listUpdates(ctx: Ctx, subtaskId: string, query: { limit: number; cursor?: string | undefined }): Promise<Page<Update>> {
  return await listOfSubtask(ctx, subtaskId, query, (tx, afterSeq, limit) => updates.listUpdates(tx, ctx.actor.projectId, subtaskId, afterSeq, limit))
}

async function listOfSubtask<T extends { seq: number }>(
  ctx: Ctx,
  subtaskId: string,
  query: { limit: number; cursor?: string | undefined },
  read: (tx: Parameters<typeof subtasks.findSubtask>[0], afterSeq: number, limit: number, subtask: { id: string; completedAt: Date | null }) => Promise<T[]>,
): Promise<Page<T>> {
  requireScope(ctx.actor, 'subtasks:read')
  requireOwnSubtask(ctx.actor, subtaskId)
  const afterSeq = numberInCursor(query.cursor) ?? 0
  const items = await readingMany(ctx, async (tx) => {
    const end = await subtasks.findEnd(tx, subtaskId)
    if (end === null) throw notFound('subtask')
    return await read(tx, afterSeq, query.limit + 1, { id: subtaskId, ...end })
  })
  return page(items, query.limit, (last) => String(last.seq))
}
