import { projects, retention, transaction } from '@muster/db'
import { type Archive, type ArchivedRow, DomainError, requireFound, requireScope } from '@muster/domain'
import { type Ctx, inProject } from '../core/ctx.ts'
import { relayOutbox } from '../events/relay.ts'

type DataScope = retention.DataScope

const AT_ONCE = 200
const EVENTS_AT_ONCE = 2_000
const FIRST_ID = '00000000-0000-0000-0000-000000000000'

/** Rows by table. */
export type Counts = Record<string, number>

/** What was erased, and what remains, with the reason of each. */
export interface Erasure {
  erased: Counts
  remains: string[]
}

/**
 * Writes all data of a project, a session or an agent to an archive. What is written to while it runs may be in it or not. Returns the rows by table.
 *
 * @throws DomainError `not_found`, also for projects of others
 */
export async function exportData(ctx: Ctx, scope: DataScope, archive: Archive): Promise<Counts> {
  await requireProject(ctx)
  const counts: Counts = {}
  const write = async (name: string, rows: readonly ArchivedRow[]) => {
    if (rows.length === 0) return
    await archive.write(`${folderOf(ctx, scope)}/${name}`, rows)
    add(counts, rows)
  }
  const rest = await transaction(ctx.db, ctx.actor.projectId, (tx) => retention.restOfScope(tx, scope, false))
  await write('rest', rest)
  // Of a project, the rest has these tables whole, also what belongs to a subtask, a task, a message, an evaluation or a schedule.
  const whole = new Set(scope.kind === 'project' ? rest.map(({ table }) => table) : [])
  await eachBatch(ctx, scope, async (noun, ids) => {
    const rows = await transaction(ctx.db, ctx.actor.projectId, (tx) => retention.rowsOf(tx, noun, ids))
    const others = rows.filter(({ table }) => !whole.has(table))
    await write(`${noun}/${ids[0]}`, others)
    if (scope.kind !== 'project') await exportEvents(ctx, subjectsOf(rows, ids), (place, events) => write(`events/${noun}-${ids[0]}-${place}`, events))
  })
  if (scope.kind === 'project') await exportEvents(ctx, null, (place, events) => write(`events/${place}`, events))
  return counts
}

/**
 * Deletes all data of a project, a session or an agent that has no live work. What it does not finish, because it is interrupted, a repetition does. The
 * row of a project stays, so that its id is not used again.
 *
 * @throws DomainError `conflict` while subtasks, tasks or schedules have not ended; `not_found`
 */
export async function eraseData(ctx: Ctx, scope: DataScope): Promise<Erasure> {
  await requireProject(ctx)
  const { projectId } = ctx.actor
  const live = await transaction(ctx.db, projectId, (tx) => retention.liveInScope(tx, projectId, scope))
  if (live.subtasks + live.tasks + live.schedules > 0) {
    throw new DomainError(
      'conflict',
      `${live.subtasks} subtasks, ${live.tasks} tasks and ${live.schedules} schedules have not ended: cancel or deactivate them first, then erase again.`,
    )
  }
  // Events that still waited would come into the log, and to receivers, after their subjects are gone.
  while (await relayOutbox(ctx));
  const erased: Counts = {}
  await eachBatch(ctx, scope, async (noun, ids) => {
    const rows = await transaction(ctx.db, projectId, (tx) => retention.rowsOf(tx, noun, ids))
    // First, because nothing else leads to them once their subjects are gone.
    if (scope.kind !== 'project') await eraseEvents(ctx, subjectsOf(rows, ids), erased)
    add(erased, await transaction(ctx.db, projectId, (tx) => retention.remove(tx, noun, ids, null)))
  })
  if (scope.kind === 'project') await eraseEvents(ctx, null, erased)
  // The last step is the one that the audit log names: an erasure that is interrupted before is repeated.
  await inProject(ctx, async (tx) => {
    add(erased, await retention.restOfScope(tx, scope, true))
    return {}
  })
  return { erased, remains: whatRemains(scope) }
}

function whatRemains(scope: DataScope): string[] {
  return [
    'what was archived, exported or dumped before: delete it where it is kept',
    'what was sent to webhooks, callbacks and channels before: it is with those who received it',
    'folders of tasks and runs in DATA_DIR, until they are swept: a day after the last change in them, see docs/storage.md',
    'entries of the audit log about it: who wrote what, without its content',
    ...(scope.kind === 'project'
      ? ['the row of the project, so that its id is not used again']
      : [
          'sums of tokens and cost by agent, which budgets for all time need',
          'answers to repeated requests (Idempotency-Key), for a day',
          'names and ids in the work of others: facts that were learnt from it, notes, messages and schedules of other sessions, events about guides and their deliveries',
          'inbox items by which other sessions received its questions, without the questions: until they expire',
        ]),
    ...(scope.kind === 'agent'
      ? ['tasks with their check-ins, checks and events, and messages, which belong to a session and not to one agent: erase by session']
      : []),
  ]
}

async function requireProject(ctx: Ctx): Promise<void> {
  requireScope(ctx.actor, 'admin')
  requireFound(await transaction(ctx.db, ctx.actor.projectId, (tx) => projects.findProject(tx, ctx.actor.projectId)), 'project')
}

async function eachBatch(ctx: Ctx, scope: DataScope, work: (noun: retention.ScopeNoun, ids: readonly string[]) => Promise<void>): Promise<void> {
  const { projectId } = ctx.actor
  for (const noun of retention.SCOPE_NOUNS) {
    for (let after = FIRST_ID; ; ) {
      const ids = await transaction(ctx.db, projectId, (tx) => retention.idsInScope(tx, projectId, scope, noun, after, AT_ONCE))
      const last = ids.at(-1)
      if (last === undefined) break
      await work(noun, ids)
      after = last
    }
  }
}

async function exportEvents(ctx: Ctx, subjects: readonly string[] | null, write: (place: number, rows: ArchivedRow[]) => Promise<void>): Promise<void> {
  if (subjects?.length === 0) return
  const { projectId } = ctx.actor
  for (let after = 0; ; ) {
    const events = await transaction(ctx.db, projectId, (tx) => retention.eventRows(tx, projectId, subjects, after, EVENTS_AT_ONCE))
    const last = events.at(-1)
    if (last === undefined) return
    await write(
      last.seq,
      events.map(({ line }) => ({ table: 'events', line })),
    )
    after = last.seq
  }
}

async function eraseEvents(ctx: Ctx, subjects: readonly string[] | null, erased: Counts): Promise<void> {
  if (subjects?.length === 0) return
  for (const partition of await transaction(ctx.db, ctx.actor.projectId, (tx) => retention.eventPartitions(tx))) {
    for (let removed = EVENTS_AT_ONCE; removed === EVENTS_AT_ONCE; ) {
      removed = await transaction(ctx.db, ctx.actor.projectId, (tx) => retention.removeEvents(tx, partition, subjects, EVENTS_AT_ONCE))
      if (removed > 0) erased.events = (erased.events ?? 0) + removed
    }
  }
}

/** What events are about, of some rows and what belongs to them. */
function subjectsOf(rows: readonly ArchivedRow[], ids: readonly string[]): string[] {
  const evaluations = rows.filter(({ table }) => table === 'evaluations').map(({ line }) => (JSON.parse(line) as { id: string }).id)
  return [...ids, ...evaluations]
}

function folderOf({ actor }: Ctx, scope: DataScope): string {
  return scope.kind === 'project' ? actor.projectId : `${actor.projectId}/${scope.kind}-${encodeURIComponent(scope.name)}`
}

function add(counts: Counts, rows: readonly { table: string }[]): void {
  for (const { table } of rows) counts[table] = (counts[table] ?? 0) + 1
}
