// Asks its parent, waits for the answer without a process, and delivers the answer as its result. Hangs in the attempts that the metadata list in `hangs`.
import { existsSync, writeFileSync } from 'node:fs'
import { note, readBrief, say } from './lib.mjs'

const { MUSTER_URL, MUSTER_TOKEN } = process.env
const brief = await readBrief()
note('start', { text: brief.text, continuation: brief.continuation })
if (brief.metadata.hangs?.includes(brief.attempt)) setTimeout(() => {}, 600_000)
else if ((brief.continuation?.state.split('+').length ?? 0) < (brief.metadata.questions ?? 1)) {
  const answer = await fetch(`${MUSTER_URL}/subtasks/${brief.subtask_id}/questions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${MUSTER_TOKEN}`, 'content-type': 'application/json' },
    body: JSON.stringify({ prompt: 'Which colour?', ...brief.metadata.question }),
  })
  if (answer.status !== 201) throw new Error(`asked, and was answered ${answer.status}`)
  const { question_id } = await answer.json()
  if (brief.continuation !== null && !existsSync('walls.txt')) throw new Error('the files of the attempt before the wait are gone')
  writeFileSync('walls.txt', 'done')
  say({ type: 'step', content: 'I have asked.' })
  say({ type: 'waiting', question_id, continuation: [...(brief.continuation?.state.split('+') ?? []), 'the walls are done'].join('+') })
  process.exit(0)
} else {
  if (!existsSync('walls.txt')) throw new Error('the files of the attempt before the wait are gone')
  say({ type: 'result', result: `After ${brief.continuation.state}: ${brief.continuation.updates}` })
  process.exit(0)
}
