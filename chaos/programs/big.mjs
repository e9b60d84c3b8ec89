// More than is kept of a result, and a long transcript.
import { mark, readBrief, say } from './speak.mjs'

const { metadata } = await readBrief()
for (let step = 1; step <= 300; step += 1) say({ type: 'step', kind: 'tool_result', content: { step, text: 'x'.repeat(500) } })
say({ type: 'result', result: `${mark()}\n${'0123456789abcdef'.repeat(metadata.kib * 64)}` })
