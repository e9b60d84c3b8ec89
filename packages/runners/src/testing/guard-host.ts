import { type Guard, startGuard } from '../command/guard.ts'
import { createCommandRunner } from '../command/runner.ts'
import { createTestRun, SILENT_LOG } from './command.ts'

/**
 * A worker in small, for tests that kill it: runs one program, given as JSON in its first argument, and prints the guard's
 * process id and every step. With `deaf` as its second argument its guard never takes a program in, and the program's
 * process id is printed instead.
 */
const guard = startGuard({ log: SILENT_LOG })
const test = createTestRun()
const say = (text: unknown) => process.stdout.write(`${text}\n`)
say(guard.pid)

const deafGuard: Guard = {
  ...guard,
  add: (pgid) => {
    say(`pids ${pgid}`)
    return new Promise(() => {})
  },
}
const run = { ...test.run, step: ({ content }: { content: unknown }) => void say(content) }
const options = {
  guard: process.argv[3] === 'deaf' ? deafGuard : guard,
  log: SILENT_LOG,
  environment: { PATH: '/usr/local/bin:/usr/bin:/bin' },
  baseFolder: '/',
}
await createCommandRunner('sample', { argv: JSON.parse(process.argv[2] ?? '[]') as string[] }, options).run(run)
