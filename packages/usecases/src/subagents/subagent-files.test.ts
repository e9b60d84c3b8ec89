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
    await writeFile(path, '---\nname: broken\n---\n\nx')
    expect(reasons(await read('broken'))).toEqual([expect.stringContaining('say what the sub-agent is for')])
    expect(warn).toHaveBeenCalledTimes(2)
  })

  it('reads no pipe, nothing too large and nothing that is not UTF-8', async () => {
    await promisify(execFile)('mkfifo', [join(first, 'pipe.md')])
    await writeFile(join(first, 'large.md'), '')
    await truncate(join(first, 'large.md'), 2 * 1_048_576 + 1)
    await writeFile(join(first, 'latin.md'), Buffer.from([0x2d, 0xe9, 0x0a]))
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

describe('a collection', () => {
  it('is read with its folders, each definition by the name that it says', async () => {
    const deep = join(first, 'plugins', 'review', 'agents')
    await mkdir(deep, { recursive: true })
    await writeFile(join(deep, 'code-reviewer.md'), '---\nname: review-kit:code-reviewer\ndescription: Reviews\n---\n\nx')
    await writeFile(join(first, 'shell.md'), '---\nname: powershell-5.1-expert\ndescription: Shells\n---\n\nx')
    await writeFile(join(deep, 'plain.md'), definition('Goes by its file'))
    expect((await read('review-kit-code-reviewer'))?.reading.definition).toMatchObject({ title: 'review-kit:code-reviewer', description: 'Reviews' })
    expect((await read('powershell-5-1-expert'))?.reading.definition).toMatchObject({ title: 'powershell-5.1-expert' })
    expect((await read('plain'))?.reading.definition).toMatchObject({ title: null, definitionPath: join(deep, 'plain.md') })
    expect(await read('code-reviewer')).toBeNull()
    expect(await read('shell')).toBeNull()
  })

  it('has texts that define nothing, and folders that are looked at by nothing of ours', async () => {
    await mkdir(join(first, 'docs', 'node_modules'), { recursive: true })
    await mkdir(join(first, '.git'))
    await mkdir(join(first, 'commands'))
    await writeFile(join(first, 'commands', 'review.md'), definition('A command'))
    await writeFile(join(first, 'docs', 'guide.md'), '# Guide\n\nname: none\n')
    await writeFile(join(first, 'docs', 'SKILL.md'), definition('A skill'))
    await writeFile(join(first, 'docs', 'node_modules', 'other.md'), definition('Of a package'))
    await writeFile(join(first, '.git', 'description.md'), definition('Of git'))
    expect(await listSubagentFiles(deps)).toEqual({ files: [], shadowed: [] })
  })

  it('names the files that share a name, of which the first counts', async () => {
    await mkdir(join(first, 'a'))
    await mkdir(join(first, 'b'))
    await writeFile(join(first, 'a', 'one.md'), definition('In a'))
    await writeFile(join(first, 'b', 'two.md'), '---\nname: one\ndescription: In b\n---\n\nx')
    expect(described(await read('one'))).toBe('In a')
    expect((await listSubagentFiles(deps)).shadowed.map((file) => [file.name, ...(reasons(file) ?? [])])).toEqual([
      ['one', `of ${join(first, 'b', 'two.md')} is one, which ${join(first, 'a', 'one.md')} has already: give one of them another name`],
    ])
  })

  it('is looked at again when a file is added, renamed in its text, or moved', async () => {
    await mkdir(join(first, 'a'))
    const path = join(first, 'a', 'one.md')
    await writeFile(path, definition('There'))
    const now = performance.now.bind(performance)
    vi.spyOn(performance, 'now').mockImplementation(() => now() + 60_000)
    expect(described(await read('one'))).toBe('There')
    await writeFile(join(root, 'new'), '---\nname: two\ndescription: Renamed\n---\n\nx')
    await rename(join(root, 'new'), path)
    expect([described(await read('one')), described(await read('two'))]).toEqual([undefined, 'Renamed'])
    await mkdir(join(first, 'b'))
    await rename(path, join(first, 'b', 'one.md'))
    await writeFile(join(first, 'b', 'three.md'), definition('Added'))
    expect([described(await read('two')), described(await read('three'))]).toEqual(['Renamed', 'Added'])
  })

  it('is not read whole again at once for a name that it does not have, but is a second later', async () => {
    const path = join(first, 'one.md')
    await writeFile(path, definition('There'))
    let nowMs = performance.now() + 60_000
    vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
    expect(await read('two')).toBeNull()
    // In place, so that the folder does not change.
    await writeFile(path, '---\nname: two\ndescription: Renamed\n---\n\nx')
    expect(await Promise.all([read('two'), read('two')])).toEqual([null, null])
    nowMs += 1_001
    expect((await Promise.all([read('two'), read('two')])).map(described)).toEqual(['Renamed', 'Renamed'])
    expect(await read('one')).toBeNull()
  })
})

describe('listSubagentFiles', () => {
  it('lists each name once, broken ones included, and no file that cannot be one', async () => {
    await writeFile(join(first, 'one.md'), definition('Of the first'))
    await writeFile(join(second, 'one.md'), definition('Of the second'))
    await writeFile(join(second, 'broken.md'), '---\n')
    await writeFile(join(second, 'Explore.md'), definition('In place of the built-in'))
    for (const name of ['README.md', 'notes.txt', '.hidden.md', 'no ending']) await writeFile(join(first, name), definition('x'))
    const { files, shadowed } = await listSubagentFiles(deps)
    expect(shadowed).toEqual([])
    expect(files.map((file) => [file.name, described(file)])).toEqual([
      ['one', 'Of the first'],
      ['Explore', 'In place of the built-in'],
      ['broken', undefined],
    ])
  })

  it('goes on without a folder in a folder that cannot be read, and says so once', async () => {
    // A path that is too long for the system: also the superuser cannot read it.
    const length = (process.platform === 'linux' ? 4_096 : 1_024) - 100
    let folder = root
    while (folder.length < length) folder = join(folder, 'd'.repeat(Math.min(200, Math.max(1, length - folder.length - 1))))
    await mkdir(folder, { recursive: true })
    await promisify(execFile)('mkdir', ['n'.repeat(200)], { cwd: folder })
    await writeFile(join(folder, 'two.md'), definition('Two'))
    deps = { ...deps, settings: parseSettings({ SUBAGENTS_DIRS: folder }) }
    for (let time = 1; time <= 3; time += 1) expect((await listSubagentFiles(deps)).files.map(({ name }) => name)).toEqual(['two'])
    expect(warn.mock.calls).toEqual([[{ folder: join(folder, 'n'.repeat(200)), code: 'ENAMETOOLONG' }, expect.any(String)]])
    await promisify(execFile)('rm', ['-r', join(root, 'd'.repeat(200))])
  })

  it('goes on without a folder that is not there, and says so once', async () => {
    deps = { ...deps, settings: parseSettings({ SUBAGENTS_DIRS: `${join(root, 'missing')}:${second}` }) }
    await writeFile(join(second, 'two.md'), definition('Two'))
    for (let time = 1; time <= 3; time += 1) expect((await listSubagentFiles(deps)).files.map(({ name }) => name)).toEqual(['two'])
    expect(warn).toHaveBeenCalledTimes(1)
    expect(await read('two')).not.toBeNull()
  })
})
