import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Harness, invariants, startHarness } from './index.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

it('name deliveries that are there twice, and those that count as delivered without an answer', async () => {
  const { admin, ctx, deps } = harness
  const receiver = deps.newId()
  for (const status of [200, 500]) {
    const attempts = JSON.stringify([{ status }])
    await admin`
      insert into deliveries (project_id, id, receiver_id, kind, destination_id, event_seq, type, is_ordered, body, status, attempts, give_up_at, ended_at)
      values (${ctx.actor.projectId}, ${deps.newId()}, ${receiver}, 'webhook', ${receiver}, 1, 'task.created', false, '{}', 'delivered', ${attempts}::text::jsonb, now(), now())`
  }
  expect(await invariants(admin)).toEqual([
    expect.stringContaining(`at most one delivery of an event: broken 1 times, by receiver ${receiver} has 2 of event 1`),
    expect.stringContaining('was answered with 2xx: broken 1 times'),
  ])
  await admin`delete from deliveries`
})

it('name an end that a callback was not sent', async () => {
  const { admin, ctx, deps } = harness
  const [subject, receiver] = [deps.newId(), deps.newId()]
  const { projectId } = ctx.actor
  await admin`
    insert into receivers (project_id, id, kind, destination_id, url, events, subject_id)
    values (${projectId}, ${receiver}, 'callback', ${receiver}, 'https://example.com', '{task.completed}', ${subject})`
  await admin`
    insert into events (project_id, seq, type, subject_kind, subject_id, data, actor_kind, actor_id, at)
    values (${projectId}, 1, 'task.completed', 'task', ${subject}, '{}', 'system', 'test', now() + interval '1 second')`
  expect((await invariants(admin)).filter((each) => each.includes('with a callback'))).toEqual([expect.stringContaining(`task.completed of ${subject}`)])
  await admin`delete from events`
  await admin`delete from receivers`
})
