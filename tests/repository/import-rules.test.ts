import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ImportReport, importRuleNames, judgeImports, unseenWorkspaces } from '../../scripts/check/import-rules.ts'
import { repositoryRoot } from '../../scripts/check/report.ts'

/** One wrong import for every rule: the file that makes it, what it imports, and the rule that must object. */
const WRONG: [rule: string, file: string, imported: string][] = [
  ['domain-imports-nothing-of-ours', 'packages/domain/src/a.ts', '../../db/src/index.ts'],
  ['db-imports-only-domain', 'packages/db/src/a.ts', '../../jobs/src/index.ts'],
  ['jobs-imports-only-domain', 'packages/jobs/src/a.ts', '../../usecases/src/index.ts'],
  ['runners-imports-only-domain', 'packages/runners/src/a.ts', '../../db/src/index.ts'],
  ['usecases-imports-only-domain-db-jobs', 'packages/usecases/src/a.ts', '../../runners/src/index.ts'],
  ['local-postgres-imports-nothing-of-ours', 'packages/local-postgres/src/a.ts', '../../domain/src/index.ts'],
  ['doors-are-thin', 'apps/api/src/routes/subtasks/create.ts', '../../../../../packages/jobs/src/index.ts'],
  ['doors-never-see-the-database', 'apps/worker/src/handlers/run-subtask.ts', '../../../../packages/db/src/index.ts'],
  ['apps-bring-no-database', 'apps/api/src/deps.ts', '../../../packages/local-postgres/src/index.ts'],
  ['apps-never-import-each-other', 'apps/api/src/b.ts', '../../worker/src/main.ts'],
  ['only-tests-import-apps', 'packages/usecases/src/b.ts', '../../../apps/worker/src/main.ts'],
  ['testing-is-for-tests', 'apps/worker/src/a.ts', '../../../packages/testing/src/index.ts'],
  ['packages-by-name', 'packages/usecases/src/c.ts', '../../db/src/client.ts'],
  ['packages-by-name-from-outside', 'tests/a.test.ts', '../packages/db/src/client.ts'],
  ['drizzle-only-in-db-and-jobs', 'packages/usecases/src/d.ts', 'drizzle-orm'],
  ['pg-boss-only-in-jobs', 'apps/worker/src/b.ts', 'pg-boss'],
  ['postgres-only-near-the-database', 'packages/jobs/src/b.ts', 'postgres'],
  ['fastify-only-in-api', 'apps/worker/src/c.ts', '@fastify/helmet'],
  ['mcp-only-in-api', 'packages/usecases/src/e.ts', '@modelcontextprotocol/server'],
  ['model-sdks-only-in-runners', 'apps/worker/src/d.ts', '@ai-sdk/openai'],
  ['no-cycles', 'packages/domain/src/left.ts', './right.ts'],
  ['no-unresolved', 'packages/domain/src/b.ts', './nowhere.ts'],
]

/** What the wrong imports point to. */
const GOOD: Record<string, string> = {
  ...Object.fromEntries(
    ['domain', 'db', 'jobs', 'runners', 'usecases', 'local-postgres', 'testing'].map((name) => [`packages/${name}/src/index.ts`, 'export const x = 1\n']),
  ),
  'packages/db/src/client.ts': 'export const x = 1\n',
  'packages/domain/src/right.ts': "import { x } from './left.ts'\nexport const y = x\n",
  'packages/domain/src/left.ts': "import { y } from './right.ts'\nexport const x = y\n",
  'apps/worker/src/main.ts': 'export const x = 1\n',
  // What is allowed, and therefore must not be objected to.
  'apps/worker/src/deps.ts': "import { x } from '../../../packages/domain/src/index.ts'\nexport const y = x\n",
  'packages/jobs/src/queue.ts': "import { PgBoss } from 'pg-boss'\nexport const y = PgBoss\n",
}

describe('the imports of this repository', () => {
  let report: ImportReport
  beforeAll(async () => {
    report = await judgeImports(repositoryRoot)
  })

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
    const files = { ...Object.fromEntries(WRONG.map(([, file, imported]) => [file, `import '${imported}'\n`])), ...GOOD }
    for (const [file, content] of Object.entries(files)) {
      await mkdir(join(root, dirname(file)), { recursive: true })
      await writeFile(join(root, file), content)
    }
    report = await judgeImports(root)
  })
  afterAll(() => rm(root, { recursive: true, force: true }))

  it.each(WRONG)('is caught by %s in %s', (rule, file) => {
    expect(report.violations).toContainEqual(expect.objectContaining({ rule, from: file }))
  })

  it('exists for every rule', async () => {
    expect(WRONG.map(([rule]) => rule).sort()).toEqual((await importRuleNames()).sort())
  })

  it('is not seen where there is none', () => {
    const blamed = report.violations.filter(({ rule }) => rule !== 'no-unresolved').map(({ from }) => from)
    expect(blamed).not.toContain('apps/worker/src/deps.ts')
    expect(blamed).not.toContain('packages/jobs/src/queue.ts')
  })
})
