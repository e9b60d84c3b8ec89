// Does what the metadata of its subtask say, one thing after the other: `acts` for every attempt, or `attempts[n - 1]` for each.
import { note, readBrief, say } from './lib.mjs'

const brief = await readBrief()
note('start', { text: brief.text, feedback: brief.feedback })
const { acts, attempts } = brief.metadata
for (const act of acts ?? attempts?.[brief.attempt - 1] ?? [{ result: `Done: ${brief.task}` }]) {
  if ('line' in act) process.stdout.write(`${act.line}\n`)
  else if ('bytes' in act) process.stdout.write(Buffer.from(act.bytes, 'base64'))
  else if ('long' in act) say({ type: 'result', result: 'é'.repeat(act.long) })
  else if ('result' in act) say({ type: 'result', ...act })
  else if ('output' in act) say({ type: 'output', name: act.output, value: act.value })
  else if ('blocked' in act) say({ type: 'blocked', reason: act.blocked })
  else if ('error' in act) say({ type: 'error', ...act })
  else if ('stderr' in act) process.stderr.write(act.stderr)
  else if ('exit' in act) process.exitCode = act.exit
  else if ('signal' in act) process.kill(process.pid, act.signal)
  else if ('sleep' in act) setTimeout(() => {}, 600_000)
}
