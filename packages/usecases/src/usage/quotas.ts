import { type Database, type StoredBytes, storedBytes, transaction } from '@muster/db'
import { limitCeilings, type QuotaScope, quotaExceeded, runOf, type Settings } from '@muster/domain'
import type { Ctx, Deps } from '../core/ctx.ts'

/** For so long what other processes store is not looked for again, in milliseconds. */
const KNOWN_MS = 1_000
/** Before a refusal it is, if it was longer ago than this: there may be room again. */
const DOUBTED_MS = 100
/** With so many projects and runs known, those that are quiet are forgotten. */
const KNOWN_MAX = 10_000

/** From so many changes on that wait to be added up, a look does it: each look reads all of them. */
const WAITING_MAX = 5_000

/** What this process knows of the bytes of a project, or of one run in it. */
interface Account {
  /** When the last look began, by a clock that never goes back. */
  lookedAtMs: number
  look: Promise<void> | null
  used: number
  limit: number
  /** Of writes that have begun and not ended here. */
  underWay: number
  /** Of writes that have ended here, from the beginning, and how many of these the last look has seen for certain. */
  ended: number
  seen: number
}

/** An account, and whose it is. */
interface Held {
  scope: QuotaScope
  runId: string | null
  account: Account
}

const accounts = new WeakMap<Database, Map<string, Account>>()

/** Where a look of this process adds up at the moment. Another one beside it would only take a connection. */
const addingUp = new WeakSet<Database>()

/**
 * Makes sure that there is room for what a caller wants stored, before anything is. Counts what is under way in this process at once, and what others have
 * stored until at most a second ago.
 *
 * @param bytes the length of the content
 * @param runId the run that stores it, limited beside the project; null where there is none
 * @returns to be called when the write has ended, in whatever way
 * @throws DomainError `quota_exceeded`
 */
export async function takeRoom(ctx: Ctx, bytes: number, runId: string | null = runOf(ctx.actor)): Promise<() => void> {
  const { projectId } = ctx.actor
  const held: Held[] = [{ scope: 'project', runId: null, account: accountOf(ctx.db, projectId) }]
  if (runId !== null) held.push({ scope: 'run', runId, account: accountOf(ctx.db, `${projectId}/${runId}`) })
  for (const each of held) await lookIfOlder(ctx, each, hasRoom(each, bytes) ? KNOWN_MS : DOUBTED_MS)
  // From here on nothing waits, so that no two callers get the same room.
  const full = held.find((each) => !hasRoom(each, bytes))
  if (full !== undefined) throw quotaExceeded(full.scope, { used: usedNow(full), requested: bytes, limit: full.account.limit })
  for (const { account } of held) account.underWay += bytes
  return () => {
    for (const { account } of held) {
      account.underWay -= bytes
      account.ended += bytes
    }
  }
}

function accountOf(database: Database, key: string): Account {
  const known = accounts.get(database) ?? new Map<string, Account>()
  accounts.set(database, known)
  let account = known.get(key)
  if (account === undefined) {
    if (known.size >= KNOWN_MAX) forgetQuiet(known)
    account = { lookedAtMs: Number.NEGATIVE_INFINITY, look: null, used: 0, limit: 0, underWay: 0, ended: 0, seen: 0 }
    known.set(key, account)
  }
  return account
}

function forgetQuiet(known: Map<string, Account>): void {
  const cut = performance.now() - KNOWN_MS
  for (const [key, { lookedAtMs, underWay, look }] of known) if (lookedAtMs < cut && underWay === 0 && look === null) known.delete(key)
}

async function lookIfOlder(ctx: Ctx, held: Held, ms: number): Promise<void> {
  const { account } = held
  if (account.look === null && performance.now() - account.lookedAtMs <= ms) return
  account.look ??= look(ctx, held).finally(() => {
    account.look = null
  })
  await account.look
}

async function look({ db, dispatchDb, settings, log, actor: { projectId } }: Ctx, { scope, runId, account }: Held): Promise<void> {
  const beganAtMs = performance.now()
  // What ends from here on may be missing in the answer.
  const { ended } = account
  const found = await transaction(db, projectId, (tx) => storedBytes.readStoredBytes(tx, projectId, runId))
  if (found.waiting >= WAITING_MAX && !addingUp.has(dispatchDb)) {
    addingUp.add(dispatchDb)
    // It takes as long as there are changes, and this look has its answer. Maintenance tries it too, and reports what goes wrong.
    storedBytes
      .addUpBytes(dispatchDb)
      .catch((error: unknown) => log.debug({ err: error }, 'stored bytes could not be added up now'))
      .finally(() => addingUp.delete(dispatchDb))
  }
  const limits = storedBytesLimits(settings, found)
  account.used = found[scope]
  account.limit = limits[scope]
  account.seen = ended
  account.lookedAtMs = beganAtMs
}

/** The limits as they count: those of the project, and no more than the ceilings of the operator. In bytes. */
export function storedBytesLimits(settings: Settings, set: Pick<StoredBytes, 'projectLimit' | 'runLimit'>): Record<QuotaScope, number> {
  const { storedBytes: ofProject, runStoredBytes: ofRun } = limitCeilings(settings)
  return { project: Math.min(set.projectLimit ?? ofProject, ofProject), run: Math.min(set.runLimit ?? ofRun, ofRun) }
}

function usedNow({ account: { used, underWay, ended, seen } }: Held): number {
  return used + underWay + ended - seen
}

function hasRoom(held: Held, bytes: number): boolean {
  return usedNow(held) + bytes <= held.account.limit
}

/** Adds up what has been stored and deleted since the last time. */
export async function addUpBytes(deps: Pick<Deps, 'dispatchDb'>): Promise<void> {
  await storedBytes.addUpBytes(deps.dispatchDb)
}
