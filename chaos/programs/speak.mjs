import { createInterface } from 'node:readline'

/** What the programs of this folder share: the brief comes in as a line, what they say goes out as lines. */
export function say(line) {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

/** Names the attempt that made a result, so that the checks know whose result was accepted. */
export function mark() {
  return `made-by ${process.env.MUSTER_SUBTASK_ID}#${process.env.MUSTER_ATTEMPT}`
}

/** Calls back with every line as it comes: the brief first, then updates. */
export function listen(onLine) {
  createInterface({ input: process.stdin }).on('line', (line) => onLine(JSON.parse(line)))
}

/** Resolves with the brief. */
export function readBrief() {
  return new Promise((resolve) => listen((line) => line.type === 'brief' && resolve(line)))
}

export function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
