import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RunUpdate } from '../port.ts'
import { createTestRun, SILENT_LOG, script, testRunner } from '../testing/command.ts'
import { type Guard, startGuard } from './guard.ts'

let guard: Guard
beforeAll(() => {
  guard = startGuard({ log: SILENT_LOG })
})
afterAll(() => guard.close())

const ECHO = script(`
  const lines = require('node:readline').createInterface({ input: process.stdin })
  lines.on('line', (line) => {
    const told = JSON.parse(line)
    console.log(JSON.stringify({ type: 'step', content: told.type + ' ' + told.text }))
    if (told.type === 'update') console.log(JSON.stringify({ type: 'ack', update_id: told.update_id }))
    if (told.text === 'finish') { console.log(JSON.stringify({ type: 'result', result: 'finished' })); lines.close() }
  })`)

describe('steering a program', () => {
  it('delivers updates in order while it runs, and passes its acknowledgements on', async () => {
    using test = createTestRun({ text: 'the brief' })
    const running = testRunner(guard, ECHO, { steerable: true }).run(test.run)
    await test.stepWith('brief the brief')
    test.update('only TypeScript', 'u-1')
    await test.stepWith('update only TypeScript')
    test.update('finish', 'u-2')
    expect(await running).toEqual({ kind: 'completed', result: 'finished' })
    expect(test.acknowledged).toEqual(['u-1', 'u-2'])
    expect(test.steps.map(({ content }) => content)).toEqual(['brief the brief', 'update only TypeScript', 'update finish'])
  })

  it('takes no update for a program that is not steerable', async () => {
    using test = createTestRun()
    test.update('nobody listens')
    await testRunner(guard, ['cat']).run(test.run)
    expect(test.takenUpdates).toBe(0)
  })

  it('stops taking updates when a program never reads, and the run ends all the same', async () => {
    using test = createTestRun()
    const big = 'x'.repeat(256 * 1024)
    for (let count = 0; count < 50; count += 1) test.update(big)
    const outcome = await testRunner(guard, ['/bin/sh', '-c', 'sleep 0.3; echo done'], { steerable: true }).run(test.run)
    expect(outcome).toEqual({ kind: 'completed', result: 'done' })
    // The pipe holds a few hundred KiB; all else was left where it was.
    expect(test.takenUpdates).toBeLessThan(10)
    expect(test.delivered.length).toBeLessThan(test.takenUpdates)
  })

  it('survives a program that closes its input at once, with a brief larger than any pipe', async () => {
    using test = createTestRun({ text: 'x'.repeat(4 * 1024 * 1024) })
    test.update('too late')
    const outcome = await testRunner(guard, ['/bin/sh', '-c', 'exec <&-; sleep 0.1; echo done'], { steerable: true }).run(test.run)
    expect(outcome).toEqual({ kind: 'completed', result: 'done' })
    expect(test.takenUpdates).toBe(0)
  })

  it('gives a large brief whole to a program that reads slowly', async () => {
    using test = createTestRun({ text: 'y'.repeat(2 * 1024 * 1024) })
    const outcome = await testRunner(guard, ['/bin/sh', '-c', 'sleep 0.1; tr -cd y | wc -c']).run(test.run)
    // A few more of them are in the names of the fields.
    expect(Number((outcome as { result: string }).result)).toBeGreaterThanOrEqual(2 * 1024 * 1024)
  })

  it('ends the iteration of the updates with the run', async () => {
    using test = createTestRun()
    let isReturned = false
    let isFirst = true
    const updates: AsyncIterable<RunUpdate> = {
      [Symbol.asyncIterator]: () => ({
        async next() {
          if (!isFirst) return new Promise(() => {})
          isFirst = false
          return { done: false, value: { updateId: 'u-1', text: 'go', delivery: 'next_step' } }
        },
        async return() {
          isReturned = true
          return { done: true, value: undefined }
        },
      }),
    }
    await testRunner(guard, ['/bin/sh', '-c', 'read -r brief; read -r update; echo done'], { steerable: true }).run({ ...test.run, updates })
    expect(isReturned).toBe(true)
  })
})
