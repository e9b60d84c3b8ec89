// Asks its parent, and waits for the answer without a process, as often as its subtask says. Delivers the answers that it got.
import { mark, readBrief, say, sleep } from './speak.mjs'

process.on('SIGTERM', () => process.exit(1))
const ANSWER = /^Answer: chaos-answer (\S+)$/gm
const { ASK_URLS, MUSTER_TOKEN, MUSTER_SUBTASK_ID: id, MUSTER_ATTEMPT: attempt } = process.env
const { metadata, text, continuation } = await readBrief()
const asked = continuation === null ? 0 : JSON.parse(continuation.state).asked

/** The id of a new question; null if this attempt may not ask any more. */
async function ask() {
  const body = JSON.stringify({
    prompt: `chaos-question ${asked + 1} of ${metadata.chaos}`,
    expires_in_seconds: metadata.expires,
    on_expiry: metadata.on_expiry,
  })
  const headers = { authorization: `Bearer ${MUSTER_TOKEN}`, 'content-type': 'application/json', 'idempotency-key': `ask-${id}-${attempt}` }
  for (;;) {
    for (const url of ASK_URLS.split(',')) {
      const answer = await fetch(`${url}/subtasks/${id}/questions`, { method: 'POST', headers, body, signal: AbortSignal.timeout(5_000) }).catch(() => null)
      if (answer?.status === 201) return (await answer.json().catch(() => null))?.question_id ?? null
      if (answer !== null && answer.status < 500 && answer.status !== 429) {
        const { code } = await answer.json().catch(() => ({}))
        if (code !== 'request_in_progress') return null
      }
      await sleep(200)
    }
  }
}

if (asked < metadata.questions) {
  const questionId = await ask()
  if (questionId === null) say({ type: 'error', error: 'on purpose: may not ask', retryable: true })
  else {
    await sleep(metadata.step_ms)
    say({ type: 'waiting', question_id: questionId, continuation: JSON.stringify({ asked: asked + 1 }) })
  }
} else {
  say({ type: 'output', name: 'answers', value: [...text.matchAll(ANSWER)].map(([, nonce]) => nonce) })
  say({ type: 'result', result: mark() })
}
process.exit(0)
