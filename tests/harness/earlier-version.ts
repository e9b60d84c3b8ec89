import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, cp, mkdir, mkdtemp, readdir, readFile, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)
const git = async (...args: string[]): Promise<string> => (await run('git', args, { cwd: ROOT })).stdout.trim()

/** The newest released version before this one, or, before the first release, the commit before the newest migration. */
async function findEarlierVersion(): Promise<string> {
  const released = await git('describe', '--tags', '--abbrev=0', '--match', 'v*', 'HEAD~1').catch(() => undefined)
  if (released !== undefined) return released
  const newest = await git('log', '--max-count=1', '--format=%H', '--diff-filter=A', 'HEAD', '--', 'drizzle/[0-9]*.sql')
  return await git('rev-parse', '--verify', `${newest}~1`)
}

/**
 * Lays an earlier version of Muster into a folder of its own, ready to run: what `git archive` has of it, with the dependencies that
 * are installed here if its lock file is the same, and an installation of its own otherwise.
 *
 * @returns its folder
 */
export async function layEarlierVersion(): Promise<{ folder: string; commit: string }> {
  const commit = await findEarlierVersion()
  const folder = await mkdtemp(join(tmpdir(), 'muster-earlier-'))
  await chmod(folder, 0o755)
  await run('bash', ['-o', 'pipefail', '-c', `git archive ${commit} | tar --extract --directory '${folder}'`], { cwd: ROOT })
  const lockOf = (root: string) => readFile(join(root, 'pnpm-lock.yaml'), 'utf8')
  if ((await lockOf(folder)) === (await lockOf(ROOT))) await linkDependencies(folder)
  else await install(folder)
  return { folder, commit }
}

/** Links are relative: those to packages of the workspace lead to the earlier ones, those to libraries to the ones here. */
async function linkDependencies(folder: string): Promise<void> {
  const own = ['.', ...(await packagesOf(folder, 'apps')), ...(await packagesOf(folder, 'packages'))]
  for (const path of own) {
    const [from, to] = [join(ROOT, path, 'node_modules'), join(folder, path, 'node_modules')]
    if (!existsSync(from)) continue
    await mkdir(to)
    for (const name of await readdir(from)) {
      if (name === '.pnpm') await symlink(join(from, name), join(to, name))
      else if (!name.startsWith('.')) await cp(join(from, name), join(to, name), { recursive: true, verbatimSymlinks: true })
    }
  }
}

async function packagesOf(folder: string, parent: string): Promise<string[]> {
  return (await readdir(join(folder, parent))).map((name) => join(parent, name))
}

/** As the Dockerfile does it. */
async function install(folder: string): Promise<void> {
  const { packageManager } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as { packageManager: string }
  const filters = ['muster...', '@muster/api...', '@muster/worker...'].flatMap((name) => ['--filter-prod', name])
  const options = ['install', '--frozen-lockfile', '--prod', '--prefer-offline', ...filters]
  const env = { ...process.env, CI: 'true', pnpm_config_pm_on_fail: 'ignore' }
  await run('npx', ['--yes', packageManager.split('+')[0] ?? '', ...options], { cwd: folder, env, maxBuffer: 64 * 1024 * 1024 })
}
