import { startGuard } from '../command/guard.ts'
import { createTestRun, SILENT_LOG } from '../command/testing.ts'
import { claudeRunner } from './testing.ts'

/** A worker in small, for tests that kill it: runs one task of the program over the models at the address in its first argument. */
const test = createTestRun({ requiredOutputs: [] })
process.stdout.write(`${test.run.brief.subtaskId}\n`)
await claudeRunner(process.argv[2] as string, startGuard({ log: SILENT_LOG })).run(test.run)
