import type { Database } from '@muster/db'
import { claimOne, drain, type Harness, spawn, startHarness } from '@muster/testing'
import { type CheckpointAnswer, getSubtask, listSteps, steerSubtask } from '@muster/usecases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { WorkerDeps } from './deps.ts'
import { RunJournal } from './run-journal.ts'

let harness: Harness
beforeAll(async () => {
  harness = await startHarness()
})
afterAll(() => harness.close())

/** A database that commits and then hangs up, a number of times: the answer to COMMIT is lost. */
function losingAnswers(db: Database, times: number): Database {
  let left = times
  const sql = new Proxy(db.sql, {
    get(target, property, receiver) {
      if (property !== 'begin') return Reflect.get(target, property, receiver)
      return async (options: string, work: Parameters<typeof target.begin>[1]) => {
        const value = await target.begin(options, work)
        left -= 1
        if (left >= 0) throw Object.assign(new Error('cut'), { code: 'CONNECTION_CLOSED' })
        return value
      }
    },
  })
  return { ...db, sql }
}

describe('a checkpoint whose answer was lost', () => {
  it('is stored once, and what it brought back is not lost', async () => {
    await spawn(harness.ctx)
    const run = await claimOne(harness.ctx)
    await steerSubtask(harness.ctx, run.id, { content: 'look here', delivery: 'next_step', steerable: () => true })
    const answers: CheckpointAnswer[] = []
    const deps = { ...harness.deps, db: losingAnswers(harness.deps.db, 2), workerId: 'w' } as unknown as WorkerDeps
    const journal = new RunJournal(deps, run, { takesUpdates: true, onAnswer: (answer) => answers.push(answer), onLost: () => expect.unreachable() })

    journal.step({ kind: 'message', content: 'first' })
    journal.usage({ inputTokens: 7 })
    const left = await journal.close()
    journal.step({ kind: 'message', content: 'second' })
    await journal.close()

    expect(left.inputTokens).toBe(0)
    expect((await listSteps(harness.ctx, run.id, { limit: 10 })).items.map((step) => step.content)).toEqual(['first', 'second'])
    expect((await getSubtask(harness.ctx, run.id)).usage).toMatchObject({ inputTokens: 7, steps: 2 })
    expect(answers.flatMap((answer) => answer.updates.map((update) => update.content))).toEqual(['look here'])
    await drain(harness.ctx)
  })
})
