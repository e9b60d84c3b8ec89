import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BriefFile } from '@muster/domain'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { checkFiles } from './check-files.ts'

const disk = vi.hoisted(() => ({ touched: [] as string[] }))

// The only way to see that a place was not looked at.
vi.mock('node:fs/promises', async (original) => {
  const real = await original<typeof import('node:fs/promises')>()
  const noting =
    <Rest extends unknown[], Result>(work: (path: string, ...rest: Rest) => Result) =>
    (path: string, ...rest: Rest): Result => {
      disk.touched.push(path)
      return work(path, ...rest)
    }
  return {
    ...real,
    lstat: noting(real.lstat as (path: string) => unknown),
    readlink: noting(real.readlink as (path: string) => unknown),
    realpath: noting(real.realpath as (path: string) => unknown),
  }
})

const AT = new Date(0)
let folder: string
let root: string
let outside: string

beforeAll(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'muster-files-')))
  root = join(folder, 'root')
  outside = join(folder, 'outside')
  await mkdir(join(root, 'src'), { recursive: true })
  await mkdir(join(folder, 'second'))
  await mkdir(outside)
  for (const file of [join(root, 'src/a.ts'), join(outside, 'secret'), join(folder, 'second/b.ts')]) await writeFile(file, '')
  const links: [string, string][] = [
    ['out', outside],
    ['out-relative', '../outside'],
    ['out-missing', '/no/such/folder'],
    ['secret', join(outside, 'secret')],
    ['no-secret', join(outside, 'no-secret')],
    ['inside', 'src/a.ts'],
    ['inside-folder', join(root, 'src')],
    ['dangling', 'src/none.ts'],
    ['second', join(folder, 'second')],
    ['loop', 'loop'],
    ['back', 'src/../../outside'],
  ]
  for (const [name, target] of links) await symlink(target, join(root, name))
  await symlink(root, join(folder, 'by-link'))
})

afterAll(() => rm(folder, { recursive: true, force: true }))

/** The warning about a path: that it is missing, or nothing. */
async function said(path: string, roots = [root, join(folder, 'second')]): Promise<'missing' | 'nothing'> {
  const file: BriefFile = { field: 'relevant_files', path, resolved: path.startsWith('/') ? path : null }
  const warnings = await checkFiles([file], roots, AT)
  return warnings.length === 0 ? 'nothing' : 'missing'
}

describe('a file that a brief names', () => {
  it.each([
    ['src/a.ts', 'nothing'],
    ['src', 'nothing'],
    ['src/./a.ts', 'nothing'],
    ['inside', 'nothing'],
    ['inside-folder/a.ts', 'nothing'],
    ['second/b.ts', 'nothing'],
    ['src/none.ts', 'missing'],
    ['none/none.ts', 'missing'],
    ['src/a.ts/b', 'missing'],
    ['dangling', 'missing'],
    ['loop', 'missing'],
    ['second/none.ts', 'missing'],
  ])('is looked for under a root: %s', async (path, expected) => {
    expect(await said(join(root, path))).toBe(expected)
  })

  it('is looked for under a root that is named by a link', async () => {
    const roots = [join(folder, 'by-link')]
    expect(await said(join(folder, 'by-link/src/a.ts'), roots)).toBe('nothing')
    disk.touched = []
    expect(await said(join(folder, 'by-link/none.ts'), roots)).toBe('missing')
    expect(disk.touched).toEqual([join(folder, 'by-link'), join(root, 'none.ts')])
  })

  it.each([
    ['by a link', 'secret', 'no-secret'],
    ['by a link to a folder', 'out/secret', 'out/no-secret'],
    ['by a relative link', 'out-relative/secret', 'out-relative/no-secret'],
    ['by a link that goes back', 'back/secret', 'back/no-secret'],
    ['by a link to nowhere', 'out/secret', 'out-missing/secret'],
  ])('is not told to exist or not outside, %s', async (_, existing, missing) => {
    disk.touched = []
    expect([await said(join(root, existing)), await said(join(root, missing))]).toEqual(['nothing', 'nothing'])
    expect(disk.touched.filter((path) => path.startsWith(outside) || path.startsWith('/no'))).toEqual([])
  })

  it('outside is not looked for at all', async () => {
    disk.touched = []
    for (const path of [join(outside, 'secret'), join(outside, 'no-secret'), '/etc/passwd', `${root}-sibling/a`, folder, 'relative.ts']) {
      expect(await said(path)).toBe('nothing')
    }
    expect(await said(join(root, 'src/a.ts'), [])).toBe('nothing')
    expect(disk.touched).toEqual([])
  })

  it('is not looked for under a root that is not there', async () => {
    expect(await said(join(folder, 'gone/a.ts'), [join(folder, 'gone')])).toBe('nothing')
  })
})
