import { advanceClock } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type System, startSystem } from './harness/system.ts'
import type { Injection, Problem, Task } from './harness/wire.ts'

let system: System

beforeAll(async () => {
  system = await startSystem({ apis: 2, workers: 0 })
})
afterAll(() => system.close())

/** A brief that a session was given, and has not been told of. */
async function assign(session: string): Promise<Task> {
  const { id } = await system.client.createTask({ title: 'Count the files', instructions: 'Count the files of this folder, and of those below.' })
  return (await system.client.ok<{ task: Task }>('POST', `/tasks/${id}/assign`, { body: { subagent_session_id: session } })).task
}

/** Every API process dies without a word, and another takes the place of the first. */
async function restartApis(): Promise<void> {
  await Promise.all(system.apis.map(({ child }) => child.end('SIGKILL')))
  await system.startApi()
}

const acknowledge = (session: string, { claim_id }: Injection) => system.client.call<Problem>('POST', `/sessions/${session}/injections/${claim_id}/ack`)
const kinds = ({ items }: Injection) => items.map(({ kind }) => kind)

const withoutFences = (text: string) => text.replaceAll(/content-[0-9a-f]{12}x*/g, 'content')

describe('an injection to be acknowledged', () => {
  it('comes again after its minute, whatever became of the API, until it is; then never', async () => {
    const task = await assign('careful')
    const lost = await system.client.inject('careful', 'manual')
    expect(kinds(lost)).toEqual(['assignment'])
    await restartApis()

    // Whoever took it may still have it.
    expect(await system.client.inject('careful', 'manual')).toMatchObject({ text: '', items: [] })
    await advanceClock(system.admin, '61 seconds')
    const again = await system.client.inject('careful', 'manual')
    const ids = ({ items }: typeof lost) => items.map(({ id }) => id)
    expect(ids(again)).toEqual(ids(lost))
    // The same words, in a block with a name of this delivery.
    expect(withoutFences(again.text)).toBe(withoutFences(lost.text))
    expect(again.text).not.toBe(lost.text)
    expect((await acknowledge('careful', lost)).body).toMatchObject({ status: 409, code: 'conflict' })
    expect((await acknowledge('careful', again)).status).toBe(204)
    await restartApis()

    await advanceClock(system.admin, '61 seconds')
    expect(await system.client.inject('careful', 'manual')).toMatchObject({ text: '', items: [] })
    expect((await acknowledge('careful', again)).status).toBe(204)
    expect(await system.client.task(task.id)).toMatchObject({ status: 'in_progress' })
  })

  it('holds back what comes later, also across a restart, so that nothing overtakes it', async () => {
    const task = await assign('in order')
    expect((await acknowledge('in order', await system.client.inject('in order', 'manual'))).status).toBe(204)
    const send = (content: string) => system.client.ok<{ update_id: string }>('POST', `/tasks/${task.id}/updates`, { body: { content } })
    const first = await send('first')
    const held = await system.client.inject('in order', 'manual')
    const second = await send('second')
    await restartApis()

    expect((await system.client.inject('in order')).items).toEqual([])
    expect((await acknowledge('in order', held)).status).toBe(204)
    expect(held.items.map((item) => item.update_id)).toEqual([first.update_id])
    expect((await system.client.inject('in order')).items.map((item) => item.update_id)).toEqual([second.update_id])
    expect((await system.client.taskUpdates(task.id)).map(({ status, delivered_to }) => [status, delivered_to])).toEqual([
      ['delivered', 'in order'],
      ['delivered', 'in order'],
    ])
  })
})

describe('two changes of one revision, at two APIs at once', () => {
  it('are one that counts, and one that is told the revision to look at', async () => {
    await system.startApi()
    const clients = system.apis.filter(({ child }) => !child.hasExited).map(({ client }) => client)
    expect(clients).toHaveLength(2)
    const task = await assign('torn')
    for (let revision = 1; revision <= 10; revision += 1) {
      const answers = await Promise.all(
        clients.map((client, nth) => client.revise(task.id, revision, { instructions: `Count them, as ${nth} said after ${revision}.` })),
      )
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 412])
      const [won, lost] = answers[0]?.status === 200 ? answers : answers.toReversed()
      expect(won?.body).toMatchObject({ revision: revision + 1 })
      expect(won?.headers.get('etag')).toBe(`"${revision + 1}"`)
      expect(lost?.body).toMatchObject({ code: 'revision_stale', revision: revision + 1 })
    }
    const { items } = await system.client.ok<{ items: { revision: number }[] }>('GET', `/tasks/${task.id}/revisions`)
    expect(items.map(({ revision }) => revision)).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1])
  })
})
