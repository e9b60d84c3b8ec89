// Delivers what its metadata say for the round of its chain that it is, as its brief tells which that is; waits before, where they say so.
import { existsSync } from 'node:fs'
import { note, readBrief, say } from './lib.mjs'

const { LEDGER, MUSTER_SUBTASK_ID } = process.env
const brief = await readBrief()
const round = brief.text.split('[Task Update: Revision Requested]').length - 1
const { results, waits = false } = brief.metadata
note('start', { round, text: brief.text })

const deliver = () => say({ type: 'result', result: results[round] ?? 'There is no such round.' })
if (!waits) deliver()
else {
  const look = setInterval(() => {
    if (!existsSync(`${LEDGER}.release-${MUSTER_SUBTASK_ID}`)) return
    clearInterval(look)
    deliver()
  }, 10)
}
