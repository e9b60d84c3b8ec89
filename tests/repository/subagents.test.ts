import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { type Actor, checkTool, decideSpawn, effectiveTools, parseSubagentMarkdown, type SubagentDefinition } from '@muster/domain'
import { describe, expect, it } from 'vitest'
import { repositoryRoot } from '../../scripts/check/report.ts'

const FOLDER = `${repositoryRoot}/subagents`
const FORBIDDEN_IN_BACKGROUND = ['mcp__context-graph__get_identity_continuity', 'mcp__context-graph__get_ego_state', 'mcp__context-graph__trigger_dream']

/** What [S10] and the project say of each. */
const SAMPLES = {
  'identity-guardian': { model: 'sonnet', tools: [...FORBIDDEN_IN_BACKGROUND, 'Read'], targetLatencyMs: null, hasFrontMatter: false },
  'memory-specialist': { model: 'haiku', tools: ['Read', 'Grep', 'recall_deep', 'learn_fact'], targetLatencyMs: 500, hasFrontMatter: true },
  'consciousness-explorer': { model: 'sonnet', tools: ['Read', 'Grep', 'Glob'], targetLatencyMs: null, hasFrontMatter: true },
  'dream-agent': { model: 'sonnet', tools: ['Read', 'learn_fact'], targetLatencyMs: null, hasFrontMatter: false },
} as const
type Name = keyof typeof SAMPLES

const read = (name: string) => readFileSync(`${FOLDER}/${name}.md`, 'utf8')

function definition(name: Name): SubagentDefinition {
  const parsed = parseSubagentMarkdown(read(name), { name, path: `subagents/${name}.md` })
  if (parsed.definition === null) throw new Error(parsed.problems.map(({ line, reason }) => `${name}:${line} ${reason}`).join('\n'))
  return parsed.definition
}

const actor: Actor = { kind: 'key', id: 'key', projectId: 'project', scopes: ['subagents:spawn'], agentId: null, lineage: null }

function spawn(name: Name, runInBackground: boolean, policy: 'reject' | 'strip' = 'reject') {
  return decideSpawn({ actor, name, found: { definition: definition(name), problems: [] }, runInBackground, policy })
}

describe('the sample sub-agents', () => {
  it('are the four that [S10] names, and no others', () => {
    expect(
      readdirSync(FOLDER)
        .map((file) => basename(file, '.md'))
        .sort(),
    ).toEqual(Object.keys(SAMPLES).sort())
  })

  it.each(Object.keys(SAMPLES) as Name[])('%s is read without a problem, as what it should be', (name) => {
    const { hasFrontMatter, ...expected } = SAMPLES[name]
    expect(parseSubagentMarkdown(read(name), { name }).problems).toEqual([])
    expect(definition(name)).toMatchObject({ name, ...expected, source: 'file', unknownKeys: [], disallowedTools: [] })
    expect(definition(name).description.length).toBeGreaterThan(50)
    expect(read(name).startsWith('---')).toBe(hasFrontMatter)
  })

  it.each(['memory-specialist', 'consciousness-explorer', 'dream-agent'] as const)('%s runs in the background', (name) => {
    expect(spawn(name, true)).toMatchObject({ background: true, removed: [], model: SAMPLES[name].model })
  })

  it('identity-guardian runs in the foreground alone, where the policy is to reject', () => {
    expect(spawn('identity-guardian', false)).toMatchObject({ background: false, removed: [] })
    expect(() => spawn('identity-guardian', true)).toThrow(expect.objectContaining({ code: 'background_mcp_blocked' }))
    for (const toolName of FORBIDDEN_IN_BACKGROUND) expect(checkTool(definition('identity-guardian'), { toolName, background: true }).allowed).toBe(false)
  })

  it('identity-guardian keeps Read alone in the background, where the policy is to strip', () => {
    const { definition: kept, removed } = spawn('identity-guardian', true, 'strip')
    expect([kept.tools, removed]).toEqual([['Read'], FORBIDDEN_IN_BACKGROUND])
    expect(effectiveTools(kept, [...FORBIDDEN_IN_BACKGROUND, 'Read', 'Write'], { background: true, policy: 'strip' })).toEqual(['Read'])
  })
})
