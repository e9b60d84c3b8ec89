import { availableParallelism } from 'node:os'
import { type CommandResult, run } from './check/command.ts'

const HELP = `Usage: npm run check [-- --fix]

Checks everything except behaviour: format, lint, types, import rules, unused code, generated files.
Each step prints a line, and its output if it fails. Exits 1 if any step fails.

  --fix   first format, apply safe lint fixes, and write .env.example, openapi.yaml and what is generated of the clients
  --help  print this
`

/** One thing to check. `fix`, where there is one, runs first under --fix. */
interface Step {
  name: string
  command: [string, ...string[]]
  fix?: [string, ...string[]]
}

const node = process.execPath

const STEPS: Step[] = [
  { name: '.env.example', command: [node, 'scripts/check/env-example.ts'], fix: [node, 'scripts/check/env-example.ts', '--write'] },
  { name: 'openapi.yaml', command: [node, 'scripts/check/openapi.ts'], fix: [node, 'scripts/check/openapi.ts', '--write'] },
  { name: 'client types', command: [node, 'scripts/check/client-types.ts'], fix: [node, 'scripts/check/client-types.ts', '--write'] },
  { name: 'python client', command: [node, 'scripts/check/python-client.ts'], fix: [node, 'scripts/check/python-client.ts', '--write'] },
  // Recommendations count as errors, because warnings in a log go unread.
  { name: 'openapi rules', command: ['redocly', 'lint', 'openapi.yaml'] },
  { name: 'spectral', command: ['spectral', 'lint', '--fail-severity', 'hint', 'openapi.yaml'] },
  { name: 'format and lint', command: ['biome', 'check', '--error-on-warnings', '.'], fix: ['biome', 'check', '--write', '.'] },
  { name: 'types', command: ['tsc', '--project', '.'] },
  { name: 'types of pages', command: ['tsc', '--project', 'apps/dashboard'] },
  { name: 'import rules', command: [node, 'scripts/check/import-rules.ts'] },
  { name: 'unused code', command: ['knip', '--no-progress'] },
  { name: 'migrations', command: [node, 'scripts/check/migrations.ts'] },
  { name: 'documents', command: [node, 'scripts/check/documents.ts'] },
]

/** Runs the steps, at most two at once, because most of them use a whole processor. */
async function runAll(steps: readonly Step[]): Promise<string[]> {
  const waiting = [...steps]
  const failed: string[] = []
  const lane = async (): Promise<void> => {
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
      if (!(await runStep(step))) failed.push(step.name)
    }
  }
  await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, lane))
  return failed
}

async function runStep(step: Step): Promise<boolean> {
  const startedAt = performance.now()
  const [command, ...args] = step.command
  const result: CommandResult = await run(command, args)
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  console.log(`${result.ok ? 'ok  ' : 'FAIL'} ${step.name.padEnd(16)} ${seconds.padStart(5)} s`)
  if (!result.ok) console.log(`${result.output.replace(/^/gm, '     ')}\n`)
  return result.ok
}

async function main(): Promise<void> {
  const options = process.argv.slice(2).filter((option) => option !== '--')
  const unknown = options.filter((option) => !['--fix', '--help', '-h'].includes(option))
  if (options.includes('--help') || options.includes('-h') || unknown.length > 0) {
    console.log(unknown.length > 0 ? `Unknown option: ${unknown.join(' ')}\n\n${HELP}` : HELP)
    process.exitCode = unknown.length > 0 ? 2 : 0
    return
  }
  if (options.includes('--fix')) {
    for (const { fix } of STEPS) {
      // If a fix fails, its step below fails with the reason.
      if (fix) await run(fix[0], fix.slice(1))
    }
  }
  const failed = await runAll(STEPS)
  console.log(failed.length === 0 ? `\nAll ${STEPS.length} checks passed.` : `\n${failed.length} of ${STEPS.length} checks failed: ${failed.join(', ')}`)
  process.exitCode = failed.length === 0 ? 0 : 1
}

await main()
