import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pythonWith } from '../../scripts/check/python-venv.ts'

const REQUIREMENTS = join(import.meta.dirname, '..', '..', 'examples', 'python', 'requirements.txt')

/**
 * A Python with the packages of examples/python, which test files share.
 * @throws Error with what pip or venv says, when there is no python3 with venv, or no registry
 */
export async function pythonPath(): Promise<string> {
  const lines = (await readFile(REQUIREMENTS, 'utf8')).split('\n').map((line) => line.trim())
  return pythonWith(lines.filter((line) => line !== '' && !line.startsWith('#')))
}
