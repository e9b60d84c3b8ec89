import { existsSync, readFileSync } from 'node:fs'
import { CHECK_TRIES_MAX } from '@muster/domain'
import { doesPass } from '../load/outputs.ts'
import type { Evidence } from './check.ts'

interface Row {
  id: string
  status: string
  exit_code: number | null
  tries: number
}

interface Execution {
  id: string
  tries: number
  what: 'begin' | 'end'
}

/** Each check came to one end, which its program decided; it was executed to completion once, and once more only where the worker that had executed it was lost. */
export async function checkCheckRuns({ admin, findings, system }: Evidence): Promise<void> {
  const rows = await admin<Row[]>`select id, status, exit_code, tries from check_runs`
  findings.none(
    'every check that was asked for has come to an end',
    rows.length,
    rows.filter(({ status }) => status === 'pending' || status === 'running').map(({ id, status }) => `${id} is ${status}`),
  )
  const executions = readExecutions(system.checkLedger)
  const completions = executions.filter(({ what }) => what === 'end')
  const byId = Map.groupBy(completions, ({ id }) => id)
  const decided = rows.filter(({ exit_code }) => exit_code !== null)
  findings.none(
    'the end of a check is the one that its program came to',
    decided.length,
    decided
      .filter(({ id, status, exit_code }) => status !== (doesPass(id) ? 'met' : 'unmet') || exit_code !== (doesPass(id) ? 0 : 3) || !byId.has(id))
      .map((row) => JSON.stringify(row)),
  )
  const known = new Set(rows.map(({ id }) => id))
  findings.none(
    'a check is executed only if it was asked for, and never more often than it may be tried',
    executions.length,
    executions.filter(({ id, tries }) => !known.has(id) || tries > CHECK_TRIES_MAX).map((execution) => JSON.stringify(execution)),
  )
  // A worker that is asked to stop, or is killed, between the end of the program and its commit gives the check back.
  const ended = system.workers.reduce((sum, { lives }) => sum + lives.filter(({ endedBy }) => endedBy !== null).length, 0)
  const again = [...byId].filter(([, each]) => each.length > 1)
  findings.none(
    'a check is executed to completion once, or again where its worker ended before it could store that',
    byId.size,
    again
      .filter(([id, each]) => each.length > CHECK_TRIES_MAX || !wasTriedAgain(executions, id) || again.length > ended)
      .map(([id, each]) => `${id}: ${each.length} times`),
  )
}

/** Whether the first completion was followed by another beginning, in order. */
function wasTriedAgain(executions: readonly Execution[], checkRunId: string): boolean {
  const whats = executions.filter(({ id }) => id === checkRunId).map(({ what }) => what)
  return whats.lastIndexOf('begin') > whats.indexOf('end')
}

function readExecutions(path: string): Execution[] {
  if (!existsSync(path)) return []
  return readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Execution)
}
