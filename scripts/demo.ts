import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { removeLocalPostgres } from '@muster/local-postgres'
import { playBriefStory } from './demo/brief-story.ts'
import { createClient } from './demo/client.ts'
import { playDispatchStory } from './demo/dispatch-story.ts'
import { playEvaluationStory } from './demo/evaluation-story.ts'
import { createNarrator, type Narrator } from './demo/narrator.ts'
import { PROOF_CHECKS, PROOF_RUNNERS, playProofStory } from './demo/proof-story.ts'
import { playQuestionStory, QUESTION_RUNNERS } from './demo/question-story.ts'
import { playScheduleStory } from './demo/schedule-story.ts'
import { playSubtaskStory } from './demo/subtask-story.ts'
import { postgresDir } from './system/database.ts'
import { type Environment, prepareEnvironment, type SystemEnvironment, scoutRunner } from './system/environment.ts'
import { BrokenOffError } from './system/errors.ts'
import { formatLogLine } from './system/log-lines.ts'
import { reportFailure } from './system/report.ts'
import { endOnSignals } from './system/signals.ts'
import { startSystem } from './system/system.ts'

const HELP = `Usage: npm run demo

Starts PostgreSQL, the API and a worker on free ports with a database of its own, and prints what happens while it
  1. runs three subtasks over this repository: one to its end, one steered while it runs, one cancelled;
  2. assigns a brief to a session, steers it, and completes it;
  3. dispatches the same brief to a program, and steers that;
  4. writes a schedule in words, which fires within seconds;
  5. sends a poor result back, and gets a better one;
  6. lets a check decide, which refutes a result and then proves one;
  7. answers a run that asks, and waits for the answer without a process.
Then it removes everything.

  PORT=7301        the API on this port
  DATA_DIR=folder  the database in this folder, which is then kept
  LOG_LEVEL=info   the logs of API and worker between the lines; default: warn
`

const TIMEOUT_MS = 55_000
/** What a shell reports for a program that Ctrl-C ended. */
const INTERRUPTED_EXIT_CODE = 130
/** Lines of every start, which the demo does not show. */
const EXPECTED = /^(?:starting|made a database|migrating)/

/** Its own data folder, ports and runner, without `.env` of `npm start`. Variables of the caller take precedence. */
function demoEnvironment(given: Environment, dataDir: string): SystemEnvironment {
  return prepareEnvironment({
    ...given,
    DATA_DIR: dataDir,
    HOST: '127.0.0.1',
    AUTH: 'open',
    PORT: given.PORT ?? '0',
    LOG_LEVEL: given.LOG_LEVEL ?? 'warn',
    // All three at once.
    SUBTASK_WORKERS: given.SUBTASK_WORKERS ?? '3',
    // The scout at its own pace: a few seconds for any folder, long enough to steer it. One for each folder would make the demo grow with the repository.
    COMMAND_RUNNERS: JSON.stringify({ scout: scoutRunner(), ...PROOF_RUNNERS, ...QUESTION_RUNNERS }),
    CHECKS: JSON.stringify(PROOF_CHECKS),
  })
}

async function makeDataDir(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'muster-demo-'))
  // If root starts the demo, PostgreSQL runs as another user, who has to enter this folder.
  if (process.getuid?.() === 0) await chmod(folder, 0o755)
  return folder
}

/** What to remove when the demo has ended. */
type Leftovers = { remove: () => Promise<void> }

async function play(prepared: SystemEnvironment, narrator: Narrator, isColoured: boolean, leftovers: Leftovers): Promise<string[]> {
  narrator.title('Starting PostgreSQL, API and worker')
  const deadline = AbortSignal.timeout(TIMEOUT_MS)
  const interrupted = new AbortController()
  const note = (line: string): void => (EXPECTED.test(line) ? undefined : narrator.note(line))
  const output = { log: note, onLine: (source: string, line: string) => console.log(formatLogLine(source, line, isColoured)) }
  const system = await startSystem(prepared, output, ({ stop, kill }) => {
    const stopAndRemove = async (): Promise<void> => {
      interrupted.abort()
      await stop()
      await leftovers.remove()
    }
    endOnSignals({ stop: stopAndRemove, kill }, narrator.note, INTERRUPTED_EXIT_CODE)
  })
  try {
    narrator.note(`up at ${system.address}`)
    const signal = AbortSignal.any([deadline, interrupted.signal])
    const client = createClient(system.address, signal)
    const problems: string[] = []
    const stories = [playSubtaskStory, playBriefStory, playDispatchStory, playScheduleStory, playEvaluationStory, playProofStory, playQuestionStory]
    for (const play of stories) problems.push(...(await play(client, narrator, signal)))
    return problems
  } catch (error) {
    if (interrupted.signal.aborted) throw new BrokenOffError()
    if (deadline.aborted) return [`it was not finished after ${TIMEOUT_MS / 1000} s`]
    throw error
  } finally {
    await system.stop()
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { help: { type: 'boolean', short: 'h' } } })
  if (values.help === true) return console.log(HELP)
  const startedAt = performance.now()
  const isColoured = process.stdout.isTTY === true && process.env.NO_COLOR === undefined
  const narrator = createNarrator(isColoured)
  const given = process.env.DATA_DIR
  const dataDir = given ?? (await makeDataDir())
  const prepared = demoEnvironment(process.env, dataDir)
  const remove = async (): Promise<void> => {
    if (given !== undefined) return
    await removeLocalPostgres(postgresDir(prepared.settings))
    await rm(dataDir, { recursive: true, force: true })
  }
  try {
    const problems = await play(prepared, narrator, isColoured, { remove })
    console.log('')
    narrator.verdict(problems, (performance.now() - startedAt) / 1000)
    process.exitCode = problems.length === 0 ? 0 : 1
  } finally {
    await remove()
  }
}

main().catch((error: unknown) => {
  if (error instanceof BrokenOffError) return
  reportFailure(error)
  process.exitCode = 1
})
