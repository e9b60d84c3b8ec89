import { describe, expect, it } from 'vitest'
import { briefFiles, cleanBrief, fileWarning, isUnder, resolveBriefPath } from './index.ts'

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

  it.each([
    ['relevant_files', "File not found: 'a' - will be skipped by agents"],
    ['related_documentation', "Documentation file not found: 'a'"],
  ] as const)('%s: %s', (field, message) => {
    expect(fileWarning({ field, path: 'a' }, at)).toEqual({ field, message, timestamp: at.toISOString() })
  })
})
