import { mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Settings } from '@muster/domain'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findClientFolder } from './check-files.ts'

let folder: string

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'muster-client-')))
  for (const path of ['root/project/src', 'root-2', 'outside']) await mkdir(join(folder, path), { recursive: true })
  await writeFile(join(folder, 'root/file'), '')
  const links: [string, string][] = [
    ['root/by-link', 'project'],
    ['root/out', '../outside'],
    ['root/out-absolute', join(folder, 'outside')],
    ['root/second', join(folder, 'root-2')],
    ['root/loop', 'loop'],
    ['roots', 'root'],
  ]
  for (const [name, target] of links) await symlink(target, join(folder, name))
})
afterAll(() => rm(folder, { recursive: true }))

function find(path: string, roots = ['root', 'root-2']): Promise<string | null> {
  const settings = { WORKSPACE_ROOTS: roots.map((root) => join(folder, root)) } as Settings
  return findClientFolder({ settings }, path)
}

describe('a client folder', () => {
  it.each([
    ['root', 'root'],
    ['root/project', 'root/project'],
    ['root//project/./src/..', 'root/project'],
    ['root/by-link/src', 'root/project/src'],
    ['root/second', 'root-2'],
    ['root/out', null],
    ['root/out-absolute', null],
    ['root/project/../../outside', null],
    ['root/loop', null],
    ['root/file', null],
    ['root/none', null],
    ['outside', null],
    ['root-3', null],
  ])('of %s is %s', async (path, expected) => {
    expect(await find(`${folder}/${path}`)).toBe(expected === null ? null : join(folder, expected))
  })

  it('is the real one below a root that is named by a link', async () => {
    expect(await find(join(folder, 'roots/project'), ['roots'])).toBe(join(folder, 'root/project'))
  })

  it('is none without roots, and none of a path that starts nowhere', async () => {
    expect(await find(join(folder, 'root/project'), [])).toBeNull()
    expect(await find('root/project')).toBeNull()
    expect(await find('~/project')).toBeNull()
  })

  it('is resolved anew each time', async () => {
    const path = join(folder, 'root/moving')
    await mkdir(path)
    expect(await find(path)).toBe(path)
    await rename(path, `${path}-away`)
    await symlink(join(folder, 'outside'), path)
    expect(await find(path)).toBeNull()
  })
})
