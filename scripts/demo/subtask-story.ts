import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Client, LoggedEvent, Subtask } from './client.ts'
import type { Narrator } from './narrator.ts'

type Label = 'A' | 'B' | 'C'

/** The tasks of the three subtasks, all about the folder of this project. */
const TASKS: Record<Label, string> = {
  A: 'Inspect packages/domain',
  B: 'Inspect packages and report the largest files',
  C: 'Inspect this repository',
}
const UPDATE = 'Only TypeScript files'
/** Progress events to wait for, which show that a run has begun. */
const PROGRESS_BEFORE_ACTING = 2

/** The events of one subtask so far. */
type Heard = { progress: number; types: Set<string> }

/**
 * Three subtasks at once: one runs to its end, one receives a note while it runs, one is cancelled. The demo sees
 * everything over HTTP.
 *
 * @returns deviations from what should happen; empty if there is none
 */
export async function playSubtaskStory(client: Client, narrator: Narrator, signal: AbortSignal): Promise<string[]> {
  const session = `demo-${randomUUID()}`
  const heard: Record<Label, Heard> = { A: hearNothing(), B: hearNothing(), C: hearNothing() }
  const labels = new Map<string, Label>()
  const early: LoggedEvent[] = []
  const onEvent = (event: LoggedEvent): void => {
    const label = labels.get(event.subject.kind === 'subtask' ? event.subject.id : String(event.data.subtask_id))
    // An event may arrive before the answer with the id of its subtask.
    if (label === undefined) return void early.push(event)
    heard[label].types.add(event.type)
    if (event.type === 'subtask.progress') heard[label].progress += 1
    if (isShown(event, heard[label])) narrator.event(label, event)
  }
  const stopFollowing = new AbortController()
  const stream = await client.follow(onEvent, AbortSignal.any([signal, stopFollowing.signal]))

  narrator.title('1. Three subtasks of the scout example: one runs to its end, one is steered, one is cancelled')
  const spawned: [Label, Subtask][] = []
  for (const label of ['A', 'B', 'C'] as const) {
    narrator.about(label, `POST /subtasks  ${TASKS[label]}`)
    const subtask = await client.spawn({ task: TASKS[label], runner: 'scout', parent_session_id: session })
    labels.set(subtask.id, label)
    spawned.push([label, subtask])
    for (const event of early.splice(0)) onEvent(event)
  }
  const ids = Object.fromEntries(spawned.map(([label, subtask]) => [label, subtask.id])) as Record<Label, string>

  const steer = async (): Promise<void> => {
    await hearProgress(heard.B, signal)
    narrator.about('B', `POST /subtasks/{id}/updates  "${UPDATE}"`)
    await client.steer(ids.B, UPDATE)
  }
  const cancel = async (): Promise<void> => {
    await hearProgress(heard.C, signal)
    narrator.about('C', 'DELETE /subtasks/{id}')
    await client.cancel(ids.C)
  }
  // Steering and cancelling fail if the subtask has ended unexpectedly. How it ended is the better report.
  const [acted, a, b, c] = await Promise.all([Promise.allSettled([steer(), cancel()]), client.wait(ids.A), client.wait(ids.B), client.wait(ids.C)])
  await hearTheEnd(Object.values(heard))
  stopFollowing.abort()
  await stream.ended

  return [
    ...acted.flatMap((outcome) => (outcome.status === 'rejected' ? [String((outcome.reason as Error).message)] : [])),
    ...checkEnds(a, b, c),
    ...checkUpdate(await client.updates(ids.B)),
    ...Object.entries(heard).flatMap(([label, { types }]) => (hasEnded(types) ? [] : [`the event stream did not contain the end of ${label}`])),
    ...(await emptyInbox(client, narrator, session, labels)),
  ]
}

/** Whether to show an event: the first progress, and all about the update. */
function isShown({ type }: LoggedEvent, { progress }: Heard): boolean {
  if (type === 'subtask.progress') return progress === 1
  return ['update.delivered', 'update.acknowledged'].includes(type)
}

function hearNothing(): Heard {
  return { progress: 0, types: new Set() }
}

function hasEnded(types: Set<string>): boolean {
  return ['subtask.completed', 'subtask.failed', 'subtask.cancelled'].some((type) => types.has(type))
}

async function hearProgress(heard: Heard, signal: AbortSignal): Promise<void> {
  while (heard.progress < PROGRESS_BEFORE_ACTING && !hasEnded(heard.types)) await delay(20, undefined, { signal })
}

/** Results may arrive before the last events. */
async function hearTheEnd(all: Heard[]): Promise<void> {
  for (let tries = 0; tries < 100 && !all.every(({ types }) => hasEnded(types)); tries += 1) await delay(20)
}

function checkEnds(a: Subtask, b: Subtask, c: Subtask): string[] {
  const expected: [Label, Subtask, string][] = [
    ['A', a, 'completed'],
    ['B', b, 'completed'],
    ['C', c, 'cancelled'],
  ]
  return expected.flatMap(([label, subtask, status]) =>
    subtask.status === status ? [] : [`${label} should have ended ${status}, and is ${subtask.status} (${subtask.final_outcome ?? ''} ${subtask.error ?? ''})`],
  )
}

function checkUpdate(updates: { status: string }[]): string[] {
  const statuses = updates.map(({ status }) => status)
  return statuses.length === 1 && statuses[0] === 'acknowledged'
    ? []
    : [`the update to B should have been acknowledged, and is ${statuses.join(', ') || 'missing'}`]
}

/** The inbox delivers each result once: the second claim finds nothing. */
async function emptyInbox(client: Client, narrator: Narrator, session: string, labels: Map<string, Label>): Promise<string[]> {
  const items = await client.claimInbox(session)
  narrator.note('POST /sessions/{id}/inbox/claim  by the session that asked for them:')
  for (const item of items) {
    const label = labels.get(item.subtask_id)
    const text = (item.summary ?? item.result ?? '').split('\n').find((line) => line.trim() !== '' && !line.startsWith('#')) ?? ''
    if (label !== undefined) narrator.about(label, `${item.status}${text === '' ? '' : `: ${text}`}`)
  }
  const again = await client.claimInbox(session)
  narrator.note(`POST /sessions/{id}/inbox/claim  again: ${again.length === 0 ? 'nothing, each came once' : `${again.length} items`}`)
  const got = new Set(items.map(({ subtask_id }) => labels.get(subtask_id)))
  return [
    ...(['A', 'B'] as const).flatMap((label) => (got.has(label) ? [] : [`the inbox should have held the result of ${label}`])),
    ...(again.length === 0 ? [] : ['the inbox delivered an item twice']),
  ]
}
