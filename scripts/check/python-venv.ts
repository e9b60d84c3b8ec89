import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { run } from './command.ts'
import { repositoryRoot } from './report.ts'

const CACHE = join(repositoryRoot, 'node_modules', '.cache')

/**
 * A Python with these packages, made once for each version of Python and of the packages.
 * @throws Error with what pip or venv says, when there is no python3 with venv, or no registry
 */
export async function pythonWith(packages: readonly string[]): Promise<string> {
  const version = await explained('python3', ['-c', 'import sys; print(sys.executable, sys.version)'])
  const key = createHash('sha256')
    .update(`${version}\n${packages.join('\n')}`)
    .digest('hex')
    .slice(0, 16)
  const folder = join(CACHE, `python-${key}`)
  if (!existsSync(folder)) {
    await mkdir(CACHE, { recursive: true })
    const unfinished = await mkdtemp(`${folder}-`)
    try {
      await explained('python3', ['-m', 'venv', unfinished])
      await explained(join(unfinished, 'bin', 'python'), ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...packages])
      // Whole or not at all, so that another process never uses a half of it. When two make it at once, the first one stays.
      await rename(unfinished, folder).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
      })
    } finally {
      await rm(unfinished, { recursive: true, force: true })
    }
  }
  return join(folder, 'bin', 'python')
}

async function explained(program: string, args: string[]): Promise<string> {
  const { ok, output } = await run(program, args)
  if (!ok)
    throw new Error(
      `${program} ${args.join(' ')}\n${output}\nThis needs Python 3.10 or newer with venv (apt-get install python3-venv), and the registry of pip.`,
    )
  return output
}
