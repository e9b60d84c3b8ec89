import { randomUUID } from 'node:crypto'
import type { Client, Problem } from './client.ts'
import { listen } from './hearing.ts'
import type { Narrator } from './narrator.ts'

const AMBIGUOUS = 'every monday'
const RECURRENCE = 'every weekday at 9 ET'
const SOON = 'in 2 seconds'

/**
 * A schedule in words: an ambiguous phrase is refused, a preview shows the next slots, and a due slot fires once and leaves its result in the inbox of
 * the parent session.
 *
 * @returns deviations from what should happen; empty if there is none
 */
export async function playScheduleStory(client: Client, narrator: Narrator, signal: AbortSignal): Promise<string[]> {
  narrator.title('4. Schedules in words: T writes them, a worker fires them')
  const hearing = await listen(client, signal)
  const session = `demo-${randomUUID()}`
  const rule = { task: 'Inspect tsgs and report what is in it.', runner: 'scout', parent_session_id: session }

  const refused = await client.previewSchedule({ ...rule, every: AMBIGUOUS })
  narrator.about('T', `POST /schedules/preview  every: "${AMBIGUOUS}": ${'problem' in refused ? describeRefusal(refused.problem) : 'accepted'}`)
  const shown = await client.previewSchedule({ ...rule, every: RECURRENCE })
  if ('schedule' in shown) {
    narrator.about('T', `POST /schedules/preview  every: "${RECURRENCE}": ${shown.schedule.reading}`)
    narrator.quote(shown.schedule.upcoming)
  }

  const schedule = await client.createSchedule({ ...rule, when: SOON })
  narrator.about('T', `POST /schedules  when: "${SOON}": ${schedule.reading}`)
  const fired = await hearing.first('schedule.fired', schedule.id)
  if (fired !== null) narrator.about('T', `event ${fired.id} ${fired.type}, due ${String(fired.data.slot)}`)
  const run = (await client.scheduleRuns(schedule.id))[0]
  const subtask = run?.subtask_id == null ? null : await client.wait(run.subtask_id)
  const [item] = await client.claimInbox(session)
  narrator.about('T', `POST /sessions/{id}/inbox/claim  ${item?.status ?? 'nothing'}: ${item?.summary ?? ''}`)
  const { state } = await client.schedule(schedule.id)
  await hearing.stop()

  return [
    ...('problem' in refused ? [] : [`"${AMBIGUOUS}" should have been refused`]),
    ...('schedule' in shown && shown.schedule.upcoming.length === 5 ? [] : [`"${RECURRENCE}" should have been shown with its next five firings`]),
    ...(fired === null ? ['the event stream never reported the firing'] : []),
    ...(subtask?.status === 'completed' && item?.subtask_id === subtask.id ? [] : ['the result of the run should have been in the inbox']),
    ...(state === 'finished' ? [] : [`the schedule should be finished, and is ${state}`]),
  ]
}

function describeRefusal({ status, code, candidates = [] }: Problem): string {
  return `${status} ${code}; it takes ${candidates.map(({ phrase }) => `"${phrase}"`).join(' or ')}`
}
