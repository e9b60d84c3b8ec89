import { type Database, type Tx, tsgNotices, tsgs } from '@muster/db'
import { type CompiledTsg, compileTsg, matchTsgs, type Tsg, type TsgHit } from '@muster/domain'
import type { Deps } from '../core/ctx.ts'

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
