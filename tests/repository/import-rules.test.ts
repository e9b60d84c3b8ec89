import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkImports, type ImportReport, importRuleNames, unseenWorkspaces } from '../../scripts/check/import-rules.ts'
import { repositoryRoot } from '../../scripts/check/report.ts'

/** One wrong import for every rule: the file that makes it, what it imports, and the rule that must object. */
const WRONG: [rule: string, file: string, imported: string][] = [
  ['domain-imports-nothing-of-ours', 'packages/domain/src/a.ts', '@muster/db'],
  ['archive-imports-only-domain', 'packages/archive/src/a.ts', '@muster/db'],
  ['db-imports-only-domain', 'packages/db/src/a.ts', '@muster/jobs'],
  ['jobs-imports-only-domain', 'packages/jobs/src/a.ts', '@muster/usecases'],
  ['jobs-imports-only-types-of-db', 'packages/jobs/src/c.ts', '@muster/db'],
  ['outbound-imports-only-domain', 'packages/outbound/src/a.ts', '@muster/db'],
  ['runners-imports-only-domain-outbound', 'packages/runners/src/a.ts', '@muster/db'],
  ['deliveries-imports-only-domain-outbound', 'packages/deliveries/src/a.ts', '@muster/db'],
  ['usecases-imports-only-domain-db-jobs', 'packages/usecases/src/a.ts', '@muster/runners'],
  ['local-postgres-imports-nothing-of-ours', 'packages/local-postgres/src/a.ts', '@muster/domain'],
  ['client-imports-nothing-of-ours', 'packages/client/src/a.ts', '@muster/domain'],
  ['clients-see-only-the-client', 'apps/cli/src/a.ts', '@muster/usecases'],
  ['client-runs-everywhere', 'packages/client/src/b.ts', 'node:fs'],
  ['doors-are-thin', 'apps/api/src/routes/subtasks/create.ts', '@muster/jobs'],
  ['doors-never-see-the-database', 'apps/worker/src/handlers/run-subtask.ts', '@muster/db'],
  ['apps-bring-no-database', 'apps/api/src/deps.ts', '@muster/local-postgres'],
  ['apps-never-import-each-other', 'apps/api/src/b.ts', '../../worker/src/main.ts'],
  ['only-tests-import-apps', 'packages/usecases/src/b.ts', '@muster/worker'],
  ['testing-is-for-tests', 'apps/worker/src/a.ts', '@muster/testing'],
  ['packages-by-name', 'packages/usecases/src/c.ts', '../../db/src/client.ts'],
  ['packages-by-name-from-outside', 'tests/a.test.ts', '../packages/db/src/client.ts'],
  ['drizzle-only-in-db-and-jobs', 'packages/usecases/src/d.ts', 'drizzle-orm'],
  ['pg-boss-only-in-jobs', 'apps/worker/src/b.ts', 'pg-boss'],
  ['postgres-only-near-the-database', 'packages/jobs/src/b.ts', 'postgres'],
  ['fastify-only-in-api', 'apps/worker/src/c.ts', '@fastify/helmet'],
  ['mcp-only-in-api-and-runners', 'packages/usecases/src/e.ts', '@modelcontextprotocol/server'],
  ['model-sdks-only-in-runners', 'apps/worker/src/d.ts', '@ai-sdk/openai'],
  ['no-cycles', 'packages/domain/src/left.ts', './right.ts'],
  ['no-cycles-between-folders', 'packages/usecases/src/red/a.ts', '../blue/a.ts'],
  ['no-unresolved', 'packages/domain/src/b.ts', './nowhere.ts'],
]

const PACKAGES = [
  'packages/domain',
  'packages/archive',
  'packages/db',
  'packages/jobs',
  'packages/outbound',
  'packages/runners',
  'packages/deliveries',
  'packages/usecases',
  'packages/local-postgres',
  'packages/client',
  'packages/testing',
  'apps/worker',
]

/** What no rule may object to. */
const RIGHT: Record<string, string> = {
  'apps/worker/src/deps.ts': "import { x } from '@muster/db'\nimport { x as y } from '@muster/jobs'\nexport const z = x + y\n",
  'apps/worker/src/handlers/sweep.ts': "import type { X } from '@muster/runners'\nimport { x } from '@muster/usecases'\nexport const y: X = x\n",
  'packages/usecases/src/subtasks/create-subtask.ts': "import { x } from '@muster/db'\nimport { x as y } from '../good.ts'\nexport const z = x + y\n",
  'packages/jobs/src/enqueue.ts': "import type { X } from '@muster/db'\nexport const y: X = 1\n",
  'apps/cli/src/main.ts': "import { x } from '@muster/client'\nimport { readFile } from 'node:fs/promises'\nexport const y = [x, readFile]\n",
  'packages/usecases/src/good.ts': 'export const x = 1\n',
  'packages/usecases/src/subtasks/create-subtask.test.ts': "import { x } from '@muster/testing'\nexport const y = x\n",
  'tests/journey.test.ts': "import { x } from '@muster/worker'\nimport { x as y } from '@muster/testing'\nexport const z = x + y\n",
}

/** A copy of the layout, small: every package exports one value and is found by its name, as pnpm links it. */
async function layOut(root: string): Promise<void> {
  const files: Record<string, string> = {
    ...Object.fromEntries(WRONG.map(([, file, imported]) => [file, `import '${imported}'\n`])),
    'packages/domain/src/left.ts': "import { y } from './right.ts'\nexport const x = y\n",
    'packages/domain/src/right.ts': "import { x } from './left.ts'\nexport const y = x\n",
    'packages/usecases/src/blue/a.ts': 'export const x = 1\n',
    'packages/usecases/src/blue/b.ts': "import { y } from '../red/b.ts'\nexport const x = y\n",
    'packages/usecases/src/red/b.ts': 'export const y = 1\n',
    'packages/db/src/client.ts': 'export const x = 1\n',
    'apps/worker/src/main.ts': 'export const x = 1\n',
    ...RIGHT,
  }
  for (const folder of PACKAGES) {
    files[`${folder}/package.json`] = JSON.stringify({ name: `@muster/${basename(folder)}`, exports: { '.': './src/index.ts' } })
    files[`${folder}/src/index.ts`] = 'export const x = 1\nexport type X = number\n'
  }
  for (const [file, content] of Object.entries(files)) {
    await mkdir(join(root, dirname(file)), { recursive: true })
    await writeFile(join(root, file), content)
  }
  await mkdir(join(root, 'node_modules/@muster'), { recursive: true })
  for (const folder of PACKAGES) await symlink(join(root, folder), join(root, 'node_modules/@muster', basename(folder)))
}

describe('the imports of this repository', () => {
  let report: ImportReport
  beforeAll(async () => {
    report = await checkImports(repositoryRoot)
    // On a busy machine it takes longer than hooks have by default.
  }, 120_000)

  it('were seen, in every app and package', async () => {
    expect(report.modules.length).toBeGreaterThan(10)
    expect(await unseenWorkspaces(repositoryRoot, report.modules)).toEqual([])
  })

  it('break no rule', () => {
    expect(report.violations).toEqual([])
  })
})

describe('a wrong import', () => {
  let root: string
  let report: ImportReport
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'muster-imports-'))
    await layOut(root)
    report = await checkImports(root)
  })
  afterAll(() => rm(root, { recursive: true, force: true }))

  it.each(WRONG)('is caught by %s in %s', (rule, file) => {
    // A rule about folders names the folder of the file.
    expect(report.violations.filter((violation) => violation.rule === rule).map(({ from }) => from)).toContainEqual(expect.toBeOneOf([file, dirname(file)]))
  })

  it('exists for every rule', async () => {
    expect(WRONG.map(([rule]) => rule).sort()).toEqual((await importRuleNames()).sort())
  })

  it('is not seen in what is allowed', () => {
    expect(report.modules).toEqual(expect.arrayContaining(Object.keys(RIGHT)))
    expect(report.violations.filter(({ from }) => from in RIGHT)).toEqual([])
  })
})
