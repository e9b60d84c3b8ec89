import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { constants, tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { figures } from './figures/index.ts'
import { type Bench, type Figure, judge } from './instrument/figure.ts'
import { closeAll, keep } from './instrument/live.ts'
import { describeMachine, describeVersions, measureCommit } from './instrument/machine.ts'
import { helpText, type Options, readCommand } from './instrument/options.ts'
import { readReports } from './instrument/read-reports.ts'
import { type FigureReport, isAnyMissed, type Report, renderTable } from './instrument/report.ts'
import { type BenchServer, openServer } from './instrument/server.ts'
import { STATEMENT_SETTINGS, takeStatements } from './instrument/statements.ts'

const LAST_RESULTS = fileURLToPath(new URL('./results/last.json', import.meta.url))

let isEnding = false

async function measureAll(options: Options): Promise<Report> {
  const startedAt = new Date().toISOString()
  const machine = describeMachine()
  const folder = await mkdtemp(join(tmpdir(), `muster-bench-${process.pid}-`))
  keep({}, () => rm(folder, { recursive: true, force: true }))
  const profileFolder = options.profile === undefined ? undefined : resolve(options.profile)
  if (profileFolder !== undefined) await mkdir(profileFolder, { recursive: true })
  const givenUrl = process.env.MIGRATE_DATABASE_URL || process.env.DATABASE_URL || undefined
  const own = Object.assign({}, ...options.figures.map(({ serverSettings }) => serverSettings ?? {})) as Record<string, string>
  const server = await openServer(folder, givenUrl, profileFolder === undefined ? own : STATEMENT_SETTINGS)
  const postgres = await server.describe()
  const commit = await measureCommit(server.admin, options.isQuick ? 0.5 : 3)
  console.log(`PostgreSQL ${postgres.server_version}; one small commit: p50 ${commit.p50.toFixed(2)} ms, p99 ${commit.p99.toFixed(2)} ms`)

  const missing: string[] = []
  const bench: Bench = {
    server,
    runs: options.runs,
    isQuick: options.isQuick,
    minutes: options.minutes,
    share: options.share,
    axes: options.axes,
    plots: options.plots,
    async peer(name, measure, { holdsGoal } = { holdsGoal: false }) {
      if (!options.withPeers || (options.isQuick && !holdsGoal)) return null
      try {
        return await measure()
      } catch (error) {
        if (isEnding) return await new Promise<never>(() => {})
        console.error(`  ${name} could not be measured: ${error instanceof Error ? error.stack : error}`)
        missing.push(name)
        return null
      }
    },
    size: (full, quick) => (options.isQuick ? quick : full),
    log: (line) => console.log(`  ${line}`),
    folder,
    profileFolder,
  }
  const reports: FigureReport[] = []
  for (const figure of options.figures) reports.push({ ...(await measureOne(bench, figure, server)), missingPeers: missing.splice(0) })
  return { startedAt, isQuick: options.isQuick, runs: options.runs, machine, versions: describeVersions(), postgres, commit, figures: reports }
}

/** One figure. One that cannot be measured is reported as such, and the others are measured all the same. */
async function measureOne(bench: Bench, figure: Figure, server: BenchServer): Promise<Omit<FigureReport, 'missingPeers'>> {
  const startMs = performance.now()
  const { name, title, raised, notes = [] } = figure
  console.log(`\n${name}: ${title}${bench.isQuick ? ' (at full size; this is smaller)' : ''}`)
  const report: Omit<FigureReport, 'missingPeers'> = { name, title, raised, notes, rows: [], error: null, seconds: 0 }
  try {
    report.rows = (await figure.measure(bench)).map((row) => judge(row, !bench.isQuick))
  } catch (error) {
    // What was under way fails when everything is ended, and that says nothing. The end comes from elsewhere.
    if (isEnding) return await new Promise<never>(() => {})
    report.error = error instanceof Error ? error.message : String(error)
    console.error(`  failed: ${error instanceof Error ? error.stack : error}`)
  }
  if (bench.profileFolder !== undefined) {
    await writeFile(join(bench.profileFolder, `${name}.statements.json`), JSON.stringify(await takeStatements(server.admin), null, 2))
    if (server.logFile !== null) await copyFile(server.logFile, join(bench.profileFolder, 'postgres.log'))
  }
  report.seconds = Math.round((performance.now() - startMs) / 100) / 10
  console.log(`  took ${report.seconds} s`)
  return report
}

async function main(): Promise<number> {
  const command = readCommand(process.argv.slice(2), figures)
  if (command.kind === 'help') {
    console.log(helpText(figures))
    return 0
  }
  if (command.kind === 'table') {
    console.log(renderTable(await readReports(command.files, figures)))
    return 0
  }
  const { options } = command
  const report = await measureAll(options)
  console.log(`\n${renderTable([report])}`)
  const file = resolve(options.json ?? LAST_RESULTS)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, `${JSON.stringify(report, null, 2)}\n`)
  console.log(`\nMachine, versions, medians and the values of all runs are in ${file}.`)
  if (report.figures.some((figure) => figure.error !== null || figure.missingPeers.length > 0)) return 1
  return options.isStrict && isAnyMissed(report) ? 1 : 0
}

async function end(code: number): Promise<void> {
  if (isEnding) return
  isEnding = true
  await closeAll((error) => console.error(error))
  process.exit(code)
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    console.error(`\n${signal}: ending everything that was started`)
    void end(128 + constants.signals[signal])
  })
}

main().then(end, (error: unknown) => {
  // While everything is being ended, whatever was under way fails, and that says nothing.
  if (!isEnding) console.error(error instanceof Error ? error.message : error)
  return end(2)
})
