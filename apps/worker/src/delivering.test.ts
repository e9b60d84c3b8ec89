import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { createChannels } from '@muster/deliveries'
import { advanceClock, drainOutbox, type Harness, resetClock, type SlackServer, startHarness, startSlack } from '@muster/testing'
import { type Ctx, claimSubtask, completeLease, createSubtask, listDeliveries, updateProject } from '@muster/usecases'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Delivering, startDelivering } from './delivering.ts'

/*
 * Messages to Slack through the loop of a worker, against a server that keeps to the limits of Slack by the clock of the database.
 */
let harness: Harness
let ctx: Ctx
let slack: SlackServer
let delivering: Delivering

beforeEach(async () => {
  harness = await startHarness({
    settings: { SECRETS_KEYS: `one:${randomBytes(32).toString('base64')}`, OUTBOUND_ALLOW: '127.0.0.1', DELIVERY_RETRY_SECONDS: '10,100' },
  })
  const readMs = async () => (await harness.admin<{ ms: number }[]>`select extract(epoch from muster_now())::float8 * 1000 as ms`)[0]?.ms ?? 0
  slack = await startSlack(readMs)
  ctx = await harness.projectCtx()
  await updateProject(ctx, ctx.actor.projectId, { settings: { outbound_allow: ['127.0.0.1'], slack: { webhook_url: slack.url, on: ['completed'] } } })
  const deps = { ...harness.deps, channels: createChannels(harness.deps.settings) }
  const onError = (what: string) => (error: unknown) => deps.log.error({ err: error }, what)
  delivering = startDelivering(deps, onError, { isHeldNow: async () => false })
})
afterEach(async () => {
  await delivering.stop()
  await resetClock(harness.admin)
  await slack.close()
  await harness.close()
})

/** Subtasks that complete, in this order: people are told. */
async function complete(subtasks: readonly { task: string; result: string }[]): Promise<void> {
  for (const { task, result } of subtasks) {
    const { id } = await createSubtask(ctx, { task, runner: 'external' })
    const claimed = await claimSubtask(ctx, { workerId: 'outside', runner: 'external', leaseSeconds: 60 })
    await completeLease(ctx, id, { leaseToken: claimed?.lease.token ?? '', result })
  }
  await drainOutbox(harness.deps)
}

const stored = () =>
  harness.admin<{ status: string; rung: number }[]>`select status, rung from deliveries where project_id = ${ctx.actor.projectId} order by id`

/** Until no delivery is open. The clock moves on only while all that is open waits for a time. */
async function deliverAll(): Promise<void> {
  for (;;) {
    const [open] = await harness.admin<{ seconds: number | null }[]>`
      select extract(epoch from min(case when d.status = 'pending' then greatest(d.due_at, s.paused_until) else '-infinity' end) - muster_now())::float8 as seconds
      from deliveries d left join destinations s on s.id = d.destination_id where d.status in ('pending', 'sending')`
    if (open?.seconds == null) return
    if (open.seconds > 0) await advanceClock(harness.admin, `${open.seconds} seconds`)
    // What is being sent needs the processor and the database.
    else await delay(10)
    delivering.wake()
  }
}

const LONG = [
  '*bold* _italic_ ~struck~ `code` <!channel> <@U1> <https://example.com|link> & &amp; ',
  '😀',
  'x😀',
  '👩\u200D🚀',
  '> quoted\n\n```\nfence\n```\n',
  '"\\\u0007\u200B\uFEFF',
]

describe('Slack', () => {
  it('gets each of a hundred messages once and in their order, no request before the time that it named, and none of its refusals is an attempt', async () => {
    const subtasks = Array.from({ length: 100 }, (_, nth) => ({
      task: `No. ${nth} ${(LONG[nth % LONG.length] as string).repeat(1 + (nth % 3) * 40)}`,
      result: `${'x'.repeat(nth % 2)}${(LONG[nth % LONG.length] as string).repeat(1 + (nth % 5) * 900)}`,
    }))
    await complete(subtasks)
    await deliverAll()
    expect(slack.sent.map(({ blocks }) => Number(/No\. (\d+)/.exec(blocks[0]?.text.text ?? '')?.[1]))).toEqual(subtasks.map((_, nth) => nth))
    for (const { text, blocks } of slack.sent) {
      expect(text).not.toMatch(/<!channel>|<@U1>/)
      expect(blocks.map((block) => block.text.type)).toEqual(blocks.map(() => 'plain_text'))
    }
    expect(slack.refused).toBeGreaterThan(0)
    expect(slack.early).toBe(0)
    expect(await stored()).toEqual(subtasks.map(() => ({ status: 'delivered', rung: 1 })))
  }, 60_000)

  const attemptsOf = async () => {
    const { items } = await listDeliveries(ctx, null, { receiverKind: 'slack', limit: 10 })
    return items.map(({ status, attempts }) => [status, attempts.map((attempt) => `${attempt.status} ${attempt.response}`)])
  }
  const MESSAGE = { task: 'Count the files', result: 'There are 3.' }

  it.each([
    [400, 'invalid_blocks'],
    [404, 'no_service'],
  ])('that answers %s %s is tried again, and given up after the last attempt', async (status, text) => {
    slack.refuseNext(status, text, 3)
    await complete([MESSAGE])
    await deliverAll()
    expect(await attemptsOf()).toEqual([['failed', [`${status} ${text}`, `${status} ${text}`, `${status} ${text}`]]])
    expect(slack.sent).toEqual([])
  })

  it('that takes a message which it had refused gets it once', async () => {
    slack.refuseNext(404, 'no_service')
    await complete([MESSAGE])
    await deliverAll()
    expect(await attemptsOf()).toEqual([['delivered', ['404 no_service', '200 ok']]])
    expect(slack.sent).toHaveLength(1)
  })

  it('that answers 410 is not sent that message again, and gets the next one', async () => {
    slack.refuseNext(410, 'channel_is_archived')
    await complete([MESSAGE])
    await deliverAll()
    expect(await attemptsOf()).toEqual([['failed', ['410 channel_is_archived']]])
    await complete([{ ...MESSAGE, task: 'Count them again' }])
    await deliverAll()
    expect(slack.sent.map(({ blocks }) => blocks[0]?.text.text)).toEqual(['✅ Task completed: "Count them again"'])
  })
})
