// Takes updates while it works, and reports which ones it got, in their order: those of its brief first.
import { listen, mark, say, sleep } from './speak.mjs'

process.on('SIGTERM', () => process.exit(1))
const NOTE = /^chaos-note (\S+)$/gm
const inBrief = []
const received = []
const { metadata } = await new Promise((resolve) =>
  listen((line) => {
    const notes = [...String(line.text ?? '').matchAll(NOTE)].map(([, note]) => note)
    if (line.type === 'brief') {
      inBrief.push(...notes)
      resolve(line)
    } else if (line.type === 'update') {
      received.push(...notes)
      say({ type: 'ack', update_id: line.update_id })
    }
  }),
)
for (let step = 1; step <= metadata.steps; step += 1) {
  say({ type: 'step', content: `step ${step}` })
  await sleep(metadata.step_ms)
}
say({ type: 'output', name: 'notes', value: { in_brief: inBrief, received } })
say({ type: 'result', result: mark() })
process.exit(0)
