// Runs until the test lets it go on, taking in every update meanwhile, and reports what it was told, with `long` characters more where the metadata say so.
import { existsSync } from 'node:fs'
import { note, readBrief, say } from './lib.mjs'

const { LEDGER, MUSTER_SUBTASK_ID, MUSTER_ATTEMPT } = process.env
const updates = []
const brief = await readBrief((update) => {
  updates.push(update.text)
  note('update', { update_id: update.update_id })
  say({ type: 'ack', update_id: update.update_id })
})
note('start', { text: brief.text })
say({ type: 'step', content: `Holding attempt ${MUSTER_ATTEMPT}.` })

const releases = [`${LEDGER}.release`, `${LEDGER}.release-${MUSTER_SUBTASK_ID}`, `${LEDGER}.release-${MUSTER_SUBTASK_ID}-${MUSTER_ATTEMPT}`]
const look = setInterval(() => {
  if (!releases.some((path) => existsSync(path))) return
  clearInterval(look)
  say({ type: 'result', result: `Held in attempt ${MUSTER_ATTEMPT}. Told: ${updates.join(' | ') || 'nothing'}${'é'.repeat(brief.metadata.long ?? 0)}` })
  note('end')
}, 10)
