/** A graphile-worker with its own defaults but for the number of jobs at once. */
import { Logger, run } from 'graphile-worker'
import type { Workers } from '../contenders/contender.ts'
import { Recorder } from '../instrument/recorder.ts'
import { serve, startInput } from '../instrument/serve.ts'

const input = startInput<Workers & { url: string }>()
const recorder = new Recorder()
const runner = await run({
  connectionString: input.url,
  concurrency: input.capacity,
  noHandleSignals: true,
  // Silent: it logs each job otherwise, which costs it more than the job.
  logger: new Logger(() => () => {}),
  taskList: {
    noop: async (payload, { job, abortSignal }) => {
      const agent = (payload as { agent?: string }).agent ?? ''
      await recorder.run({ id: job.id, agent, attempt: job.attempts }, input.runMs, abortSignal ?? new AbortController().signal)
    },
  },
})

serve(recorder.methods, () => runner.stop())
