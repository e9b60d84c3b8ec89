// Takes updates while it works, and reports which ones it got, in their order: those of its brief first. Of a brief that was dispatched
// it delivers what it was asked to deliver by then.
import { outputsFor, reflectionOn, requiredIn, updateIdsIn } from '../src/load/outputs.ts'
import { listen, mark, say, sleep } from './speak.mjs'

process.on('SIGTERM', () => process.exit(1))
const NOTE = /^chaos-note (\S+)$/gm
const inBrief = []
const received = []
const delivered = { in_brief: [], received: [], revision: null }
let required = []
const { metadata } = await new Promise((resolve) =>
  listen((line) => {
    const text = String(line.text ?? '')
    const notes = [...text.matchAll(NOTE)].map(([, note]) => note)
    if (line.type === 'brief') {
      inBrief.push(...notes)
      delivered.in_brief = updateIdsIn(text)
      delivered.revision = line.revision
      required = line.required_outputs.map((output) => output.name)
      resolve(line)
    } else if (line.type === 'update') {
      received.push(...notes)
      delivered.received.push(line.update_id)
      required = requiredIn(text) ?? required
      say({ type: 'ack', update_id: line.update_id })
    }
  }),
)
for (let step = 1; step <= metadata.steps; step += 1) {
  say({ type: 'step', content: `step ${step}` })
  await sleep(metadata.step_ms)
}
say({ type: 'output', name: 'notes', value: { in_brief: inBrief, received } })
say({ type: 'output', name: 'delivered', value: delivered })
for (const [name, value] of Object.entries(outputsFor(required, mark()))) if (name !== 'notes') say({ type: 'output', name, value })
say({ type: 'result', result: `${mark()}\n${reflectionOn(process.env.MUSTER_SUBTASK_ID)}` })
process.exit(0)
