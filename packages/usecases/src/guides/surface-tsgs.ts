import { type Database, outbox, type Tx, tsgNotices, tsgs, tsgUses } from '@muster/db'
import { type CompiledTsg, compileTsg, matchTsgs, type NewEvent, rankTsgHits, requireScope, successRate, type Tsg, type TsgHit } from '@muster/domain'
import { type Ctx, type Deps, inProject } from '../core/ctx.ts'

/** The project in which guides are brought up, and the actor that caused it. */
export interface TsgAudience {
  projectId: string
  actor: NewEvent['actor']
}

/**
 * Matches texts of a session against guides and inserts a guide notice for each guide that the session has had none of, in the caller's
 * transaction. The next injection delivers them (`tsgNotices.takeTsgNotices`). Without texts it reads nothing. Transactions that insert the
 * same notice wait for each other, so call it after the locks of tasks and of subtasks.
 */
export async function surfaceTsgs(deps: Deps, tx: Tx, audience: TsgAudience & { sessionId: string }, texts: readonly string[]): Promise<void> {
  const hits = await findMatchingTsgs(deps, tx, audience.projectId, texts)
  if (hits.length > 0) await recordSurfaced(deps, tx, audience, hits)
}

/**
 * Records that guides were brought up. In a session a guide counts once: it gets a notice the first time, and nothing after that.
 */
export async function recordSurfaced(
  deps: Deps,
  tx: Tx,
  { projectId, actor, sessionId = null }: TsgAudience & { sessionId?: string | null },
  hits: readonly TsgHit[],
): Promise<void> {
  if (hits.length === 0) return
  const undelivered = sessionId === null ? null : new Set(await tsgNotices.insertTsgNotices(tx, projectId, sessionId, hits))
  const surfaced = hits.filter(({ tsgId }) => undelivered?.has(tsgId) ?? true)
  if (surfaced.length === 0) return
  await tsgUses.insertTsgUses(
    tx,
    projectId,
    surfaced.map(({ tsgId }) => ({ id: deps.newId(), tsgId, kind: 'surfaced', sessionId, taskId: null })),
  )
  const events = surfaced.map(
    ({ tsgId, title, pattern }): NewEvent => ({
      type: 'tsg.surfaced',
      subject: { kind: 'tsg', id: tsgId },
      data: { tsg_id: tsgId, title, matched_pattern: pattern, session_id: sessionId },
      actor,
    }),
  )
  await outbox.publish(tx, projectId, events)
  tx.afterCommit(() => deps.notifier.notify('outbox'))
}

export interface TsgScan {
  errorMessage: string
  /** What happened around it. */
  context?: string | undefined
  /** The session with the failure: its next injection brings the guide notices. A sub-agent's own credential always means its own session. */
  sessionId?: string | undefined
}

/** A guide that a scan brought up. `successRate` is null without feedback. */
export type ScannedTsg = TsgHit & { successRate: number | null }

/** The guides that know an error, best first, at most 20, and recorded as brought up. [B5] scan_for_tsg */
export async function scanTsgs(ctx: Ctx, { errorMessage, context, sessionId }: TsgScan): Promise<ScannedTsg[]> {
  requireScope(ctx.actor, 'tsgs:read')
  const { projectId } = ctx.actor
  return await inProject(ctx, async (tx) => {
    const found = await findMatchingTsgs(ctx, tx, projectId, context === undefined ? [errorMessage] : [errorMessage, context])
    const ids = found.map(({ tsgId }) => tsgId)
    const usage = await tsgUses.countTsgUses(tx, projectId, ids, ['resolved', 'unresolved'])
    const rates = new Map([...usage].map(([tsgId, counts]) => [tsgId, successRate(counts)]))
    const hits = rankTsgHits(found, rates)
    await recordSurfaced(ctx, tx, { projectId, actor: ctx.actor, sessionId: ctx.actor.lineage?.sessionId ?? sessionId ?? null }, hits)
    return hits.map((hit) => ({ ...hit, successRate: rates.get(hit.tsgId) ?? null }))
  })
}

/** Guides that one text may bring up. Weaker matches would only fill the context of an agent. */
const HITS_MAX = 20
/** Projects whose guides are kept ready; the one that was not asked for the longest goes first. */
const PROJECTS_MAX = 200
/** What an engine keeps of the texts it has seen grows with the time it takes, by some 80 MB a second at the worst: it starts afresh after this. */
const ENGINE_MS_MAX = 2_000

interface ReadyTsgs {
  revision: number
  guides: CompiledTsg[]
  /** As stored, by id, to compile only what has changed. */
  sources: Map<string, { text: string; guide: CompiledTsg }>
}

const readyByDatabase = new WeakMap<Database, Map<string, ReadyTsgs>>()
let engineMs = 0

/**
 * The guides that match one of the texts, best first by severity and pattern, at most 20. On the path of every request of an agent: a
 * project's guides are compiled once a process, and one read of the revision by its key detects changes. Of a text longer
 * than 32,768 characters, the first and the last 16,384 are looked at.
 *
 * Not for a transaction that changes guides itself: should it be rolled back, its guides would stay.
 */
export async function findMatchingTsgs(deps: Pick<Deps, 'db' | 'log'>, tx: Tx, projectId: string, texts: readonly string[]): Promise<TsgHit[]> {
  if (texts.length === 0) return []
  return await matchTsgsAt(deps, projectId, await tsgNotices.readTsgRevision(tx, projectId), texts, () => tsgs.listTsgsToMatch(tx, projectId))
}

/**
 * The same for a caller that has read that number along with something else.
 *
 * @param list reads the guides, where they are not those that this process has ready. After the number: guides that change in between are
 * newer than it says, and are read again the next time
 */
export async function matchTsgsAt(
  deps: Pick<Deps, 'db' | 'log'>,
  projectId: string,
  revision: number,
  texts: readonly string[],
  list: () => ReturnType<typeof tsgs.listTsgsToMatch>,
): Promise<TsgHit[]> {
  if (texts.length === 0) return []
  const guides = await readyTsgs(deps.db, projectId, revision, list)
  if (guides.length === 0) return []
  const startedAt = performance.now()
  const hits = matchTsgs(guides, texts, ({ tsgId }) =>
    deps.log.warn({ project_id: projectId, tsg_id: tsgId }, 'a regular expression of a guide takes too long and is left out for a while'),
  )
  engineMs += performance.now() - startedAt
  if (engineMs > ENGINE_MS_MAX) {
    engineMs = 0
    readyByDatabase.delete(deps.db)
  }
  return hits.slice(0, HITS_MAX)
}

async function readyTsgs(db: Database, projectId: string, revision: number, list: () => ReturnType<typeof tsgs.listTsgsToMatch>): Promise<CompiledTsg[]> {
  const ready = readyByDatabase.get(db) ?? new Map<string, ReadyTsgs>()
  readyByDatabase.set(db, ready)
  const known = ready.get(projectId)
  ready.delete(projectId)
  const current = known?.revision === revision ? known : compileAll(revision, await list(), known)
  ready.set(projectId, current)
  const [oldest] = ready.keys()
  if (ready.size > PROJECTS_MAX && oldest !== undefined) ready.delete(oldest)
  return current.guides
}

function compileAll(revision: number, stored: readonly Parameters<typeof compileTsg>[0][], known: ReadyTsgs | undefined): ReadyTsgs {
  const sources = new Map<string, { text: string; guide: CompiledTsg }>()
  for (const tsg of stored) {
    const text = sourceText(tsg)
    const before = known?.sources.get(tsg.tsgId)
    sources.set(tsg.tsgId, before?.text === text ? before : { text, guide: compileTsg(tsg) })
  }
  return { revision, guides: [...sources.values()].map(({ guide }) => guide), sources }
}

function sourceText({ title, severity, match, patterns }: Pick<Tsg, 'title' | 'severity' | 'match' | 'patterns'>): string {
  return JSON.stringify([title, severity, match, patterns])
}
