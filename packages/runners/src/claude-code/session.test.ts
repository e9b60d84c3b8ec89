import { PassThrough } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, vi } from 'vitest'
import { createBudgetMeter } from '../ai/budget.ts'
import { createRedact } from '../ai/redact.ts'
import { createStepLog } from '../ai/step-log.ts'
import { Approvals } from '../approvals.ts'
import { createTestRun } from '../testing/command.ts'
import { Session } from './session.ts'
import { NO_SESSION_USAGE } from './usage.ts'

/** A program that reads its input and does nothing: what it is told is in `told`. */
function silentProgram() {
  const stdin = new PassThrough()
  const told: { type: string; uuid?: string; request?: { subtype: string } }[] = []
  stdin.on('data', (chunk: Buffer) => {
    for (const line of chunk.toString().split('\n').filter(Boolean)) told.push(JSON.parse(line))
  })
  return { program: { stdin, end: () => {} }, told }
}

it('breaks off again what began before an update that is not to wait, and no more once a turn has begun with it', async () => {
  using test = createTestRun()
  const { program, told } = silentProgram()
  const redact = createRedact({}, { API_KEY: 'a background subtask' })
  const session = new Session({
    run: test.run,
    program,
    meter: createBudgetMeter(test.run.budget, null, null),
    rules: { ask: [] },
    log: createStepLog(test.run, redact),
    approvals: new Approvals([], redact, []),
    session: { isResumed: false, used: NO_SESSION_USAGE },
  })
  const interrupts = () => told.filter(({ request }) => request?.subtype === 'interrupt').length
  session.begin()
  expect(test.prompts).toEqual([{ system: 'You are [API_KEY removed]. Task: count to three.', message: 'count to three', isContinued: false }])
  test.update('go the other way', 'update-1', 'interrupt')

  await vi.waitFor(() => expect(interrupts()).toBe(2), { timeout: 5_000 })
  const update = told.filter(({ type }) => type === 'user').at(-1)
  session.take(JSON.stringify({ type: 'command_lifecycle', command_uuid: update?.uuid, state: 'started' }))
  expect(test.delivered).toEqual(['update-1'])
  await sleep(1_200)
  expect(interrupts()).toBe(2)
  session.close()
})
