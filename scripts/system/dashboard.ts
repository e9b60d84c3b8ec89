import { existsSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { run } from '../check/command.ts'
import { ROOT } from './environment.ts'
import { ExplainedError } from './errors.ts'

const DASHBOARD = join(ROOT, 'apps/dashboard')
const BUILT = join(DASHBOARD, 'dist/index.html')
/** What the build is made of; the guides of docs/ become pages. */
const SOURCES = ['src', 'build', 'index.html', 'docs.html', 'vite.config.ts', 'package.json', '../../packages/client/src', '../../docs'].map((path) =>
  join(DASHBOARD, path),
)

/**
 * Builds the dashboard, unless a build exists that is newer than everything it is made of.
 *
 * @returns whether it was built now
 * @throws ExplainedError with what the build printed
 */
export async function buildDashboard(log: (line: string) => void): Promise<boolean> {
  const builtMs = existsSync(BUILT) ? (await stat(BUILT)).mtimeMs : 0
  if ((await newestMs(SOURCES)) < builtMs) return false
  log('building the dashboard; this takes a few seconds …')
  const vite = join(dirname(createRequire(join(DASHBOARD, 'package.json')).resolve('vite/package.json')), 'bin/vite.js')
  const { ok, output } = await run(process.execPath, [vite, 'build', '--logLevel', 'warn', DASHBOARD], {
    // Tests have another value, with which React is built as for its own development.
    env: { NODE_ENV: 'production' },
  })
  if (!ok) throw new ExplainedError(`The dashboard could not be built:\n${output}`)
  return true
}

async function newestMs(paths: readonly string[]): Promise<number> {
  const times = await Promise.all(
    paths.map(async (path) => {
      const found = await stat(path)
      if (!found.isDirectory()) return found.mtimeMs
      return newestMs((await readdir(path)).map((name) => join(path, name)))
    }),
  )
  return Math.max(0, ...times)
}
