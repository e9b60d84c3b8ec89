import type { Database } from '@muster/db'
import { claimOne, drain, type Harness, spawn, startHarness } from '@muster/testing'
import { type CheckpointAnswer, getSubtask, listPrompts, listSteps, listUpdates, steerSubtask } from '@muster/usecases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { WorkerDeps } from './deps.ts'
import { RunJournal } from './run-journal.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

/** A database that commits and then hangs up, a number of times: the answer to COMMIT is lost. */
function losingAnswers(db: Database, times: number): Database & { lost(): number } {
  let lost = 0
  const loseCommit = (connection: Awaited<ReturnType<typeof db.sql.reserve>>) =>
    new Proxy(connection, {
      get(target, property, receiver) {
        if (property !== 'unsafe') return Reflect.get(target, property, receiver)
        return (text: string, ...rest: never[]) => {
          const answer = target.unsafe(text, ...rest)
          if (text !== 'commit' || lost === times) return answer
          lost += 1
          return answer.then(() => Promise.reject(Object.assign(new Error('cut'), { code: 'CONNECTION_CLOSED' })))
        }
      },
    })
  const sql = new Proxy(db.sql, {
    get(target, property, receiver) {
      return property === 'reserve' ? async () => loseCommit(await target.reserve()) : Reflect.get(target, property, receiver)
    },
  })
  return { ...db, sql, lost: () => lost }
}

describe('a checkpoint whose answer was lost', () => {
  it('is stored once, and what it brought back is not lost', async () => {
    await spawn(harness.ctx)
    const run = await claimOne(harness.ctx)
    await steerSubtask(harness.ctx, run.id, { content: 'look here', delivery: 'next_step', steerable: () => true })
    const answers: CheckpointAnswer[] = []
    const db = losingAnswers(harness.deps.db, 2)
    const deps = { ...harness.deps, db, workerId: 'w' } as unknown as WorkerDeps
    const journal = new RunJournal(deps, run, { takesUpdates: true, onAnswer: (answer) => answers.push(answer), onLost: () => expect.unreachable() })

    journal.prompt({ system: 'S'.repeat(300_000), message: 'do it', isContinued: false })
    journal.step({ kind: 'message', content: 'first' })
    journal.usage({ inputTokens: 7 })
    await journal.fetch()
    const left = await journal.close()
    journal.step({ kind: 'message', content: 'second' })
    await journal.close()

    expect(db.lost()).toBe(2)
    expect(left.inputTokens).toBe(0)
    expect((await listSteps(harness.ctx, run.id, { limit: 10 })).items.map((step) => step.content)).toEqual(['first', 'second'])
    expect((await listPrompts(harness.ctx, run.id, { limit: 10 })).items).toMatchObject([
      { attempt: 1, system: 'S'.repeat(262_144), message: 'do it', isContinued: false, isCut: true },
    ])
    expect((await getSubtask(harness.ctx, run.id)).usage).toMatchObject({ inputTokens: 7, steps: 2 })
    expect(answers.flatMap((answer) => answer.updates.map((update) => update.content))).toEqual(['look here'])
    await drain(harness.ctx)
  })
})

describe('a journal that is asked for updates', () => {
  it('answers with what was sent before the call, without waiting for more to store', async () => {
    await spawn(harness.ctx)
    const run = await claimOne(harness.ctx)
    const contents: string[] = []
    const deps = { ...harness.deps, workerId: 'w' } as unknown as WorkerDeps
    const onAnswer = ({ updates }: CheckpointAnswer) => void contents.push(...updates.map(({ content }) => content))
    const journal = new RunJournal(deps, run, { takesUpdates: true, onAnswer, onLost: () => expect.unreachable() })
    const steer = (content: string) => steerSubtask(harness.ctx, run.id, { content, delivery: 'next_step', steerable: () => true })
    for (const content of ['first', 'second', 'third']) {
      journal.step({ kind: 'message', content })
      await steer(content)
      await journal.fetch()
      expect(contents.at(-1)).toBe(content)
    }
    journal.step({ kind: 'message', content: 'last' })
    await steer('too late')
    await journal.close()
    expect(contents).not.toContain('too late')
    const states = (await listUpdates(harness.ctx, run.id, { limit: 10 })).items.map(({ status }) => status)
    expect(states).toEqual(['delivered', 'delivered', 'delivered', 'queued'])
    await drain(harness.ctx)
  })
})
