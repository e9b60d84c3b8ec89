import { execFileSync } from 'node:child_process'
import { existsSync, linkSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { globTool } from './glob.ts'
import { grepTool } from './grep.ts'
import { readTool } from './read.ts'
import type { AiTool } from './tool.ts'
import { openWorkspace, type Workspace } from './workspace.ts'
import { writeTool } from './write.ts'

let base: string
let root: string
let workspace: Workspace
const context = { signal: new AbortController().signal }
const call = (tool: AiTool, input: object) => tool.run((tool.inputSchema as z.ZodType).parse(input), context)
const read = (path: string, more: object = {}) => call(readTool(workspace), { file_path: path, ...more })
const write = (path: string, content = 'written') => call(writeTool(workspace), { file_path: path, content })

beforeEach(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'muster ai-')))
  root = join(base, 'workspace')
  mkdirSync(join(root, 'inner'), { recursive: true })
  mkdirSync(join(base, 'workspace-of-another'))
  writeFileSync(join(base, 'outside.txt'), 'nobody’s business')
  writeFileSync(join(base, 'workspace-of-another', 'theirs.txt'), 'nobody’s business')
  writeFileSync(join(root, 'inner', 'own.txt'), 'one\ntwo\nthree\n')
  workspace = await openWorkspace(root)
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

describe('a path', () => {
  it.each(['inner/own.txt', './inner/own.txt', 'inner/../inner/own.txt', 'inner//own.txt'])('inside is read: %s', async (path) => {
    expect(await read(path)).toBe('     1\tone\n     2\ttwo\n     3\tthree')
  })

  it('inside may be absolute, and lead through a link to the workspace', async () => {
    symlinkSync(root, join(base, 'another-way'))
    expect(await read(join(root, 'inner/own.txt'))).toContain('one')
    expect(await read(join(base, 'another-way', 'inner/own.txt'))).toContain('one')
  })

  it.each(['../outside.txt', 'inner/../../outside.txt', '../workspace-of-another/theirs.txt', '/etc/passwd', '/proc/self/environ', '/no/such/file', '..', '/'])(
    'outside is refused alike, whether it is there or not: %s',
    async (path) => {
      await expect(read(path)).rejects.toThrow('outside of your workspace')
      await expect(write(path === '..' || path === '/' ? `${path}/x` : path)).rejects.toThrow('outside of your workspace')
      expect(existsSync('/no')).toBe(false)
      expect(readFileSync(join(base, 'outside.txt'), 'utf8')).toBe('nobody’s business')
    },
  )

  it('through a link that leads out is refused, for reading, writing and searching', async () => {
    symlinkSync(join(base, 'outside.txt'), join(root, 'file-link'))
    symlinkSync(base, join(root, 'folder-link'))
    symlinkSync('folder-link', join(root, 'link-to-link'))
    symlinkSync(join(base, 'not-there-yet.txt'), join(root, 'dangling'))
    for (const path of ['file-link', 'folder-link/outside.txt', 'link-to-link/outside.txt']) {
      await expect(read(path)).rejects.toThrow('outside of your workspace')
      await expect(write(path)).rejects.toThrow('outside of your workspace')
    }
    await expect(write('folder-link/new/deep.txt')).rejects.toThrow('outside of your workspace')
    await expect(write('dangling')).rejects.toThrow('may not be followed')
    await expect(call(globTool(workspace), { pattern: '*', path: 'folder-link' })).rejects.toThrow('outside of your workspace')
    await expect(call(grepTool(workspace), { pattern: 'business', path: 'file-link' })).rejects.toThrow('outside of your workspace')
    expect(await call(grepTool(workspace), { pattern: 'business' })).toBe('Nothing matches.')
    expect(await call(globTool(workspace), { pattern: '**' })).toBe('inner/own.txt')
    expect(existsSync(join(base, 'new'))).toBe(false)
    expect(existsSync(join(base, 'not-there-yet.txt'))).toBe(false)
  })

  it('through a link that stays inside is followed', async () => {
    symlinkSync('inner', join(root, 'way'))
    symlinkSync('inner/own.txt', join(root, 'shortcut'))
    expect(await read('way/own.txt')).toContain('two')
    await write('shortcut', 'changed')
    expect(readFileSync(join(root, 'inner/own.txt'), 'utf8')).toBe('changed')
  })

  it('that is exchanged for a link while it is used never leads out', async () => {
    writeFileSync(join(root, 'moving'), 'mine')
    for (let round = 0; round < 200; round += 1) {
      const reading = read('moving').catch((error: Error) => error.message)
      const writing = write('moving', 'mine').catch(() => {})
      rmSync(join(root, 'moving'), { force: true })
      if (round % 2 === 0) symlinkSync(join(base, 'outside.txt'), join(root, 'moving'))
      else writeFileSync(join(root, 'moving'), 'mine')
      expect(await reading).not.toContain('nobody')
      await writing
    }
    expect(readFileSync(join(base, 'outside.txt'), 'utf8')).toBe('nobody’s business')
  })

  it('to a pipe or a folder is no file, and nothing waits for it', async () => {
    execFileSync('/bin/sh', ['-c', 'mkfifo pipe'], { cwd: root })
    await expect(read('pipe')).rejects.toThrow('is not a file')
    await expect(write('pipe')).rejects.toThrow('is not a file')
    await expect(read('inner')).rejects.toThrow('is not a file')
    await expect(read('.')).rejects.toThrow('is a folder')
    await expect(write('inner')).rejects.toThrow('is a folder')
  })

  it.each(['', 'a\0b', 'x'.repeat(5_000)])('that is none is refused', async (path) => {
    await expect(read(path)).rejects.toThrow(/no path|too long/)
  })
})

describe('Read', () => {
  it('gives a part, and says where to read on', async () => {
    writeFileSync(join(root, 'long.txt'), Array.from({ length: 3_000 }, (_, index) => `line ${index + 1}`).join('\n'))
    expect(await read('long.txt', { offset: 10, limit: 2 })).toBe(
      '    10\tline 10\n    11\tline 11\n[long.txt goes on: it has 3000 lines, read on with offset 12]',
    )
    expect(await read('long.txt')).toContain('read on with offset 2001')
    await expect(read('long.txt', { offset: 4_000 })).rejects.toThrow('has 3000 lines')
  })

  it('cuts what is too much, and refuses what is no text', async () => {
    writeFileSync(join(root, 'wide.txt'), `${'x'.repeat(10_000)}\n`.repeat(100))
    expect((await read('wide.txt')).length).toBeLessThan(66_000)
    writeFileSync(join(root, 'image'), Buffer.from([0x89, 0x50, 0, 1]))
    await expect(read('image')).rejects.toThrow('no text file')
    await expect(read('nothing')).rejects.toThrow('nothing does not exist')
    linkSync(join(root, 'image'), join(root, 'empty-not'))
    writeFileSync(join(root, 'empty'), '')
    expect(await read('empty')).toBe('empty is empty.')
  })
})

describe('Write', () => {
  it('makes folders, and puts the new content in place of the old', async () => {
    await write('a/b/c.txt', 'first and long')
    expect(await write('a/b/c.txt', 'second')).toBe('Wrote 6 bytes to a/b/c.txt.')
    expect(readFileSync(join(root, 'a/b/c.txt'), 'utf8')).toBe('second')
    await expect(write('inner/own.txt/below')).rejects.toThrow('no folder')
  })
})

describe('Glob', () => {
  it.each([
    ['*.txt', ['top.txt']],
    ['**/*.txt', ['inner/deep/x.txt', 'inner/own.txt', 'top.txt']],
    ['inner/**', ['inner/deep/x.txt', 'inner/own.txt', 'inner/Ü.md']],
    ['**/{own,top}.*', ['inner/own.txt', 'top.txt']],
    ['inner/?.md', ['inner/Ü.md']],
    ['**/[a-x].txt', ['inner/deep/x.txt']],
    ['**/[!a-x].md', ['inner/Ü.md']],
    ['./top.*', ['top.txt']],
    ['a+b(c).txt', []],
  ])('finds by %s', async (pattern, expected) => {
    mkdirSync(join(root, 'inner/deep'))
    mkdirSync(join(root, 'node_modules'))
    for (const path of ['top.txt', 'inner/deep/x.txt', 'inner/Ü.md', 'node_modules/y.txt']) writeFileSync(join(root, path), path)
    expect(await call(globTool(workspace), { pattern })).toBe(expected.length === 0 ? 'No file matches.' : expected.join('\n'))
  })

  it('finds in a folder, and gives paths that can be read', async () => {
    const found = await call(globTool(workspace), { pattern: '*', path: 'inner' })
    expect(found).toBe('inner/own.txt')
    expect(await read(found)).toContain('one')
  })

  it('refuses a pattern that cannot be read', async () => {
    await expect(call(globTool(workspace), { pattern: '{a,b' })).rejects.toThrow('without its }')
    await expect(call(globTool(workspace), { pattern: '{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}' })).rejects.toThrow('at most 64 alternatives')
  })
})

describe('Grep', () => {
  it('gives paths, lines or counts', async () => {
    writeFileSync(join(root, 'top.md'), 'Two\nnone\n')
    const grep = (input: object) => call(grepTool(workspace), input)
    expect(await grep({ pattern: 'two' })).toBe('inner/own.txt')
    expect(await grep({ pattern: 'TWO', '-i': true, output_mode: 'content' })).toBe('inner/own.txt:2:two\ntop.md:1:Two')
    expect(await grep({ pattern: '^t', output_mode: 'count' })).toBe('inner/own.txt:2')
    expect(await grep({ pattern: 'o', glob: '*.md' })).toBe('top.md')
    expect(await grep({ pattern: 'three', path: 'inner/own.txt', output_mode: 'content' })).toBe('inner/own.txt:3:three')
  })

  it('takes an evil pattern in its stride, and refuses what its engine has not', async () => {
    writeFileSync(join(root, 'evil.txt'), `${'a'.repeat(50_000)}!`)
    expect(await call(grepTool(workspace), { pattern: '(a+)+$' })).toBe('Nothing matches.')
    await expect(call(grepTool(workspace), { pattern: '(?=x)' })).rejects.toThrow('cannot be read')
  })

  it('gives a pattern up that would hold the worker up for minutes', async () => {
    writeFileSync(join(root, 'wide.txt'), `${'é'.repeat(4_000)}\n`.repeat(500))
    await expect(call(grepTool(workspace), { pattern: '\\pL{1000}'.repeat(50) })).rejects.toThrow('takes too long')
  })

  it('stops when it is told to', async () => {
    await expect(grepTool(workspace).run({ pattern: 'x' }, { signal: AbortSignal.abort() })).rejects.toThrow()
  })
})
