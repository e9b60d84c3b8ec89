import { advanceClock } from '@muster/testing'
import { claimSubtask, createSubtask, failLease } from '@muster/usecases'
import type { System } from './system.ts'
import { until } from './until.ts'

/** Gives the project of the system these channels and no others. They may be on loopback. */
export async function configureChannels({ client, ctx }: System, channels: object): Promise<void> {
  await client.ok('PATCH', `/projects/${ctx.actor.projectId}`, { body: { settings: { outbound_allow: ['127.0.0.1'], ...channels } } })
}

/** Kills the worker that was started last. */
export const killWorker = ({ workers }: System) => workers.at(-1)?.child.end('SIGKILL')

/** Subtasks that fail, each once: people are told. */
export async function fail({ ctx }: System, tasks: readonly string[]): Promise<void> {
  for (const task of tasks) {
    const { id } = await createSubtask(ctx, { task, runner: 'external', agentId: ctx.newId() })
    const claimed = await claimSubtask(ctx, { workerId: 'outside', runner: 'external', leaseSeconds: 60 })
    await failLease(ctx, id, { leaseToken: claimed?.lease.token ?? '', error: 'It broke.', retryable: false })
  }
}

/** The clock runs faster until something is true: leases of a worker that is dead end. */
export async function hurry({ admin }: System, what: string, isTrue: () => boolean): Promise<void> {
  await until(what, async () => {
    await advanceClock(admin, '1 second')
    return isTrue()
  })
}

/** Deliveries that have not ended. */
export const openDeliveries = ({ admin }: System) => admin`select from deliveries where status in ('pending', 'sending')`
