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
  const told: { type: string; uuid?: string; message?: { content: string }; request?: { subtype: string } }[] = []
  stdin.on('data', (chunk: Buffer) => {
    for (const line of chunk.toString().split('\n').filter(Boolean)) told.push(JSON.parse(line))
  })
  return { program: { stdin, end: () => {} }, told }
}

/** A session that has begun, with such a program. */
function startSession() {
  const test = createTestRun()
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
  session.begin()
  return {
    test,
    session,
    interrupts: () => told.filter(({ request }) => request?.subtype === 'interrupt').length,
    /** The messages to the model, the task first. */
    messages: () => told.filter(({ type }) => type === 'user').map(({ uuid, message }) => ({ uuid, text: message?.content ?? '' })),
    says: (message: object) => session.take(JSON.stringify(message)),
    [Symbol.dispose]() {
      session.close()
      test[Symbol.dispose]()
    },
  }
}

const started = (uuid: string | undefined) => ({ type: 'command_lifecycle', command_uuid: uuid, state: 'started' })
const brokenOff = (...uuids: (string | undefined)[]) => ({
  type: 'result',
  subtype: 'error_during_execution',
  is_error: true,
  terminal_reason: 'aborted_streaming',
  user_message_uuids: uuids,
})
const succeeded = (...uuids: (string | undefined)[]) => ({ type: 'result', subtype: 'success', is_error: false, result: 'Done.', user_message_uuids: uuids })
const CALL = { type: 'stream_event', event: { type: 'message_start' } }

it('breaks off again what began before an update that is not to wait, and no more once a turn has begun with it', async () => {
  using begun = startSession()
  const { test, says, interrupts, messages } = begun
  expect(test.prompts).toEqual([{ system: 'You are [API_KEY removed]. Task: count to three.', message: 'count to three', isContinued: false }])
  test.update('go the other way', 'update-1', 'interrupt')

  await vi.waitFor(() => expect(interrupts()).toBe(2), { timeout: 5_000 })
  says(started(messages()[1]?.uuid))
  await sleep(1_200)
  expect(interrupts()).toBe(2)
  // Only a call that was answered has contained it: the run may end before.
  expect(test.delivered).toEqual([])
  says(CALL)
  expect([test.delivered, test.acknowledged]).toEqual([['update-1'], ['update-1']])
})

it('sends an update again whose own turn was broken off, because an interrupt for it was repeated as the turn began', async () => {
  using begun = startSession()
  const { test, session, says, interrupts, messages } = begun
  test.update('go left', 'update-1', 'interrupt')
  await vi.waitFor(() => expect(interrupts()).toBe(2), { timeout: 5_000 })
  const [task, left] = messages()
  says(brokenOff(task?.uuid))
  says(started(left?.uuid))
  says(brokenOff(left?.uuid))
  expect(test.acknowledged).toEqual([])

  await vi.waitFor(() => expect(messages()).toHaveLength(3))
  const again = messages()[2]
  expect(again?.text).toBe(left?.text)
  says(started(again?.uuid))
  says(CALL)
  says(succeeded(again?.uuid))
  expect(test.acknowledged).toEqual(['update-1'])
  expect(session.result).toMatchObject({ result: 'Done.' })
  expect(interrupts()).toBe(2)
})

it('sends what the model has not seen again, in its order and before the end, where the next update broke it off', async () => {
  using begun = startSession()
  const { test, says, messages } = begun
  for (const [text, id] of [
    ['go left', 'update-1'],
    ['then right', 'update-2'],
    ['then up', 'update-3'],
  ] as const)
    test.update(text, id, 'interrupt')
  await vi.waitFor(() => expect(messages()).toHaveLength(4))
  const [, left, right, up] = messages()
  says(started(left?.uuid))
  says(CALL)
  says(brokenOff(left?.uuid))
  says(started(right?.uuid))
  says(brokenOff(right?.uuid))
  says(started(up?.uuid))
  says(CALL)
  expect(test.acknowledged).toEqual(['update-1', 'update-3'])
  says(succeeded(up?.uuid))

  await vi.waitFor(() => expect(messages()).toHaveLength(5))
  const again = messages()[4]
  expect(again?.text).toMatch(/^then right\n\nthen up\n\nTake this in/)
  says(started(again?.uuid))
  says(CALL)
  expect(test.acknowledged).toEqual(['update-1', 'update-3', 'update-2'])
})

it('sends what was to be in the next call of the turn again as well, also where the program names no messages', async () => {
  using begun = startSession()
  const { test, says, messages } = begun
  test.update('a note', 'update-1')
  test.update('go left', 'update-2', 'interrupt')
  await vi.waitFor(() => expect(messages()).toHaveLength(3))
  for (const { uuid } of messages().slice(1)) says(started(uuid))
  says({ ...brokenOff(), user_message_uuids: undefined })
  await vi.waitFor(() => expect(messages()).toHaveLength(4))
  expect(messages()[3]?.text).toMatch(/^a note\n\ngo left\n\nTake this in/)
  expect(test.acknowledged).toEqual([])
})

it('takes a failure as the result of the run, whatever was lost before it, and leaves that undelivered', async () => {
  using begun = startSession()
  const { test, session, says, messages } = begun
  test.update('go left', 'update-1', 'interrupt')
  test.update('then right', 'update-2', 'interrupt')
  await vi.waitFor(() => expect(messages()).toHaveLength(3))
  const [, left, right] = messages()
  says(started(left?.uuid))
  says(brokenOff(left?.uuid))
  says(started(right?.uuid))
  says(CALL)
  says({ type: 'result', subtype: 'error_max_turns', is_error: true })
  expect(session.result).toMatchObject({ subtype: 'error_max_turns' })
  await sleep(50)
  expect(messages()).toHaveLength(3)
  expect(test.delivered).toEqual(['update-2'])
})

it('takes the result of a program that breaks off more turns than there were interrupts', async () => {
  using begun = startSession()
  const { test, session, says, messages } = begun
  test.update('go left', 'update-1', 'interrupt')
  for (const count of [2, 3]) {
    await vi.waitFor(() => expect(messages()).toHaveLength(count))
    says(started(messages().at(-1)?.uuid))
    says(brokenOff(messages().at(-1)?.uuid))
  }
  expect(session.result).toMatchObject({ subtype: 'error_during_execution' })
  await sleep(50)
  expect(messages()).toHaveLength(3)
})
