import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { BodyOf, Task } from '@muster/client'
import type { Cli } from '../cli.ts'
import { CliError, exitCodeOf, usageError } from '../exit-codes.ts'
import { oneLine } from '../output/text.ts'
import { describeDiff } from './task-text.ts'

type Patch = BodyOf<'reviseTask'>

/** What of a task may be changed, in the order in which it is shown. */
const editable = (task: Task) => ({
  title: task.title,
  instructions: task.instructions,
  acceptance_criteria: task.acceptance_criteria.filter(({ source }) => source === 'acceptance').map(({ id, text }) => ({ id, text })),
  required_outputs: task.required_outputs,
  priority: task.priority,
  depends_on: task.depends_on,
})

/**
 * Opens a brief in the editor of the user and sends what was changed. What was typed is kept in a file if it could not be sent.
 *
 * @throws CliError if nothing can be edited, or if the task has changed meanwhile
 */
export async function editTask(cli: Cli, id: string, isConfirmed: boolean): Promise<void> {
  if (process.stdin.isTTY !== true) throw usageError('`task edit` opens an editor and needs a terminal: change a task from a script over the API.')
  const muster = cli.muster()
  const task = await muster.tasks.get(id)
  const before = editable(task)
  const folder = await mkdtemp(join(tmpdir(), 'muster-edit-'))
  const file = join(folder, `${id}.json`)
  await writeFile(file, `${JSON.stringify(before, null, 2)}\n`, { mode: 0o600 })
  openEditor(file)
  try {
    const patch = changedFields(before, JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>)
    if (Object.keys(patch).length === 0) return cli.out.note('Nothing was changed.')
    if (!isConfirmed && !(await cli.confirm(`Send the changed ${Object.keys(patch).join(', ')}?`, 'give --yes.'))) {
      return cli.out.note(`Nothing was sent. What you wrote is in ${file}.`)
    }
    const revised = await muster.tasks.revise(id, task.revision, patch)
    for (const { field, message } of revised.task.validation.warnings) cli.out.note(`${field}: ${oneLine(message)}`, cli.out.colours.yellow)
    await cli.out.result(revised, () => `${describeDiff(cli.out, revised.diff)}\n\nRevision ${revised.revision}.`)
  } catch (error) {
    const reason = error instanceof SyntaxError ? `It is no JSON (${error.message}).` : (error as Error).message
    throw new CliError(`${reason} What you wrote is in ${file}.`, exitCodeOf(error))
  }
  await rm(folder, { recursive: true })
}

function openEditor(file: string): void {
  const [program = 'vi', ...options] = (process.env.VISUAL ?? process.env.EDITOR ?? 'vi').split(/\s+/)
  const { error, status } = spawnSync(program, [...options, file], { stdio: 'inherit' })
  if (error !== undefined) throw new CliError(`The editor ${program} does not start (${error.message}): set EDITOR to one that does.`)
  if (status !== 0) throw new CliError(`The editor ended with code ${status}, so nothing was sent. What you wrote is in ${file}.`)
}

function changedFields(before: Record<string, unknown>, after: Record<string, unknown>): Patch {
  return Object.fromEntries(Object.entries(after).filter(([name, value]) => !isDeepStrictEqual(value, before[name]))) as Patch
}
