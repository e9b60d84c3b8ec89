import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const { MUSTER_SUBTASK_ID: subtaskId, MUSTER_ATTEMPT: attempt, LEDGER: ledger } = process.env

/** Tells the test what happens, past Muster. */
export function note(event, more = {}) {
  appendFileSync(
    ledger,
    `${JSON.stringify({ subtask_id: subtaskId, attempt: Number(attempt), event, pid: process.pid, traceparent: process.env.TRACEPARENT, ...more })}\n`,
  )
}

/** Tells Muster something. */
export function say(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

/** Reads the brief; `onUpdate` hears of every update after it. */
export function readBrief(onUpdate = () => {}) {
  return new Promise((resolve) => {
    createInterface({ input: process.stdin }).on('line', (line) => {
      const message = JSON.parse(line)
      if (message.type === 'brief') resolve(message)
      else onUpdate(message)
    })
  })
}
