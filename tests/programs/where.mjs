// Leaves a file in its folder, and tells where it was started.
import { writeFileSync } from 'node:fs'
import { readBrief, say } from './lib.mjs'

const brief = await readBrief()
writeFileSync('left-here', brief.subtask_id)
const found = { cwd: process.cwd(), variable: process.env.MUSTER_WORKSPACE, workspace: brief.workspace, text: brief.text }
say({ type: 'result', result: JSON.stringify(found) })
