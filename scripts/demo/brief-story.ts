import { randomUUID } from 'node:crypto'
import { ADDED, BRIEF, importGuide, REVISED } from './briefs.ts'
import type { Client, Injection, Task } from './client.ts'
import { listen } from './hearing.ts'
import type { Narrator } from './narrator.ts'

const NOTE = 'The folder testing counts, too.'
const BRIEF_LINES = 9

/**
 * A session works on a brief, receives changes, and cannot complete it without the required outputs. The demo plays the session, with the credential of
 * the assignment.
 *
 * @returns deviations from what should happen; empty if there is none
 */
export async function playBriefStory(client: Client, narrator: Narrator, signal: AbortSignal): Promise<string[]> {
  narrator.title('2. A brief, steered in flight: T asks for it, S is the session of a sub-agent that works on it')
  const hearing = await listen(client, signal)
  const session = `demo-writer-${randomUUID()}`

  const guide = await importGuide(client)
  narrator.about('T', `PUT /tsgs/${guide}  imported from tsgs/`)
  const { id, validation } = await client.createTask(BRIEF)
  narrator.about('T', `POST /tasks  "${BRIEF.title}": ${warningsOf(validation)}`)
  const { subagent_credential } = await client.assign(id, session)
  narrator.about('T', 'POST /tasks/{id}/assign  to S, with a credential that opens this task alone')

  const agent = client.as(subagent_credential)
  const first = await agent.inject(session)
  narrator.about('S', 'POST /sessions/{id}/injections  before its first model request')
  quoteBrief(narrator, first.text)

  const { revision } = await client.revise(id, 1, REVISED)
  narrator.about('T', `PATCH /tasks/{id}  If-Match: "1", instructions: "… ${ADDED}": revision ${revision}`)
  await client.note(id, NOTE)
  narrator.about('T', `POST /tasks/{id}/updates  "${NOTE}"`)
  const second = await agent.inject(session)
  narrator.about('S', 'POST /sessions/{id}/injections  before its next one: only what it has not seen')
  quoteUpdates(narrator, second)

  const checkedIn = await agent.checkIn(id, filledIn(first.text, revision))
  const receipts = (await client.taskUpdates(id)).map(({ status }) => status)
  narrator.about('S', `POST /tasks/{id}/check-ins  ${checkedIn.criteria.length} criteria reported on; receipts of the updates: ${receipts.join(', ')}`)

  const refused = await agent.complete(id, { report: '# Packages' })
  const accepted = await agent.complete(id, { report: '# Packages', file_count: 252 })
  narrator.about('S', `POST /tasks/{id}/complete  without file_count: ${describeCompletion(refused)}`)
  narrator.about('S', `POST /tasks/{id}/complete  with all outputs: ${describeCompletion(accepted)}`)
  const announced = await hearing.first('task.completed', id)
  if (announced !== null) narrator.about('T', `event ${announced.id} ${announced.type}, written in the same commit`)
  await hearing.stop()

  return [
    ...(first.items.map(({ kind }) => kind).join() === 'assignment' ? [] : ['the first injection should have been the assignment']),
    ...(second.items.map(({ kind }) => kind).join() === 'update,update' ? [] : ['the second injection should have been the change and the note']),
    ...((await client.inject(session)).text === '' ? [] : ['the session received something twice']),
    ...(receipts.join() === 'acknowledged,acknowledged' ? [] : [`both updates should have been acknowledged, and are ${receipts.join(', ')}`]),
    ...('problem' in refused && refused.problem.code === 'outputs_missing' ? [] : ['a completion without an output should have been refused']),
    ...('task' in accepted && accepted.task.status === 'completed' ? [] : ['the completion with all outputs should have been accepted']),
    ...(announced === null ? ['the event stream never reported the completion'] : []),
  ]
}

function warningsOf({ warnings }: Task['validation']): string {
  return warnings.length === 0 ? 'accepted without a warning' : `accepted, with warnings: ${warnings.map(({ message }) => message).join('; ')}`
}

/** The beginning of a brief, without empty and ruled lines. */
function quoteBrief(narrator: Narrator, text: string): void {
  const lines = text.split('\n').filter((line) => /[^\s=]/.test(line))
  narrator.quote(lines.slice(0, BRIEF_LINES), `${lines.length - BRIEF_LINES} lines more: constraints, how changes arrive, the form of a check-in`)
}

/** The heading of each update, and its changes. */
function quoteUpdates(narrator: Narrator, { items }: Injection): void {
  for (const { text } of items) {
    const [heading = '', ...lines] = text.split('\n')
    const [revision = ''] = lines.filter((line) => line.startsWith('Revision: '))
    const changes = lines.filter((line) => /^[-+] /.test(line))
    const content = lines.slice(lines.findIndex((line) => line.startsWith('<content-')) + 1, -1)
    narrator.quote([`${heading} ${revision}`, ...(changes.length > 0 ? changes : content)])
  }
}

/** The check-in form of the brief, filled in for the latest revision. */
function filledIn(text: string, revision: number): string {
  const [form = ''] = /<npl-block type="check-in"[\s\S]*?<\/npl-block>/.exec(text) ?? []
  return form.replace(/revision="\d+"/, `revision="${revision}"`).replaceAll('❓', '✅')
}

function describeCompletion(answer: Awaited<ReturnType<Client['complete']>>): string {
  return 'problem' in answer ? `${answer.problem.status} ${answer.problem.code}. ${answer.problem.detail}` : answer.task.status
}
