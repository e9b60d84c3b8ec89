import { copyFile, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { run } from './command.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
/** What ends up in the image, and decides how it runs. */
const PRODUCT = ['apps', 'packages', 'drizzle', 'scripts', 'examples', 'patches', 'Dockerfile', 'docker-compose.yml', 'pnpm-lock.yaml']

/**
 * A copy of the project, as it stands or as it was at a commit, with a file that adapts docker-compose.yml to the tests: an image
 * name and a port of its own, and health checks every second.
 *
 * @param commit null copies the working tree
 * @returns its folder
 */
export async function copyCheckout(name: string, commit: string | null): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), `muster-docker-${name}-`))
  const files =
    commit === null
      ? `git ls-files -z --cached --others --exclude-standard --deduplicate | tar --create --null --files-from=- --ignore-failed-read`
      : `git archive ${commit}`
  await run(['bash', '-o', 'pipefail', '-c', `${files} | tar --extract --directory '${folder}'`], process.env, ROOT)
  // Dockerfiles of earlier versions name a frontend to be downloaded, which an engine without access to a registry cannot do, and the build of a dashboard
  // may lack a file that .dockerignore kept out.
  await copyFile(join(ROOT, '.dockerignore'), join(folder, '.dockerignore'))
  await run(['sed', '--in-place', '/^# syntax=/d', 'Dockerfile'], process.env, folder)
  const image = `muster-test:${name}`
  const services = {
    migrate: `{image: '${image}'}`,
    worker: `{image: '${image}'}`,
    api: `{image: '${image}', ports: !override ['127.0.0.1:0:7300'], healthcheck: {interval: 1s}}`,
  }
  await writeFile(
    join(folder, 'compose.test.yml'),
    `services:\n${Object.entries(services)
      .map(([service, says]) => `  ${service}: ${says}\n`)
      .join('')}`,
  )
  return folder
}

/** The newest commit whose product differs from the working tree. */
export async function previousVersion(): Promise<string> {
  const git = async (...args: string[]) => (await run(['git', ...args], process.env, ROOT)).trim()
  const isChanged = (await git('status', '--porcelain', '--', ...PRODUCT)) !== ''
  if (isChanged) return await git('rev-parse', 'HEAD')
  const newest = await git('rev-list', '--max-count=1', 'HEAD', '--', ...PRODUCT)
  return await git('rev-parse', '--verify', `${newest}~1`)
}
