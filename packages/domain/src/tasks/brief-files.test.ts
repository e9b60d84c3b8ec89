import { describe, expect, it } from 'vitest'
import { briefFiles, cleanBrief, fileWarning, isUnder, resolveBriefPath } from '../index.ts'

const at = new Date('2026-01-02T03:04:05.678Z')

describe('where a path points', () => {
  it.each([
    ['/srv/a.md', null, '/srv/a.md'],
    ['/srv/../etc//passwd', null, '/etc/passwd'],
    ['docs/a.md', '/srv/project', '/srv/project/docs/a.md'],
    ['../../etc/passwd', '/srv/project', '/etc/passwd'],
    ['../../../../..', '/srv', '/'],
    ['./a', '/srv/', '/srv/a'],
    ['/etc/passwd', '/srv', '/etc/passwd'],
    ['docs/a.md', null, null],
    ['docs/a.md', 'project', null],
    ['a', '../..', null],
  ])('%s from %s is %s', (path, clientCwd, resolved) => {
    expect(resolveBriefPath(path, clientCwd)).toBe(resolved)
  })
})

describe('under a folder', () => {
  it.each([
    ['/srv/project', ['/srv/project'], true],
    ['/srv/project/a', ['/other', '/srv/project/'], true],
    ['/srv/projects', ['/srv/project'], false],
    ['/srv', ['/srv/project'], false],
    ['/srv', ['/'], true],
    ['/srv', [], false],
  ])('%s in %j: %s', (path, roots, expected) => {
    expect(isUnder(path, roots)).toBe(expected)
  })
})

describe('the files of a brief', () => {
  it('are those of both lists, without addresses, in order', () => {
    const { cleaned } = cleanBrief(
      { title: 'a', instructions: 'b', relevant_files: ['a.ts', '/b.ts'], related_documentation: ['https://example.com', 'c.md', 'file:///etc/passwd'] },
      at,
    )
    expect(briefFiles(cleaned.context, '/srv')).toEqual([
      { field: 'relevant_files', path: 'a.ts', resolved: '/srv/a.ts' },
      { field: 'relevant_files', path: '/b.ts', resolved: '/b.ts' },
      { field: 'related_documentation', path: 'c.md', resolved: '/srv/c.md' },
    ])
    expect(briefFiles(null, '/srv')).toEqual([])
  })

  it.each<[string, string[], string | undefined, string[]]>([
    ['four spellings in a folder', ['./a.ts', 'a.ts', 'b/../a.ts', '/srv/a.ts'], '/srv', ['./a.ts']],
    ['the same in another order, and a second file', ['/srv//a.ts', 'c.ts', 'a.ts'], '/srv/', ['/srv//a.ts', 'c.ts']],
    ['spellings without a folder, where the absolute one is another file', ['./a.ts', 'a.ts', 'b/../a.ts', '/srv/a.ts'], undefined, ['./a.ts', '/srv/a.ts']],
    ['spellings from a folder that is itself relative', ['./a.ts', 'b//../a.ts', 'src/'], 'srv', ['./a.ts', 'src/']],
    ['a folder with and without its slash', ['src/', 'src', './src/.'], '/srv', ['src/']],
    ['names that differ', ['a.ts', 'A.ts', 'b/a.ts', '../a.ts'], '/srv', ['a.ts', 'A.ts', 'b/a.ts', '../a.ts']],
  ])('are one entry each, as first sent: %s', (_, files, clientCwd, expected) => {
    const { cleaned } = cleanBrief({ title: 'a', instructions: 'b', client_cwd: clientCwd, relevant_files: files, related_documentation: files }, at)
    expect(cleaned.context).toMatchObject({ relevant_files: expected, related_documentation: expected })
  })

  it('may be 50, however many spellings of them there are, and addresses are compared to the letter', () => {
    const files = Array.from({ length: 50 }, (_, nth) => [`${nth}.ts`, `./${nth}.ts`]).flat()
    const documents = ['https://example.com/a/../b', 'https://example.com/b']
    const { cleaned, problems } = cleanBrief({ title: 'a', instructions: 'b', relevant_files: files, related_documentation: documents }, at)
    expect(problems).toEqual([])
    expect(cleaned.context?.relevant_files).toHaveLength(50)
    expect(cleaned.context?.related_documentation).toEqual(documents)
  })

  it.each([
    ['relevant_files', "File not found: 'a' - will be skipped by agents"],
    ['related_documentation', "Documentation file not found: 'a'"],
  ] as const)('%s: %s', (field, message) => {
    expect(fileWarning({ field, path: 'a', nearest: null }, at)).toEqual({ field, message, timestamp: at.toISOString() })
    expect(fileWarning({ field, path: 'a', nearest: 'b' }, at).message).toBe(`${message}. Did you mean 'b'?`)
  })
})
