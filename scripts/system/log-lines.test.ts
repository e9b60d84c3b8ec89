import { describe, expect, it } from 'vitest'
import { formatLogLine, isShownAt } from './log-lines.ts'

describe('the log of a process, shown to a person', () => {
  it('gives time, level, source, message and the rest as name=value', () => {
    const line = JSON.stringify({ level: 40, time: Date.now(), pid: 1, hostname: 'h', msg: 'lost a lease', attempt: 2, runner: { name: 'scout' }, none: null })

    expect(formatLogLine('worker', line, false)).toMatch(/^\d\d:\d\d:\d\d warn {2}worker lost a lease attempt=2 runner=\{"name":"scout"\}$/)
  })

  it('shows the stack of an error', () => {
    const line = JSON.stringify({ level: 50, time: Date.now(), msg: 'failed', err: { message: 'broken', stack: 'Error: broken\n  at here' } })

    expect(formatLogLine('api', line, false)).toMatch(/failed err="broken"\n {4}Error: broken\n {6}at here$/)
  })

  it.each(['not JSON', '{"half": ', ''])('passes on what is no log line: %j', (line) => {
    expect(formatLogLine('api', line, false).endsWith(line)).toBe(true)
  })

  it.each([
    ['info', 30, true],
    ['warn', 30, false],
    ['warn', 50, true],
    ['silent', 60, false],
    ['trace', 10, true],
  ])('at level %s, a line of level %i is shown: %s', (level, lineLevel, expected) => {
    expect(isShownAt(level, JSON.stringify({ level: lineLevel, msg: '' }))).toBe(expected)
  })

  it('shows what a process says when it crashes at every level', () => {
    expect(isShownAt('silent', 'SyntaxError: Unexpected token')).toBe(true)
  })
})
