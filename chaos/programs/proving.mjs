// A check: notes its beginning and its end in the ledger of checks, and passes or fails by the id of its check.
import { appendFileSync } from 'node:fs'
import { doesPass } from '../src/load/outputs.ts'

const { CHECK_LEDGER, MUSTER_CHECK_ID: id, MUSTER_CHECK_TRY: number } = process.env
const note = (what) => appendFileSync(CHECK_LEDGER, `${JSON.stringify({ id, tries: Number(number), what })}\n`)
note('begin')
await new Promise((resolve) => setTimeout(resolve, Number.parseInt(id.slice(-3), 16) % 1_500))
note('end')
process.exit(doesPass(id) ? 0 : 3)
