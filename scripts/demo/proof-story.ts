import { randomUUID } from 'node:crypto'
import type { CheckRun, Client } from './client.ts'
import { listen } from './hearing.ts'
import type { Narrator } from './narrator.ts'

/** Writes a module with a mistake, and praises it. Once it gets what the check printed, it corrects the mistake. */
const WRITER = `
const { readFileSync, writeFileSync } = require('node:fs')
const isCorrected = readFileSync(0, 'utf8').includes('sum(2, 3) is -1')
writeFileSync('sum.mjs', 'export const sum = (a, b) => a ' + (isCorrected ? '+' : '-') + ' b\\n')
console.log('Done.\\n<npl-block type="check-in">\\n- ✅ sum.mjs adds two numbers\\n</npl-block>')
`
const CHECK = `
const { pathToFileURL } = require('node:url')
import(pathToFileURL('sum.mjs').href).then(({ sum }) => {
  if (sum(2, 3) === 5) return
  console.error('sum(2, 3) is ' + sum(2, 3) + ', and should be 5')
  process.exitCode = 1
})
`

/** What the story needs in COMMAND_RUNNERS and in CHECKS. */
export const PROOF_RUNNERS = { writer: { argv: [process.execPath, '-e', WRITER] } }
export const PROOF_CHECKS = { 'sum-adds': { argv: [process.execPath, '-e', CHECK], timeout_seconds: 20 } }

const BRIEF = {
  title: 'A function that adds',
  instructions: 'Write sum.mjs, which exports sum(a, b).',
  acceptance_criteria: [{ text: 'sum.mjs adds two numbers', check: 'sum-adds' }],
  review: 'auto',
}

/**
 * A program that praises its work, and a check that executes it: the exit code decides, its output comes back as the request for revision,
 * and the task completes once the check passes.
 *
 * @returns deviations from what should happen; empty if there is none
 */
export async function playProofStory(client: Client, narrator: Narrator, signal: AbortSignal): Promise<string[]> {
  narrator.title('6. Proof by check: T asks for it, D praises itself, the exit code of a program decides')
  const hearing = await listen(client, signal)
  const { id } = await client.createTask(BRIEF)
  const first = await client.dispatch(id, { runner: 'writer', max_revisions: 2, parent_session_id: `demo-${randomUUID()}` })
  narrator.about('T', `POST /tasks/{id}/dispatch  criterion "${BRIEF.acceptance_criteria[0]?.text}", check "sum-adds"`)
  const praising = await client.wait(first.id)
  narrator.about('D', `${praising.status}: ${praising.result?.split('\n').find((line) => line.includes('✅')) ?? 'no check-in'}`)
  await hearing.first('task.revision_requested', id)
  const [request] = await client.taskUpdates(id)
  narrator.about('T', `GET /tasks/{id}/updates  ${request?.update_type ?? 'none'}:`)
  narrator.quote(request?.content.split('\n').filter((line) => line.includes('sum')) ?? [])
  const completed = await hearing.first('task.completed', id)
  await hearing.stop()
  const checks = (await client.checks(id)).toReversed()
  for (const check of checks)
    narrator.about('T', `GET /tasks/{id}/checks  ${check.check}: ${check.status}, exit code ${check.exit_code}, ${check.duration_ms} ms`)
  return problemsOf(checks, { isCompleted: completed !== null, hasReason: request?.content.includes('sum(2, 3) is -1') === true })
}

function problemsOf(checks: readonly CheckRun[], { isCompleted, hasReason }: { isCompleted: boolean; hasReason: boolean }): string[] {
  const statuses = checks.map(({ status }) => status).join(', ')
  return [
    ...(statuses === 'unmet, met' ? [] : [`the check should have failed once and then passed, and was ${statuses || 'not executed'}`]),
    ...(hasReason ? [] : ['the request for revision should contain what the check printed']),
    ...(isCompleted ? [] : ['the event stream never reported the completion']),
  ]
}
