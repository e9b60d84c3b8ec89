// Works in steps for as long as its subtask says, and gives up at once when it is asked to.
import { mark, readBrief, say, sleep } from './speak.mjs'

process.on('SIGTERM', () => process.exit(1))
const { metadata } = await readBrief()
for (let step = 1; step <= metadata.steps; step += 1) {
  say({ type: 'step', content: `step ${step}` })
  say({ type: 'usage', input_tokens: 10, output_tokens: 1, tool_calls: 1 })
  await sleep(metadata.step_ms)
}
say({ type: 'result', result: mark(), summary: `${metadata.steps} steps` })
process.exit(0)
