import { setTimeout as delay } from 'node:timers/promises'
import { ADDED, BRIEF, REVISED } from './briefs.ts'
import type { Client, LoggedEvent } from './client.ts'
import { listen } from './hearing.ts'
import type { Narrator } from './narrator.ts'

/** Progress events to wait for, which show that the run has begun. */
const PROGRESS_BEFORE_REVISING = 2

/**
 * The same brief, run by a program: it receives a change between two steps, and its outputs complete the task.
 *
 * @returns deviations from what should happen; empty if there is none
 */
export async function playDispatchStory(client: Client, narrator: Narrator, signal: AbortSignal): Promise<string[]> {
  narrator.title('3. The same brief, dispatched: T asks for it, D is the scout example that runs it as a subtask')
  const ids = new Set<string>()
  let progressShown = 0
  const hearing = await listen(client, signal, (event) => {
    if (ids.has(event.subject.id) && isShown(event, () => (progressShown += 1))) narrator.event('D', event)
  })
  const { id } = await client.createTask(BRIEF)
  ids.add(id)
  const subtask = await client.dispatch(id, { runner: 'scout' })
  ids.add(subtask.id)
  narrator.about('T', `POST /tasks/{id}/dispatch  runs revision ${subtask.task_revision}`)

  const ended = client.wait(subtask.id)
  while (hearing.count('subtask.progress', subtask.id) < PROGRESS_BEFORE_REVISING && hearing.count('subtask.completed', subtask.id) === 0)
    await delay(20, undefined, { signal })
  const { revision } = await client.revise(id, 1, REVISED)
  narrator.about('T', `PATCH /tasks/{id}  If-Match: "1", instructions: "… ${ADDED}": revision ${revision}`)

  const { status, summary, task_revision } = await ended
  const announced = await hearing.first('task.completed', id)
  await hearing.stop()
  const task = await client.task(id)
  narrator.about('D', `${status}, against revision ${task_revision}: ${summary ?? ''}`)
  narrator.about('T', `GET /tasks/{id}  ${task.status}, file_count is ${String(task.completion_outputs?.file_count)}`)

  const receipts = (await client.taskUpdates(id)).map((update) => update.status)
  return [
    ...(status === 'completed' && task.status === 'completed' ? [] : [`the dispatched brief should have been completed, and is ${task.status} (${status})`]),
    ...(task_revision === revision ? [] : [`the run should have ended against revision ${revision}, and did against ${task_revision}`]),
    ...(receipts.join() === 'acknowledged' ? [] : [`the change should have been acknowledged, and is ${receipts.join(', ')}`]),
    ...(announced === null ? ['the event stream never reported the completion'] : []),
  ]
}

/** Whether to show an event: the first progress, and all about the change. */
function isShown({ type }: LoggedEvent, countProgress: () => number): boolean {
  if (type === 'subtask.progress') return countProgress() === 1
  return ['update.delivered', 'update.acknowledged'].includes(type)
}
