import { startGuard } from '../command/guard.ts'
import { claudeRunner } from './claude-code.ts'
import { createTestRun, SILENT_LOG } from './command.ts'

/** A worker in small, for tests that kill it: runs one task with the settings in its first argument, as JSON. */
const test = createTestRun({ requiredOutputs: [] })
process.stdout.write(`${test.run.brief.subtaskId}\n`)
await claudeRunner(JSON.parse(process.argv[2] as string), startGuard({ log: SILENT_LOG })).run(test.run)
