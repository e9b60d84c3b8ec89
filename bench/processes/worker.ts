/**
 * A worker as `apps/worker` starts it, but with a runner that does nothing, or nothing for a while. That runner exists here only.
 */
import { parseProcessSettings } from '@muster/domain'
import { startTracing, wantsTracing } from '@muster/jobs'
import type { Run, Runner, RunOutcome } from '@muster/runners'
import { startWorker } from '@muster/worker'
import { createDeps } from '@muster/worker/deps'
import pino from 'pino'
import type { Workers } from '../contenders/contender.ts'
import { Recorder } from '../instrument/recorder.ts'
import { serve, startInput } from '../instrument/serve.ts'

const RESULT = 'Measured. Nothing had to be done, and it was done in time: 42 rows were read, none was changed, all checks passed.'

const { runMs } = startInput<Workers>()
const recorder = new Recorder()

/** What a subtask asks for in its metadata; absent: as the process was started. */
interface Wish {
  /** Null: until it is asked to stop. */
  run_ms?: number | null
  fails_first?: boolean
}

const runner: Runner = {
  name: 'noop',
  steerable: false,
  usesWorkspace: false,
  followsDefinitions: true,
  async run({ brief, signal }: Run): Promise<RunOutcome> {
    const wish = brief.metadata as Wish
    await recorder.run({ id: brief.subtaskId, agent: brief.agentId, attempt: brief.attempt }, wish.run_ms === undefined ? runMs : wish.run_ms, signal)
    if (signal.aborted) return { kind: 'stopped' }
    if (wish.fails_first === true && brief.attempt === 1) return { kind: 'errored', error: 'The first attempt fails.', retryable: true }
    return { kind: 'completed', result: RESULT }
  },
}

const settings = parseProcessSettings(process.env)
const log = pino({ level: settings.LOG_LEVEL, base: { process: 'worker' } }, pino.destination({ sync: false }))
const tracing = wantsTracing(process.env) ? await startTracing('muster-worker', process.env) : undefined
const deps = createDeps({ settings, environment: process.env, log, runners: new Map([[runner.name, runner]]), ...(tracing && { tracing }) })
const worker = await startWorker(deps)

serve(recorder.methods, async () => {
  await worker.stop()
  await tracing?.close()
})
