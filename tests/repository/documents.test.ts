import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { ERROR_CODES } from '@muster/domain'
import { describe, expect, it } from 'vitest'
import { anchorsOf, documentProblems, npmScriptsIn, unknownPaths } from '../../scripts/check/documents.ts'
import { repositoryRoot } from '../../scripts/check/report.ts'

const read = (file: string): Promise<string> => readFile(`${repositoryRoot}/${file}`, 'utf8')

describe('the documents', () => {
  it('link to what exists, and name files and commands that exist', async () => {
    expect(await documentProblems(repositoryRoot)).toEqual([])
  })

  it.each([
    ['`packages/db/src/client.ts`', []],
    ['`packages/db/src/server.ts`', ['packages/db/src/server.ts']],
    ['`packages/cache`', ['packages/cache']],
    ['`apps/<app>/src/main.ts`', []],
    ['`apps/<app>/src/start.ts`', ['apps/<app>/src/start.ts']],
    ['`client.ts`, `src/client.ts`, `src/`, `src/<file>`', []],
    ['`server.ts`, `lib/client.ts`, `lib/`, `lib/<file>`', ['server.ts', 'lib/client.ts', 'lib/', 'lib/<file>']],
    ['`text/plain`, `/srv/app.ts`, `GET /a.json`, `a.b`, [`x`](y.ts)', []],
    ['```\n`server.ts`\n```', []],
  ])('%s: paths that lead nowhere are %j', (markdown, unknown) => {
    const files = ['packages/db/src/client.ts', 'apps/api/src/main.ts']
    expect(unknownPaths(markdown, files)).toEqual(unknown)
  })

  it.each([
    ['ARCHITECTURE.md', 150],
    ['AGENTS.md', 80],
  ])('%s stays within %i lines', async (file, most) => {
    expect((await read(file)).trimEnd().split('\n').length).toBeLessThanOrEqual(most)
  })

  it('README.md names the commands that everybody needs', async () => {
    expect([...npmScriptsIn(await read('README.md'))]).toEqual(expect.arrayContaining(['start', 'demo', 'test']))
  })

  it.each(['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', 'LICENSE', 'docs/errors.md'])('%s exists', (file) => {
    expect(existsSync(`${repositoryRoot}/${file}`)).toBe(true)
  })
})

describe('docs/errors.md', () => {
  const sections = async (): Promise<Map<string, string>> => {
    const parts = (await read('docs/errors.md')).split(/^## /m).slice(1)
    return new Map(parts.map((part) => [part.slice(0, part.indexOf('\n')).trim(), part]))
  }

  it('has a section for every code, and none for a code that does not exist', async () => {
    expect([...(await sections()).keys()].sort()).toEqual(Object.keys(ERROR_CODES).sort())
  })

  it('names the status of each code, and whether to retry', async () => {
    const all = await sections()
    for (const [code, { status, retryable }] of Object.entries(ERROR_CODES)) {
      expect(all.get(code)).toMatch(new RegExp(`^Status ${status} · ${retryable ? 'retry' : 'do not retry'}`, 'm'))
    }
  })

  it('gives each code the anchor that the type of a problem points to', async () => {
    const anchors = anchorsOf(await read('docs/errors.md'))
    for (const code of Object.keys(ERROR_CODES)) expect(anchors).toContain(code)
  })
})
