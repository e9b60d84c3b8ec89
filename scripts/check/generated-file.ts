import { readFile, writeFile } from 'node:fs/promises'
import { finish, repositoryRoot } from './report.ts'

/**
 * The one kind of drift check for committed files that are generated: generate again and compare. With `--write` on the command
 * line the file is brought into step instead.
 */
export async function compareOrWrite(path: string, content: string): Promise<void> {
  const file = `${repositoryRoot}/${path}`
  if (process.argv.includes('--write')) {
    await writeFile(file, content)
    finish([], `${path} written`)
    return
  }
  const committed = await readFile(file, 'utf8').catch(() => undefined)
  if (committed === content) return finish([], `${path} is in step`)
  const reason = committed === undefined ? 'does not exist' : `differs from what is generated, first in line ${firstDifference(committed, content)}`
  finish([`${path} ${reason}; \`npm run check -- --fix\` writes it`], '')
}

function firstDifference(left: string, right: string): number {
  const other = right.split('\n')
  return left.split('\n').findIndex((line, index) => line !== other[index]) + 1 || other.length
}
