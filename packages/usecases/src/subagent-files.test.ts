import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rename, rm, symlink, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { parseSettings } from '@muster/domain'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { listSubagentFiles, readSubagentFile, type SubagentFile } from './subagent-files.ts'

let root: string
let first: string
let second: string
let deps: Parameters<typeof readSubagentFile>[0]
const warn = vi.fn()
const info = vi.fn()

const definition = (description: string) => `---\ndescription: ${description}\ntools: Read\n---\n\nDo it.\n`
const read = (name: string) => readSubagentFile(deps, name)
const described = (file: SubagentFile | null) => file?.reading.definition?.description
const reasons = (file: SubagentFile | null) => file?.reading.problems.map(({ reason }) => reason)

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'muster-subagents-'))
  first = join(root, 'first')
  second = join(root, 'second')
  await Promise.all([mkdir(first), mkdir(second)])
  deps = { settings: parseSettings({ SUBAGENTS_DIRS: `${first}:${second}` }), log: { debug() {}, info, warn, error() {} } }
})

afterEach(async () => {
  vi.restoreAllMocks()
  vi.clearAllMocks()
  await rm(root, { recursive: true, force: true })
})

describe('readSubagentFile', () => {
  it('reads the file of the first folder that has one, and says where it lies', async () => {
    await writeFile(join(first, 'one.md'), definition('Of the first'))
    await writeFile(join(second, 'one.md'), definition('Of the second'))
    await writeFile(join(second, 'two.md'), definition('Two'))
    expect((await read('one'))?.reading.definition).toMatchObject({
      name: 'one',
      description: 'Of the first',
      source: 'file',
      definitionPath: join(first, 'one.md'),
    })
    expect(described(await read('two'))).toBe('Two')
    expect(await read('three')).toBeNull()
  })

  it('reads a file anew when it has changed, also when its size has not', async () => {
    const path = join(first, 'one.md')
    await writeFile(path, definition('Before'))
    const before = await read('one')
    await writeFile(path, definition('Afters'))
    const after = await read('one')
    expect([described(before), described(after)]).toEqual(['Before', 'Afters'])
    expect(after?.contentHash.equals(before?.contentHash as Buffer)).toBe(false)
  })

  it('does not read a file again that has not changed for a while, and does when it has', async () => {
    const path = join(first, 'one.md')
    await writeFile(path, definition('Before'))
    const now = performance.now.bind(performance)
    vi.spyOn(performance, 'now').mockImplementation(() => now() + 60_000)
    const before = await read('one')
    expect(await read('one')).toBe(before)
    await writeFile(join(root, 'new'), definition('After'))
    await rename(join(root, 'new'), path)
    expect(described(await read('one'))).toBe('After')
  })

  it('forgets a file that is gone', async () => {
    const path = join(first, 'one.md')
    await writeFile(path, definition('There'))
    expect(described(await read('one'))).toBe('There')
    await rm(path)
    expect(await read('one')).toBeNull()
  })

  it.each(['../secret', '..', '.', '/etc/passwd', 'one/../two', 'a\\b', 'one.md', 'One', '%2e%2e', 'one\0', '', '-one', 'x'.repeat(65), 'é'])(
    'makes no path of %j',
    async (name) => {
      await writeFile(join(root, 'secret.md'), definition('Secret'))
      expect(await read(name)).toBeNull()
    },
  )

  it('follows a link within its folder, and none that leads out', async () => {
    await writeFile(join(first, 'real.md'), definition('Real'))
    await writeFile(join(root, 'outside.md'), definition('Outside'))
    await writeFile(join(second, 'other.md'), definition('Other'))
    await symlink('real.md', join(first, 'inside.md'))
    await symlink(join(root, 'outside.md'), join(first, 'absolute.md'))
    await symlink('../second/other.md', join(first, 'relative.md'))
    await symlink(join(root, 'nothing.md'), join(first, 'dangling.md'))
    expect(described(await read('inside'))).toBe('Real')
    for (const name of ['absolute', 'relative']) expect(reasons(await read(name))).toEqual(['is a link that leads out of its folder, and is not followed'])
    expect(await read('dangling')).toBeNull()
  })

  it('reads a folder that is itself a link', async () => {
    await writeFile(join(first, 'one.md'), definition('There'))
    await symlink(first, join(root, 'link'))
    deps = { ...deps, settings: parseSettings({ SUBAGENTS_DIRS: join(root, 'link') }) }
    expect(described(await read('one'))).toBe('There')
  })

  it('says what is wrong with a file that cannot be used, once for each state of it', async () => {
    const path = join(first, 'broken.md')
    await writeFile(path, '---\nmodel: [\n---\n\nx')
    for (let time = 1; time <= 3; time += 1) expect((await read('broken'))?.reading.definition).toBeNull()
    expect(warn).toHaveBeenCalledTimes(1)
    expect(warn.mock.calls[0]?.[0]).toMatchObject({ subagent: 'broken', path, problems: [expect.stringMatching(/^line \d+: /)] })
    await writeFile(path, '---\nname: another\ndescription: x\n---\n\nx')
    expect(reasons(await read('broken'))).toEqual([expect.stringContaining('must be broken')])
    expect(warn).toHaveBeenCalledTimes(2)
  })

  it('reads no folder, no pipe, nothing too large and nothing that is not UTF-8', async () => {
    await mkdir(join(first, 'folder.md'))
    await promisify(execFile)('mkfifo', [join(first, 'pipe.md')])
    await writeFile(join(first, 'large.md'), '')
    await truncate(join(first, 'large.md'), 2 * 1_048_576 + 1)
    await writeFile(join(first, 'latin.md'), Buffer.from([0x2d, 0xe9, 0x0a]))
    expect(reasons(await read('folder'))).toEqual(['is no file'])
    expect(reasons(await read('pipe'))).toEqual(['is no file'])
    expect(reasons(await read('large'))).toEqual(['is larger than 2097152 bytes'])
    expect(reasons(await read('latin'))).toEqual(['is not valid UTF-8'])
  })

  it('tells of what an author may not have meant, and uses the file', async () => {
    await writeFile(join(first, 'one.md'), '---\ndescription: x\ntools: Raed\n---\n\nx')
    expect((await read('one'))?.reading.definition?.tools).toEqual(['Raed'])
    expect(info.mock.calls[0]?.[0]).toMatchObject({ subagent: 'one' })
  })
})

describe('listSubagentFiles', () => {
  it('lists each name once, broken ones included, and no file that cannot be one', async () => {
    await writeFile(join(first, 'one.md'), definition('Of the first'))
    await writeFile(join(second, 'one.md'), definition('Of the second'))
    await writeFile(join(second, 'broken.md'), '---\n')
    await writeFile(join(second, 'Explore.md'), definition('In place of the built-in'))
    for (const name of ['README.md', 'notes.txt', '.hidden.md', 'no ending']) await writeFile(join(first, name), definition('x'))
    const listed = await listSubagentFiles(deps)
    expect(listed.map((file) => [file.name, described(file)])).toEqual([
      ['one', 'Of the first'],
      ['Explore', 'In place of the built-in'],
      ['broken', undefined],
    ])
  })

  it('goes on without a folder that is not there, and says so once', async () => {
    deps = { ...deps, settings: parseSettings({ SUBAGENTS_DIRS: `${join(root, 'missing')}:${second}` }) }
    await writeFile(join(second, 'two.md'), definition('Two'))
    for (let time = 1; time <= 3; time += 1) expect((await listSubagentFiles(deps)).map(({ name }) => name)).toEqual(['two'])
    expect(warn).toHaveBeenCalledTimes(1)
    expect(await read('two')).not.toBeNull()
  })
})
