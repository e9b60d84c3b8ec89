import { existsSync } from 'node:fs'
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { knownMigrations, REPLACED_MIGRATIONS, TAKEOVER_FROM } from '../../packages/db/src/migration-files.ts'
import { run } from './command.ts'
import { finish, repositoryRoot } from './report.ts'

const CONFIG = `${repositoryRoot}/drizzle.config.ts`

/** What each migration says about running beside the processes of this and the earlier version: docs/upgrades.md. */
const SAYS_LIVE = /^-- live: (?:yes|no): \S/
/** Migrations up to this one came before the rule. docs/upgrades.md lists which of them hold writes up. */
const SILENT_UNTIL = '0022_deliveries'

/** What this check reads of drizzle.config.ts. */
interface DrizzleConfig {
  dialect: string
  schema?: string | string[]
  casing?: string
  out?: string
}

/**
 * What drizzle-kit does not look at: a file that the journal lacks is never applied, one that the takeover lacks makes it fail, and a database that was taken
 * over counts a replaced name as applied.
 */
async function nameProblems(out: string): Promise<string[]> {
  const known = await knownMigrations()
  const replaced = REPLACED_MIGRATIONS.slice(REPLACED_MIGRATIONS.indexOf(TAKEOVER_FROM) + 1)
  const differences = async (folder: string, names: readonly string[]) => {
    const shown = folder.slice(repositoryRoot.length + 1)
    const files = (await readdir(folder)).filter((file) => file.endsWith('.sql')).map((file) => file.slice(0, -'.sql'.length))
    return [
      ...files.filter((file) => !names.includes(file)).map((file) => `${shown}/${file}.sql is in no list of migrations, so it is never applied`),
      ...names.filter((name) => !files.includes(name)).map((name) => `${shown}/${name}.sql is missing`),
    ]
  }
  const reused = known.filter((name) => REPLACED_MIGRATIONS.includes(name))
  return [
    ...(await silentMigrations(out, known)),
    ...(await differences(out, known)),
    ...(await differences(`${out}/takeover`, replaced)),
    ...reused.map((name) => `${name} is the name of a migration that was replaced: choose another one`),
  ]
}

async function silentMigrations(out: string, known: readonly string[]): Promise<string[]> {
  const problems: string[] = []
  for (const name of known.slice(known.indexOf(SILENT_UNTIL) + 1)) {
    const lines = (await readFile(`${out}/${name}.sql`, 'utf8')).split('\n')
    // The first line of a migration outside of a transaction is `-- no-transaction`.
    if (!lines.slice(0, 2).some((line) => SAYS_LIVE.test(line)))
      problems.push(
        `${name}.sql does not say whether it may run live: begin it with \`-- live: yes: <why>\` or \`-- live: no: <what waits>\` (docs/upgrades.md)`,
      )
  }
  return problems
}

/**
 * The problems of the migrations: a change of the schema that no migration makes, or files that contradict one another. Works on a
 * copy, because drizzle-kit can only tell by writing the missing migration.
 */
async function migrationProblems(): Promise<string[]> {
  const config = ((await import(CONFIG)) as { default: DrizzleConfig }).default
  const out = `${repositoryRoot}/${config.out ?? 'drizzle'}`
  const problems = await nameProblems(out)
  if (problems.length > 0) return problems
  // Below node_modules, so that nothing is left in the working tree should this process be killed.
  const copy = await mkdtemp(`${repositoryRoot}/node_modules/.migrations-`)
  try {
    await cp(out, copy, { recursive: true })
    const before = new Set(await readdir(copy, { recursive: true }))
    const schema = [config.schema ?? []].flat().map((path) => `--schema=${path}`)
    const casing = config.casing === undefined ? [] : [`--casing=${config.casing}`]
    const relative = copy.slice(repositoryRoot.length + 1)
    const generated = await run('drizzle-kit', ['generate', `--dialect=${config.dialect}`, ...schema, ...casing, `--out=${relative}`], { timeoutSeconds: 60 })
    const added = (await readdir(copy, { recursive: true })).filter((file) => !before.has(file) && file.endsWith('.sql'))
    if (added.length > 0) return [`the schema has a change that no migration makes; \`npx drizzle-kit generate\` writes ${added.join(', ')}`]
    // drizzle-kit exits 0 even when the schema cannot be loaded: only its word that nothing has changed counts.
    if (!generated.ok || !generated.output.includes('No schema changes')) return [`drizzle-kit generate failed:\n${generated.output}`]
    const checked = await run('drizzle-kit', ['check', `--dialect=${config.dialect}`, `--out=${relative}`], { timeoutSeconds: 60 })
    return checked.ok && checked.output.includes("Everything's fine") ? [] : [`drizzle-kit check failed:\n${checked.output}`]
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
}

if (existsSync(CONFIG)) finish(await migrationProblems(), 'no pending schema change')
else finish(['not built yet: drizzle.config.ts'], '')
