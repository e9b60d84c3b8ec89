import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BriefFile, type FileCheck, resolveBriefPath } from '@muster/domain'
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
    opendir: noting(real.opendir as (path: string) => unknown),
  }
})

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

/** What is found out about a path that starts at the root of the test, or at a folder of its own. */
async function check(path: string, roots = [root, join(folder, 'second')], start: string | null = root): Promise<FileCheck> {
  const file: BriefFile = { field: 'relevant_files', path, resolved: resolveBriefPath(path, start) }
  const [found] = await checkFiles([file], roots)
  return found as FileCheck
}

/** The state of a path, which is as it stands: a relative one starts nowhere. */
async function said(path: string, roots?: string[]): Promise<FileCheck['status']> {
  return (await check(path, roots, null)).status
}

describe('a file that a brief names', () => {
  it.each([
    ['src/a.ts', 'found'],
    ['src', 'found'],
    ['src/./a.ts', 'found'],
    ['inside', 'found'],
    ['inside-folder/a.ts', 'found'],
    ['second/b.ts', 'found'],
    ['src/none.ts', 'not_found'],
    ['none/none.ts', 'not_found'],
    ['src/a.ts/b', 'not_found'],
    ['dangling', 'not_found'],
    ['loop', 'not_found'],
    ['second/none.ts', 'not_found'],
  ])('is looked for under a root: %s', async (path, expected) => {
    expect(await said(join(root, path))).toBe(expected)
  })

  it('is looked for under a root that is named by a link', async () => {
    const roots = [join(folder, 'by-link')]
    expect(await said(join(folder, 'by-link/src/a.ts'), roots)).toBe('found')
    disk.touched = []
    expect(await said(join(folder, 'by-link/none.ts'), roots)).toBe('not_found')
    expect(disk.touched).toEqual([join(folder, 'by-link'), join(root, 'none.ts'), root])
  })

  it.each([
    ['by a link', 'secret', 'no-secret'],
    ['by a link to a folder', 'out/secret', 'out/no-secret'],
    ['by a relative link', 'out-relative/secret', 'out-relative/no-secret'],
    ['by a link that goes back', 'back/secret', 'back/no-secret'],
    ['by a link to nowhere', 'out/secret', 'out-missing/secret'],
  ])('is not told to exist or not outside, %s', async (_, existing, missing) => {
    disk.touched = []
    expect([await said(join(root, existing)), await said(join(root, missing))]).toEqual(['not_checked', 'not_checked'])
    expect(disk.touched.filter((path) => path.startsWith(outside) || path.startsWith('/no'))).toEqual([])
  })

  it('outside is not looked for at all', async () => {
    disk.touched = []
    for (const path of [join(outside, 'secret'), join(outside, 'no-secret'), '/etc/passwd', `${root}-sibling/a`, folder, 'relative.ts']) {
      expect(await said(path)).toBe('not_checked')
    }
    expect(await said(join(root, 'src/a.ts'), [])).toBe('not_checked')
    expect(disk.touched).toEqual([])
  })

  it('is not looked for under a root that is not there', async () => {
    expect(await said(join(folder, 'gone/a.ts'), [join(folder, 'gone')])).toBe('not_checked')
  })
})

describe('the nearest name of a file that is not there', () => {
  beforeAll(async () => {
    await mkdir(join(root, 'near/sub'), { recursive: true })
    for (const name of ['lexer.ts', 'laxer.ts', 'parser.ts', 'README.md', 'sub/lexen.ts']) await writeFile(join(root, 'near', name), '')
    await symlink('none', join(root, 'near/dangling'))
    await mkdir(join(root, 'many'))
    await Promise.all(Array.from({ length: 2_000 }, (_, nth) => writeFile(join(root, 'many', `file-${nth}`), '')))
  })

  it.each([
    ['near/lexr.ts', 'near/lexer.ts'],
    ['./near/lexxer.ts', './near/lexer.ts'],
    ['near/readme.MD', 'near/README.md'],
    ['near/../near/parserr.ts', 'near/../near/parser.ts'],
    ['near/sub/lexer.ts', 'near/sub/lexen.ts'],
    // As near as another: the first by name.
    ['near/lixer.ts', 'near/laxer.ts'],
    ['near/zzz.go', null],
    ['near/dangling', null],
    ['naer/lexer.ts', null],
    ['near/lexer.ts/lexer.ts', null],
    ['near/none/..//lexr.ts/.', null],
  ])('of %s is %s', async (path, nearest) => {
    expect(await check(path)).toEqual({ field: 'relevant_files', path, status: 'not_found', nearest })
    const absolute = join(root, path)
    if (nearest !== null) expect((await check(absolute, [root], null)).nearest).toBe(join(root, nearest))
  })

  it('is looked for in a folder of any size', async () => {
    // Which of its names are compared, the disk decides.
    expect(await check('many/file-x')).toMatchObject({ status: 'not_found', nearest: expect.stringMatching(/^many\/file-\d+$/) })
  })

  it('is never looked for outside, neither by a path nor by a link', async () => {
    disk.touched = []
    for (const path of [join(outside, 'secre'), 'out/secre', 'out-relative/secre', 'back/secre', '../outside/secre', `${root}-sibling/a`]) {
      expect(await check(path)).toMatchObject({ status: 'not_checked', nearest: null })
    }
    expect(disk.touched.filter((path) => !path.startsWith(root) && path !== join(folder, 'second'))).toEqual([])
  })
})
