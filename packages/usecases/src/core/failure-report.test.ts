import { expect, it } from 'vitest'
import type { Log } from './ctx.ts'
import { createFailureReport } from './failure-report.ts'

const AWAY = Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })

it('logs an outage once when it begins and once when it ends, and every other failure', async () => {
  const lines: string[] = []
  const write = (level: string) => (_: object, message: string) => void (level === 'debug' || lines.push(`${level} ${message}`))
  const log: Log = { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') }
  const report = createFailureReport(log)

  await report.watch(Promise.resolve())
  report.failed('relay events')(AWAY)
  report.failed('claim subtasks')(AWAY)
  report.failed('claim subtasks')(new TypeError('defect'))
  await report.watch(Promise.reject(AWAY)).catch(() => undefined)
  expect(await report.watch(Promise.resolve(7))).toBe(7)
  await report.watch(Promise.resolve())
  report.failed('relay events')(AWAY)

  expect(lines).toEqual([
    'warn could not relay events: The database is not reachable at the moment.',
    'error could not claim subtasks',
    'info The database can be used again.',
    'warn could not relay events: The database is not reachable at the moment.',
  ])
})
