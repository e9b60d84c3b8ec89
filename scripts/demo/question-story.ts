import { randomUUID } from 'node:crypto'
import type { Client } from './client.ts'
import { listen } from './hearing.ts'
import type { Narrator } from './narrator.ts'

/** Asks for a port, ends to wait for the answer, and goes on with it. */
const ASKER = `
const brief = JSON.parse(require('node:fs').readFileSync(0, 'utf8').split('\\n')[0])
const say = (line) => console.log(JSON.stringify(line))
if (brief.continuation) {
  say({ type: 'result', result: 'The server listens on port ' + /Answer: (\\d+)/.exec(brief.text)[1] + ', as you decided.' })
} else {
  fetch(process.env.MUSTER_URL + '/subtasks/' + brief.subtask_id + '/questions', {
    method: 'POST',
    headers: { authorization: 'Bearer ' + process.env.MUSTER_TOKEN, 'content-type': 'application/json' },
    body: JSON.stringify({ prompt: 'Which port should the server listen on?' }),
  }).then(async (answer) => say({ type: 'waiting', question_id: (await answer.json()).id, continuation: 'configured all but the port' }))
}
`

/** What the story needs in COMMAND_RUNNERS. */
export const QUESTION_RUNNERS = { asker: { argv: [process.execPath, '-e', ASKER] } }

/**
 * A run that asks, waits without a process, is answered, and goes on.
 *
 * @returns deviations from what should happen; empty if there is none
 */
export async function playQuestionStory(client: Client, narrator: Narrator, signal: AbortSignal): Promise<string[]> {
  narrator.title('7. A question: D asks, waits without a process, is answered by S, and goes on')
  const hearing = await listen(client, signal)
  const { id } = await client.spawn({ task: 'Configure the server', runner: 'asker', parent_session_id: `demo-${randomUUID()}` })
  const waiting = await hearing.first('subtask.waiting', id)
  const asked = await hearing.first('question.asked', id)
  const questionId = String(asked?.data.question_id)
  narrator.about('D', `waiting for: ${String(asked?.data.prompt)}`)
  const { status, worker_id } = await client.subtask(id)
  narrator.about('D', `GET /subtasks/{id}  ${status}, worker ${worker_id ?? 'none'}`)
  await client.answer(questionId, 8080)
  narrator.about('S', 'POST /questions/{id}/answer  8080')
  const ended = await client.wait(id)
  narrator.about('D', `${ended.status}: ${ended.result ?? ''}`)
  await hearing.stop()
  return [
    ...(waiting !== null && status === 'waiting' && worker_id === null ? [] : [`the run should have waited without a worker, and was ${status}`]),
    ...(ended.result?.includes('port 8080') === true ? [] : ['the run should have gone on with the answer']),
  ]
}
