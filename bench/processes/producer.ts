/** Produces jobs for the peers, from a process of its own as ours does. */
import { makeWorkerUtils } from 'graphile-worker'
import { PgBoss, type SendOptions } from 'pg-boss'
import { type Load, produceAtRate } from '../instrument/open-loop.ts'
import { serve, startInput } from '../instrument/serve.ts'

export interface Producing {
  agents: string[]
  data?: Record<string, unknown>
  /** Jobs of an agent one after the other, or as many at once as its worker allows. */
  isGrouped?: boolean
}

interface Producer {
  produce(producing: Producing, index: number): Promise<string>
  close(): Promise<void>
}

const input = startInput<{ url: string; kind: 'pg-boss' | 'graphile-worker'; queue: string }>()
const producer = input.kind === 'pg-boss' ? await openPgBoss() : await openGraphile()

async function openPgBoss(): Promise<Producer> {
  const boss = new PgBoss({ connectionString: input.url, supervise: false, schedule: false, migrate: false, createSchema: false })
  boss.on('error', (error) => console.error(error))
  await boss.start()
  return {
    async produce({ agents, data, isGrouped }, index) {
      const agent = agents[index % agents.length] as string
      const options: SendOptions = isGrouped === true ? { group: { id: agent } } : {}
      return (await boss.send(input.queue, { ...data, agent }, options)) as string
    },
    close: () => boss.stop({ graceful: false }),
  }
}

async function openGraphile(): Promise<Producer> {
  const utils = await makeWorkerUtils({ connectionString: input.url })
  return {
    async produce({ agents, data, isGrouped }, index) {
      const agent = agents[index % agents.length] as string
      return (await utils.addJob('noop', { ...data, agent }, isGrouped === true ? { queueName: agent } : {})).id
    },
    close: async () => void (await utils.release()),
  }
}

serve(
  {
    load: ({ perSecond, seconds, ...producing }: Producing & { perSecond: number; seconds: number }): Promise<Load> =>
      produceAtRate(perSecond, seconds, (index) => producer.produce(producing, index)),
    async spawn({ count, ...producing }: Producing & { count: number }): Promise<string[]> {
      const ids: string[] = []
      for (let index = 0; index < count; index += 1) ids.push(await producer.produce(producing, index))
      return ids
    },
  },
  () => producer.close(),
)
