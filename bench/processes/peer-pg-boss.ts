/** Workers of raw pg-boss, as its documentation has them: `work()` with a handler. */
import { PgBoss, type WorkOptions } from 'pg-boss'
import type { Workers } from '../contenders/contender.ts'
import { Recorder } from '../instrument/recorder.ts'
import { serve, startInput } from '../instrument/serve.ts'

export interface PgBossWorkers extends Workers {
  url: string
  queue: string
  useListenNotify: boolean
  work: WorkOptions
  /** Seconds between two looks of its supervision. */
  superviseSeconds?: number
  connectionsMax?: number
}

interface JobData {
  agent?: string
  fails_first?: boolean
}

const input = startInput<PgBossWorkers>()
const recorder = new Recorder()
const boss = new PgBoss({
  connectionString: input.url,
  useListenNotify: input.useListenNotify,
  schedule: false,
  migrate: false,
  createSchema: false,
  ...(input.connectionsMax === undefined ? {} : { max: input.connectionsMax }),
  ...(input.superviseSeconds === undefined
    ? {}
    : { superviseIntervalSeconds: input.superviseSeconds, monitorIntervalSeconds: input.superviseSeconds, queueCacheIntervalSeconds: input.superviseSeconds }),
})
boss.on('error', (error) => console.error(error))
boss.on('warning', () => {})
await boss.start()
await boss.work<JobData, void>(input.queue, { ...input.work, localConcurrency: input.capacity }, async ([job]) => {
  if (job === undefined) return
  await recorder.run({ id: job.id, agent: job.data.agent ?? '', attempt: job.retryCount + 1 }, input.runMs, job.signal)
  if (job.data.fails_first === true && job.retryCount === 0) throw new Error('The first attempt fails.')
})

serve(recorder.methods, () => boss.stop({ graceful: false }))
