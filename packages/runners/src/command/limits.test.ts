import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestRun, SILENT_LOG, script, testRunner } from '../testing/command.ts'
import { type Guard, startGuard } from './guard.ts'

let guard: Guard
beforeAll(() => {
  guard = startGuard({ log: SILENT_LOG })
})
afterAll(() => guard.close())

const MIB = 1_048_576

async function runOf(argv: string[]) {
  using test = createTestRun()
  const outcome = await testRunner(guard, argv).run(test.run)
  return { outcome: outcome as { kind: string; result: string; truncated?: boolean; outputs?: Record<string, unknown> }, steps: test.steps }
}

describe('the limits of an attempt', () => {
  it('keeps a result of exactly 1 MiB whole', async () => {
    const { outcome } = await runOf(script(`console.log(JSON.stringify({ type: 'result', result: 'x'.repeat(${MIB}) }))`))
    expect(outcome).toEqual({ kind: 'completed', result: 'x'.repeat(MIB) })
  })

  it('cuts a longer result at a code point, and says so', async () => {
    const { outcome } = await runOf(script(`console.log(JSON.stringify({ type: 'result', result: 'x' + '😀'.repeat(${MIB / 4}) }))`))
    expect(outcome).toEqual({ kind: 'completed', result: `x${'😀'.repeat(MIB / 4 - 1)}`, truncated: true })
  })

  it('cuts a line without an end, and marks its step', async () => {
    const { outcome, steps } = await runOf(script(`process.stdout.write('ü'.repeat(${MIB}) + '!')`))
    expect(outcome).toEqual({ kind: 'completed', result: 'ü'.repeat(MIB / 2), truncated: true })
    expect(steps).toEqual([{ kind: 'message', content: `${'ü'.repeat(MIB / 2)}\n[cut: the line had ${2 * MIB + 1} bytes]` }])
  })

  it('cuts many plain lines to 1 MiB of result', async () => {
    const { outcome } = await runOf(script(`process.stdout.write(('z'.repeat(1023) + '\\n').repeat(2000))`))
    expect(outcome.truncated).toBe(true)
    expect(Buffer.byteLength(outcome.result)).toBe(MIB)
  })

  it('cuts the content of a step of more than 1 MiB', async () => {
    const { steps } = await runOf(script(`console.log(JSON.stringify({ type: 'step', kind: 'tool_result', content: { a: 'x'.repeat(${2 * MIB}) } }))`))
    expect(steps).toHaveLength(1)
    expect(steps[0]?.content).toMatch(/^\{"a":"x+\n\[cut: the line had \d+ bytes\]$/)
  })

  it('keeps 10,000 steps, says once that more were dropped, and still reads the result', async () => {
    const { outcome, steps } = await runOf(
      script(`process.stdout.write('{"type":"step","content":"s"}\\n'.repeat(10_005) + '{"type":"result","result":"done"}')`),
    )
    expect(steps).toHaveLength(10_001)
    expect(steps.at(-1)).toEqual({ kind: 'message', content: expect.stringContaining('Further steps were dropped') })
    expect(outcome).toEqual({ kind: 'completed', result: 'done' })
  })

  it('still reads the protocol between lines that it has no room for', async () => {
    const source = `process.stdout.write(('p'.repeat(200) + '\\n').repeat(20_000) + '{"type":"output","name":"a","value":1}\\nmore\\n{"type":"result","result":"done"}')`
    const { outcome } = await runOf(script(source))
    expect(outcome).toEqual({ kind: 'completed', result: 'done', outputs: { a: 1 } })
  })

  it('stores a result of 1 MiB in short plain lines as a few steps, which have all of it', async () => {
    const { outcome, steps } = await runOf(script(`process.stdout.write('fifteen letters\\n'.repeat(${MIB / 16}))`))
    expect(outcome).toMatchObject({ kind: 'completed' })
    expect(steps.length).toBeLessThan(100)
    expect(steps.map(({ content }) => content).join('\n')).toBe((outcome as { result: string }).result)
  })

  it('keeps 8 MiB of steps', async () => {
    const { steps } = await runOf(script(`process.stdout.write(('q'.repeat(${MIB / 2}) + '\\n').repeat(40))`))
    expect(steps).toHaveLength(17)
  })

  it('drops an output of more than 1 MiB, and says so', async () => {
    const { outcome, steps } = await runOf(
      script(`for (const [name, size] of [['big', ${MIB}], ['small', 3]]) console.log(JSON.stringify({ type: 'output', name, value: 'x'.repeat(size) }))`),
    )
    expect(outcome.outputs).toEqual({ small: 'xxx' })
    expect(steps).toEqual([{ kind: 'error', content: expect.stringContaining('"big" was dropped') }])
  })

  it('does not grow with a program that prints for ever, lets other work go on, and stops it', async () => {
    using test = createTestRun()
    const running = testRunner(guard, ['yes']).run(test.run)
    await test.stepWith('Further steps were dropped')
    global.gc?.()
    const before = process.memoryUsage().rss
    // A second of the worker's own work, ten milliseconds a piece.
    let longestMs = 0
    for (let turn = 0; turn < 100; turn += 1) {
      const startedAt = performance.now()
      await new Promise((resolve) => setTimeout(resolve, 10))
      longestMs = Math.max(longestMs, performance.now() - startedAt)
    }
    const grownMib = (process.memoryUsage().rss - before) / MIB
    test.stop()
    expect(await running).toMatchObject({ kind: 'stopped' })
    expect(grownMib).toBeLessThan(100)
    expect(longestMs).toBeLessThan(1_000)
  })
})
