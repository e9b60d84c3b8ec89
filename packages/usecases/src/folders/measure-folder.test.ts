import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { measureFolder } from './measure-folder.ts'

let root: string
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'muster-measure-'))
  await mkdir(join(root, 'folder'))
  await writeFile(join(root, 'folder', 'file.txt'), 'x')
})
afterEach(() => rm(root, { recursive: true }))

async function filesIn(name: string): Promise<number> {
  const size = { files: 0, bytes: 0 }
  for await (const _ of measureFolder(join(root, name), size));
  return size.files
}

it('counts what is in a folder', async () => {
  await symlink(root, join(root, 'folder', 'link'))
  expect(await filesIn('folder')).toBe(2)
})

it('finds nothing in a link to a folder, in a file, and where there is nothing', async () => {
  await symlink(join(root, 'folder'), join(root, 'link'))
  expect(await Promise.all(['link', join('folder', 'file.txt'), 'missing'].map(filesIn))).toEqual([0, 0, 0])
})
