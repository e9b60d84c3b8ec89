import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { editTool } from './edit.ts'
import { replaceText } from './replace-text.ts'
import { openWorkspace } from './workspace.ts'

let base: string
let root: string
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'muster-edit-')))
  root = join(base, 'workspace')
  mkdirSync(join(root, 'inner'), { recursive: true })
  writeFileSync(join(base, 'outside.txt'), 'not yours')
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

async function edit(file_path: string, old_string: string, new_string: string, more: object = {}): Promise<string> {
  const tool = editTool(await openWorkspace(root))
  return await tool.run((tool.inputSchema as z.ZodType).parse({ file_path, old_string, new_string, ...more }), { signal: new AbortController().signal })
}
const put = (path: string, content: string | Buffer) => writeFileSync(join(root, path), content)
const content = (path: string) => readFileSync(join(root, path), 'utf8')

describe('Edit', () => {
  it('replaces the one occurrence of a text', async () => {
    put('a.txt', 'one\n  two\nthree\n')
    expect(await edit('a.txt', '  two\n', '  2\n')).toBe('Replaced 1 occurrence in a.txt.')
    expect(content('a.txt')).toBe('one\n  2\nthree\n')
    await edit('./inner/../a.txt', 'one\n', '')
    expect(content('a.txt')).toBe('  2\nthree\n')
  })

  it('replaces every occurrence with replace_all', async () => {
    put('a.txt', 'x x x $& x')
    expect(await edit('a.txt', 'x', '$&', { replace_all: true })).toBe('Replaced 4 occurrences in a.txt.')
    expect(content('a.txt')).toBe('$& $& $& $& $&')
  })

  it.each([
    ['not there', 'One', 'x', {}, 'old_string was not found in a.txt. Read the file again, and copy the text exactly'],
    ['there with other blanks', 'one  two', 'x', {}, 'old_string was not found'],
    ['not there, for all', 'four', 'x', { replace_all: true }, 'old_string was not found'],
    ['there more than once', 'two', 'x', {}, 'old_string occurs 2 times in a.txt. Add lines around it until it occurs once, or set replace_all'],
    ['the same', 'one', 'one', {}, 'old_string and new_string are the same'],
    ['empty', '', 'x', {}, 'a.txt exists already'],
    ['replaced by half a character', 'one', '\ud800', {}, 'half of a surrogate pair'],
    ['replaced by U+0000', 'one', '\0', {}, 'U+0000'],
    ['replaced by too much', 'one', 'x'.repeat(9 * 1024 * 1024), {}, 'A file may have 8388608'],
  ])('refuses a text that is %s, says what to do, and leaves the file as it is', async (_, old, next, more, message) => {
    put('a.txt', 'one two two')
    await expect(edit('a.txt', old, next, more)).rejects.toThrow(message)
    expect(content('a.txt')).toBe('one two two')
    expect(readdirSync(root)).toEqual(['a.txt', 'inner'])
  })

  it('makes a new file of an empty old_string, and the folders above it', async () => {
    expect(await edit('new/deep/b.txt', '', 'first\n')).toBe('Made new/deep/b.txt.')
    expect(content('new/deep/b.txt')).toBe('first\n')
    put('empty', '')
    await expect(edit('empty', '', 'x')).rejects.toThrow('exists already')
    await expect(edit('missing.txt', 'a', 'b')).rejects.toThrow('missing.txt does not exist')
    await expect(edit('new/none/c.txt', 'a', 'b')).rejects.toThrow('does not exist')
    expect(existsSync(join(root, 'new/none'))).toBe(false)
  })

  it.each([
    ['of Windows', 'a\r\nb\r\nc\r\n', 'a\nb', 'x\ny\nz', 'x\r\ny\r\nz\r\nc\r\n'],
    ['of Windows, in a text of one line', 'a\r\nb\r\n', 'b', 'x\ny', 'a\r\nx\r\ny\r\n'],
    ['of Windows, that are asked for', 'a\r\nb\r\n', 'a\r\nb', 'x\r\ny', 'x\r\ny\r\n'],
    ['of Unix', 'a\nb\n', 'a\r\nb', 'x\r\ny', 'x\ny\n'],
    ['of both kinds', 'a\r\nb\nc\r\nd\n', 'b\nc', 'x\ny', 'a\r\nx\ny\r\nd\n'],
    ['that are lone returns', 'a\rb\rc', 'a\rb', 'x\ry', 'x\ry\rc'],
    ['in a file of one line', 'abc', 'b', '1\n2', 'a1\n2c'],
  ])('keeps line ends %s', async (_, before, old, next, after) => {
    put('a.txt', before)
    await edit('a.txt', old, next)
    expect(content('a.txt')).toBe(after)
  })

  it('keeps the mode of a file, its byte order mark and every other byte', async () => {
    put('run.sh', '\ufeff#!/bin/sh\necho \u{1f600} one\n')
    chmodSync(join(root, 'run.sh'), 0o751)
    await edit('run.sh', 'one', 'zwölf')
    expect(content('run.sh')).toBe('\ufeff#!/bin/sh\necho \u{1f600} zwölf\n')
    expect(statSync(join(root, 'run.sh')).mode & 0o7777).toBe(0o751)
  })

  it.each([
    ['binary', Buffer.from([0x61, 0, 0x62]), 'is a binary file'],
    ['binary far behind', Buffer.concat([Buffer.alloc(100_000, 'a'), Buffer.from([0])]), 'is a binary file'],
    ['not UTF-8', Buffer.from([0x61, 0xff, 0xfe]), 'is not valid UTF-8'],
    ['too large', Buffer.alloc(9 * 1024 * 1024, 'b'), 'at most 8388608 bytes can be changed'],
  ])('refuses a file that is %s without damage', async (_, bytes, message) => {
    put('data', bytes)
    await expect(edit('data', 'a', 'c')).rejects.toThrow(message)
    expect(readFileSync(join(root, 'data')).equals(bytes)).toBe(true)
  })

  it.each(['../outside.txt', '/etc/hostname', 'out-file', 'out-folder/outside.txt', 'out-folder/new.txt'])('does not leave the workspace: %s', async (path) => {
    symlinkSync(join(base, 'outside.txt'), join(root, 'out-file'))
    symlinkSync(base, join(root, 'out-folder'))
    await expect(edit(path, 'not', 'now')).rejects.toThrow('outside of your workspace')
    await expect(edit(path, '', 'now')).rejects.toThrow(path === 'out-file' ? 'exists already' : 'outside of your workspace')
    expect(readFileSync(join(base, 'outside.txt'), 'utf8')).toBe('not yours')
    expect(readdirSync(base)).toEqual(['outside.txt', 'workspace'])
  })

  it('follows a link that stays inside, and keeps it a link', async () => {
    put('inner/a.txt', 'one')
    symlinkSync('inner/a.txt', join(root, 'way'))
    await edit('way', 'one', 'two')
    expect([content('inner/a.txt'), realpathSync(join(root, 'way'))]).toEqual(['two', join(root, 'inner/a.txt')])
  })

  it('shows readers the old content or the new one: a file that is held open keeps the old one', async () => {
    put('a.txt', 'one')
    linkSync(join(root, 'a.txt'), join(root, 'inner/held'))
    await edit('a.txt', 'one', 'two')
    expect([content('a.txt'), content('inner/held')]).toEqual(['two', 'one'])
    expect(readdirSync(root)).toEqual(['a.txt', 'inner'])
  })

  it('makes one new file of two calls at once, and loses no change of a file without saying so', async () => {
    const made = await Promise.allSettled([edit('b.txt', '', 'first'), edit('b.txt', '', 'second')])
    expect(made.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
    put('a.txt', 'one two')
    const changed = await Promise.allSettled([edit('a.txt', 'one', '1'), edit('a.txt', 'two', '2')])
    const refused = changed.flatMap((each) => (each.status === 'rejected' ? [String(each.reason)] : []))
    expect(refused.every((reason) => reason.includes('Read it again'))).toBe(true)
    const [one, two] = changed.map(({ status }) => status === 'fulfilled')
    expect(content('a.txt')).toBe(`${one ? '1' : 'one'} ${two ? '2' : 'two'}`)
  })
})

it('text outside of the occurrences stays as it is, whatever the line ends', () => {
  const text = fc.array(fc.constantFrom('a', 'b', '\n', '\r\n', '\r'), { maxLength: 30 }).map((parts) => parts.join(''))
  fc.assert(
    fc.property(text, text, (before, after) => {
      const all = `${before}X${after}`
      expect(replaceText(all, { oldText: 'X', newText: 'Y', all: false })).toEqual({ text: `${before}Y${after}`, count: 1 })
    }),
  )
})
