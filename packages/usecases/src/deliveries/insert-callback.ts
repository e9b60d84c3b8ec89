import { receivers, type Tx } from '@muster/db'
import { CALLBACK_EVENTS, type SubagentDefinition, type Subtask } from '@muster/domain'
import type { Ctx, Deps } from '../core/ctx.ts'
import { openSecret, sealSecret } from '../core/secret-box.ts'
import { idOf } from '../core/secrets.ts'
import { removeReceiver, requireReachable } from './change-webhooks.ts'

/** Where the end of one subtask or task is sent to, or that of each run of a schedule or a sub-agent. */
export interface Callback {
  url: string
  /** Of Standard Webhooks; without it, requests are not signed. */
  secret?: string | undefined
}

/**
 * Registers a callback in the transaction that creates its subject.
 *
 * @throws DomainError `validation_failed` for a URL that deliveries may not reach, `secrets_not_configured`
 */
export async function insertCallback(ctx: Ctx, tx: Tx, subjectId: string, callback: Callback): Promise<void> {
  const { projectId } = ctx.actor
  await requireReachable(ctx, tx, projectId, callback.url, '/callback/url')
  await insertReachable(ctx, tx, projectId, subjectId, callback)
}

async function insertReachable(deps: Deps, tx: Tx, projectId: string, subject: string, { url, secret }: Callback): Promise<void> {
  const id = deps.newId()
  await receivers.insertReceiver(tx, {
    projectId,
    id,
    kind: 'callback',
    // Callbacks of one host share its capacity and its failures: each of them alone would start anew.
    destinationId: idOf(`${projectId}/${new URL(url).origin}`),
    url,
    description: null,
    events: [...CALLBACK_EVENTS],
    subject,
    agentId: null,
    sessionId: null,
    isOrdered: false,
    secret: secret === undefined ? null : sealSecret(deps, id, secret),
  })
}

/** The callback of a subject as a request would give it; null: it has none. Its secret is decrypted only when it is asked for. */
export async function findCallback(deps: Deps, tx: Tx, projectId: string, subjectId: string): Promise<Callback | null> {
  const [found] = await receivers.listCallbacks(tx, projectId, [subjectId])
  if (found === undefined) return null
  const { id, url, secret } = found
  return {
    url: url as string,
    get secret() {
      return secret === null ? undefined : openSecret(deps, id, secret)
    },
  }
}

/** Gives a subject another callback, or none. Deliveries that wait for the earlier one are given up. */
export async function replaceCallback(ctx: Ctx, tx: Tx, subjectId: string, callback: Callback | null): Promise<void> {
  await removeCallbacks(tx, ctx.actor.projectId, subjectId)
  if (callback !== null) await insertCallback(ctx, tx, subjectId, callback)
}

async function removeCallbacks(tx: Tx, projectId: string, subject: string): Promise<void> {
  for (const before of await receivers.listCallbacks(tx, projectId, [subject])) await removeReceiver(tx, before, 'The callback was replaced or removed.')
}

/** What the callback of a definition is stored for. No event is about it: each run gets a callback of its own from it. */
const ofSubagent = (name: string) => `subagent/${name}`

/**
 * Stores the callback of a definition that counts from now on. One that is put again as it is shown, which is without its secret, keeps
 * the secret; `secret: null` removes it.
 *
 * @throws DomainError `secrets_not_configured`
 */
export async function defineCallback(
  deps: Deps,
  tx: Tx,
  projectId: string,
  { name, callback }: Pick<SubagentDefinition, 'name' | 'callback'>,
  secret?: string | null,
): Promise<void> {
  const subject = ofSubagent(name)
  const before = await receivers.listCallbacks(tx, projectId, [subject])
  if (callback !== undefined && secret === undefined && before.some(({ url }) => url === callback.url)) return
  await removeCallbacks(tx, projectId, subject)
  if (callback !== undefined) await insertReachable(deps, tx, projectId, subject, { url: callback.url, secret: secret ?? undefined })
}

/**
 * Gives new runs of sub-agents the callbacks of their definitions, unless their schedules have callbacks.
 *
 * @throws DomainError `secrets_not_configured`
 */
export async function insertDefinedCallbacks(
  deps: Deps,
  tx: Tx,
  projectId: string,
  runs: readonly Pick<Subtask, 'id' | 'subagentName' | 'scheduleId'>[],
): Promise<void> {
  const subjects = runs.flatMap(({ subagentName, scheduleId }) =>
    subagentName === null ? [] : [ofSubagent(subagentName), ...(scheduleId === null ? [] : [scheduleId])],
  )
  if (subjects.length === 0) return
  const found = new Map((await receivers.listCallbacks(tx, projectId, [...new Set(subjects)])).map((each) => [each.subjectName ?? each.subjectId, each]))
  for (const { id, subagentName, scheduleId } of runs) {
    const defined = subagentName === null ? undefined : found.get(ofSubagent(subagentName))
    if (defined === undefined || found.has(scheduleId)) continue
    const secret = defined.secret === null ? undefined : openSecret(deps, defined.id, defined.secret)
    await insertReachable(deps, tx, projectId, id, { url: defined.url as string, secret })
  }
}
