import { Findings } from './findings.ts'
import { describeMachine, makeMachine, missingClocks } from './machines.ts'
import { isInside, missingNamespaces, missingNetem, runInside } from './network.ts'
import { HELP, type Options, readOptions } from './options.ts'
import { planFaults } from './plan.ts'
import { makeReport, renderReport, writeReport } from './report.ts'
import { runChaos } from './run.ts'
import { LEASE_SECONDS, type System, startSystem } from './system.ts'

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}

function parse(): Options | null {
  try {
    const options = readOptions(process.argv.slice(2))
    if (options === null) say(HELP)
    return options
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n\n${HELP}`)
    process.exitCode = 2
    return null
  }
}

async function main(): Promise<void> {
  const options = parse()
  if (options === null) return
  if (options.machines && !isInside(process.env)) {
    const withoutNamespaces = missingNamespaces()
    const missing = [missingClocks(), withoutNamespaces, withoutNamespaces === null ? missingNetem() : null]
    for (const each of missing) if (each !== null) say(each)
    if (withoutNamespaces === null) {
      process.exitCode = await runInside(process.env)
      return
    }
  }
  const plan = options.steady ? [] : planFaults({ ...options, leaseSeconds: LEASE_SECONDS })
  say(
    `chaos: seed ${options.seed}, ${options.minutes} min, ${options.apis} APIs, ${options.workers} workers, ${plan.length} faults${options.steady ? ' (steady load)' : ''}`,
  )
  for (const fault of plan)
    say(`  ${(fault.atMs / 1000).toFixed(1).padStart(6)} s  ${fault.kind}${fault.lastsMs > 0 ? ` for ${(fault.lastsMs / 1000).toFixed(1)} s` : ''}`)

  if (options.machines) {
    const names = (kind: string, count: number) => Array.from({ length: count }, (_, index) => `${kind}-${index + 1}`)
    for (const name of [...names('api', options.apis), ...names('worker', options.workers)]) say(`  ${describeMachine(makeMachine(options.seed, name))}`)
  }

  const interrupted = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => interrupted.abort(new Error(`broken off by ${signal}`)))
  const findings = new Findings()
  let system: System | null = null
  let keep = options.keep
  try {
    system = await startSystem({ ...options, needsSmallDisk: plan.some((fault) => fault.kind === 'disk-full'), findings, inherited: process.env, log: say })
    const result = await runChaos(system, options, plan, findings, interrupted.signal, say)
    const report = makeReport(options, system, result, findings)
    if (options.report !== undefined) await writeReport(options.report, report)
    say(`\n${renderReport(report)}`)
  } catch (error) {
    findings.broke('the run comes to its end', interrupted.signal.aborted ? String(interrupted.signal.reason) : ((error as Error).stack ?? String(error)))
    for (const { promise, broken, details } of findings.list())
      if (broken > 0) say(`broken: ${promise} (${broken})\n${details.map((detail) => `  - ${detail}`).join('\n')}`)
  } finally {
    keep ||= findings.violations > 0 && !interrupted.signal.aborted
    await system?.destroy(keep)
  }
  if (findings.violations === 0) say(`chaos: passed with seed ${options.seed}`)
  else {
    process.exitCode = 1
    say(
      `chaos: FAILED with seed ${options.seed}: ${findings.violations} violations; again with: pnpm chaos --minutes ${options.minutes} --seed ${options.seed}${options.machines ? ' --machines' : ''}${keep && system !== null ? `; logs and data: ${system.folder}` : ''}`,
    )
  }
}

await main()
