import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseSettings, parseSubagentMarkdown, requireDefinition, toolsOfRunner } from '@muster/domain'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Guard, startGuard } from '../../command/guard.ts'
import { ENVIRONMENT } from '../../testing/ai.ts'
import { createTestRun, SILENT_LOG } from '../../testing/command.ts'
import { assembleTools, type Toolbox } from './assemble.ts'

let guard: Guard
let root: string
beforeAll(() => {
  guard = startGuard({ log: SILENT_LOG })
})
afterAll(() => guard.close())
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'muster-tools-')))
  mkdirSync(join(root, 'out'))
  writeFileSync(join(root, 'secret.txt'), 'hush')
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

/** The tools of a run in the foreground, where nothing is allowed that its definition does not list. */
async function toolsOf(rules: string): Promise<Toolbox> {
  using test = createTestRun({ requiredOutputs: [] })
  const subagent = requireDefinition(parseSubagentMarkdown(`---\nname: limited\ndescription: x\n${rules}\n---\nx`))
  const run = { ...test.run, brief: { ...test.run.brief, taskId: test.run.brief.subtaskId, subagent, background: false }, workspace: root }
  const options = { guard, environment: ENVIRONMENT, hasBash: false, search: null, servers: {}, baseFolder: root }
  return await assembleTools(run, options)
}

describe('a rule about paths', () => {
  it('allows what leads there, however it is spelt, and nothing that only looks like it', async () => {
    symlinkSync('.', join(root, 'out', 'here'))
    symlinkSync('..', join(root, 'out', 'above'))
    const { refusal } = await toolsOf('tools: Write(out/**), Read(./out/*)')
    for (const path of ['out/a.txt', './out/a.txt', 'out/new/../b.txt', 'out/here/c.txt', join(root, 'out/d.txt')]) {
      expect(refusal('Write', { file_path: path, content: '' })).toBeNull()
      expect(refusal('Read', { file_path: path })).toBeNull()
    }
    for (const path of ['secret.txt', 'out/../secret.txt', 'out/above/secret.txt', 'out/above/out/../secret.txt', '../out/x', 'secret.txt/\0']) {
      expect(refusal('Write', { file_path: path, content: '' })).toContain('limited lists Write(out/**)')
      expect(refusal('Read', { file_path: path })).toContain('limited lists Write(out/**)')
    }
  })

  it.each(['Read(secret.txt)', 'Read(./secret.txt)', 'Read(/secret.txt)', 'read(secret.*)'])('denies what leads there: %s', async (rule) => {
    symlinkSync('../secret.txt', join(root, 'out', 'alias'))
    const { refusal } = await toolsOf(`tools: Read\ndisallowedTools: ${rule}`)
    for (const path of ['secret.txt', './secret.txt', 'out/../secret.txt', 'out/alias', join(root, 'secret.txt')]) {
      expect(refusal('Read', { file_path: path })).toContain('is denied')
    }
    expect(refusal('Read', { file_path: 'out/other.txt' })).toBeNull()
  })

  it.each(['Grep', 'Glob'])('is about where %s looks', async (tool) => {
    const { refusal } = await toolsOf(`tools: ${tool}(out/**)`)
    for (const path of ['out', 'out/', './out', 'out/deep']) expect(refusal(tool, { pattern: 'x', path })).toBeNull()
    for (const path of [undefined, '.', '..', 'out/..', 'outer']) expect(refusal(tool, { pattern: 'x', path })).toContain(`limited lists ${tool}(out/**)`)
  })
})

it('asks about the host of a page, whatever its case and with its last dot', async () => {
  const { refusal } = await toolsOf('tools: WebFetch\ndisallowedTools: WebFetch(domain:Evil.test)')
  for (const url of ['http://evil.test/', 'https://EVIL.test./x']) expect(refusal('WebFetch', { url })).toContain('is denied')
  expect(refusal('WebFetch', { url: 'http://good.test/' })).toBeNull()
})

it('offers the tools that the warnings of a spawn go by', async () => {
  const { tools } = await toolsOf("tools: '*'")
  expect([...tools.keys()].toSorted()).toEqual(toolsOfRunner(parseSettings({}), 'ai')?.toSorted())
})
