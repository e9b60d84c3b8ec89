import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const ROOT = join(import.meta.dirname, '..', '..')
const REQUIREMENTS = join(ROOT, 'examples', 'python', 'requirements.txt')

/**
 * A Python with the packages of examples/python, which test files share: it is made once for each version of Python and of the packages.
 * @throws Error with what pip or venv says, when there is no python3 with venv, or no registry
 */
export async function pythonPath(): Promise<string> {
  const { stdout: version } = await run('python3', ['-c', 'import sys; print(sys.executable, sys.version)'])
  const key = createHash('sha256')
    .update(version + (await readFile(REQUIREMENTS)))
    .digest('hex')
    .slice(0, 16)
  const cache = join(ROOT, 'node_modules', '.cache')
  const folder = join(cache, `python-${key}`)
  if (!existsSync(folder)) {
    await mkdir(cache, { recursive: true })
    const unfinished = await mkdtemp(`${folder}-`)
    const python = join(unfinished, 'bin', 'python')
    try {
      await explained('python3', ['-m', 'venv', unfinished])
      await explained(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--requirement', REQUIREMENTS])
      // Whole or not at all, so that another file never uses a half of it. When two make it at once, the first one stays.
      await rename(unfinished, folder).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
      })
    } finally {
      await rm(unfinished, { recursive: true, force: true })
    }
  }
  return join(folder, 'bin', 'python')
}

/** Runs a program. venv writes what it lacks to stdout, which the error of `execFile` leaves out. */
async function explained(program: string, args: string[]): Promise<void> {
  await run(program, args).catch(({ message, stdout }: { message: string; stdout: string }) => {
    throw new Error(`${message}\n${stdout}\nThis needs Python 3.10 or newer with venv (apt-get install python3-venv), and the registry of pip.`)
  })
}
