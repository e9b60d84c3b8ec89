import { spawnSync } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { repositoryRoot } from '../../scripts/check/report.ts'

/** Sources that stand where they must not, or must; the expected rule, and whether it has to object. */
const SOURCES: [file: string, rule: string, objects: boolean, source: string][] = [
  ['packages/usecases/src/a.ts', 'plugin', true, 'export const at = new Date()\n'],
  ['packages/usecases/src/b.ts', 'plugin', true, 'export const at = Date.now()\n'],
  ['packages/usecases/src/c.ts', 'plugin', true, 'export const at = [1].map(Date.now)\n'],
  ['apps/api/src/app.ts', 'plugin', true, 'export const at = new Date()\n'],
  ['packages/usecases/src/clock.ts', 'plugin', false, 'export const at = new Date()\n'],
  ['packages/usecases/src/d.ts', 'plugin', false, 'export const at = new Date(0)\n'],
  ['packages/usecases/src/d.test.ts', 'plugin', false, 'export const at = Date.now()\n'],
  ['apps/api/src/config.ts', 'noProcessEnv', true, 'export const port = process.env.PORT\n'],
  ['packages/db/src/client.ts', 'noProcessEnv', true, 'export const port = process.env.PORT\n'],
  ['apps/api/src/main.ts', 'noProcessEnv', false, 'export const port = process.env.PORT\n'],
  ['scripts/a.ts', 'noProcessEnv', false, 'export const port = process.env.PORT\n'],
  ['packages/db/src/e.ts', 'noExplicitAny', true, 'export const x: any = 1\n'],
  ['packages/db/src/f.ts', 'noConsole', true, 'console.log(1)\n'],
  ['scripts/b.ts', 'noConsole', false, 'console.log(1)\n'],
  ['packages/db/src/g.ts', 'noFloatingPromises', true, 'async function f(): Promise<void> {}\nexport function g(): void {\n  f()\n}\n'],
  ['packages/db/src/h.ts', 'noEnum', true, 'export enum E {\n  a,\n}\n'],
  ['packages/db/src/NotKebab.ts', 'useFilenamingConvention', true, 'export const x = 1\n'],
]

interface Diagnostic {
  category: string
  location: { path: string }
}

describe('the lint rules', () => {
  let root: string
  let found: string[]
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'muster-lint-'))
    const config = JSON.parse(await readFile(`${repositoryRoot}/biome.json`, 'utf8')) as Record<string, unknown>
    const files = Object.fromEntries(SOURCES.map(([file, , , source]) => [file, source]))
    // The copy is no Git repository; everything else of the configuration counts as it is.
    files['biome.json'] = JSON.stringify({ ...config, vcs: { enabled: false } })
    for (const [file, content] of Object.entries(files)) {
      await mkdir(join(root, dirname(file)), { recursive: true })
      await writeFile(join(root, file), content)
    }
    await cp(`${repositoryRoot}/scripts/check/real-clock.grit`, join(root, 'scripts/check/real-clock.grit'), { recursive: true })
    const { stdout } = spawnSync(`${repositoryRoot}/node_modules/.bin/biome`, ['lint', '--reporter=json', '--max-diagnostics=none', '.'], {
      cwd: root,
      encoding: 'utf8',
    })
    const { diagnostics } = JSON.parse(stdout) as { diagnostics: Diagnostic[] }
    found = diagnostics.map(({ category, location }) => `${category.split('/').at(-1)} in ${location.path}`)
  })
  afterAll(() => rm(root, { recursive: true, force: true }))

  it.each(SOURCES)('in %s: %s objects: %s', (file, rule, objects) => {
    if (objects) expect(found).toContain(`${rule} in ${file}`)
    else expect(found).not.toContain(`${rule} in ${file}`)
  })
})
