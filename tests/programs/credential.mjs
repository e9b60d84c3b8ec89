// Tries what its own credential opens: everything that the test lists as [method, path, body].
import { note, readBrief, say } from './lib.mjs'

const { MUSTER_URL, MUSTER_TOKEN } = process.env
const brief = await readBrief()
const answers = []
for (const [method, path, body] of brief.metadata.calls) {
  const answer = await fetch(new URL(path.replaceAll('{own}', brief.subtask_id), MUSTER_URL), {
    method,
    headers: { authorization: `Bearer ${MUSTER_TOKEN}`, ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  // A stream is open as soon as it has answered; what it says does not matter here.
  const isStream = answer.headers.get('content-type')?.startsWith('text/event-stream')
  const text = isStream ? '' : await answer.text()
  if (isStream) await answer.body.cancel()
  answers.push({ call: `${method} ${path}`, status: answer.status, body: text.startsWith('{') ? JSON.parse(text) : text })
}
note('token', { token: MUSTER_TOKEN, environment: Object.keys(process.env).sort() })
say({ type: 'result', result: JSON.stringify(answers) })
process.exit(0)
