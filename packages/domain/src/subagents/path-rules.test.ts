import { describe, expect, it } from 'vitest'
import { parseSubagentMarkdown } from './markdown.ts'
import { checkTool } from './spawn-policy.ts'
import { requireDefinition, type SubagentDefinition, type SubagentReading } from './subagent.ts'

const reading: SubagentReading = parseSubagentMarkdown('---\nname: limited\ndescription: x\n---\nx')
const definition = (tools: string[], disallowedTools: string[]): SubagentDefinition => ({ ...requireDefinition(reading), tools, disallowedTools })
const allowed = (rule: string, use: string) => checkTool(definition([rule], []), { toolName: use, background: false }).allowed
const denied = (rule: string, use: string) => !checkTool(definition(['*'], [rule]), { toolName: use, background: false }).allowed

describe('a path that a rule allows', () => {
  it.each([
    ['Write(out/**)', 'Write(out/a.txt)'],
    ['Write(out/**)', 'Write(./out//a/../b.txt)'],
    ['Write(./out/**)', 'Write(out/a/b/c)'],
    ['Write(/out/**)', 'Write(out/a)'],
    ['Grep(out/**)', 'Grep(out/)'],
    ['Edit(src/**/*.ts)', 'Edit(src/a/b/c.ts)'],
    ['Edit(src/**/*.ts)', 'Edit(src/c.ts)'],
    ['Edit(*.md)', 'Edit(docs/a.md)'],
    ['Read(//etc/hosts)', 'Read(/etc/hosts)'],
    ['Read(src)', 'Read(src/a.ts)'],
    ['Write(*)', 'Write(/anywhere)'],
  ])('is allowed: %s, %s', (rule, use) => expect(allowed(rule, use)).toBe(true))

  it.each([
    ['Write(out/**)', 'Write(out/../x)'],
    ['Write(out/**)', 'Write(out/../../out/x)'],
    ['Write(out/**)', 'Write(../out/x)'],
    ['Write(out/**)', 'Write(/out/x)'],
    ['Write(out/**)', 'Write(/etc/passwd)'],
    ['Write(out/**)', 'Write(Out/x)'],
    ['Write(out/**)', 'Write(outer/x)'],
    ['Write(**)', 'Write(../x)'],
    ['Write(**)', 'Write(/x)'],
    ['Write(*.md)', 'Write(../a.md)'],
    ['Edit(src/*.ts)', 'Edit(src/a/b.ts)'],
    ['Write(out/**)', 'Write()'],
    ['Write(out/**)', 'Write(out/\0)'],
    ['Write(out/**)', 'Edit(out/x)'],
  ])('is not allowed: %s, %s', (rule, use) => expect(allowed(rule, use)).toBe(false))
})

describe('a path that a rule denies', () => {
  it.each([
    ['Write(out/**)', 'Write(out/x)'],
    ['Write(out/**)', 'Write(./a/../out//x)'],
    ['Write(out/**)', 'Write(OUT/x)'],
    ['Write(out/**)', 'Write(/work/out/x)'],
    ['Write(out/**)', 'Edit(out/x)'],
    ['Edit(out/**)', 'NotebookEdit(out/x)'],
    ['Read(.env)', 'Read(config/.env)'],
    ['Read(.env)', 'Grep(.env)'],
    ['Read(.env*)', 'Read(.env.local)'],
    ['Read(./.env)', 'Read(.ENV)'],
    ['Read(secrets)', 'Read(secrets/a/b)'],
    ['Read(src/*.pem)', 'Read(src/a/b.pem)'],
    ['Read(//etc/**)', 'Read(/etc/passwd)'],
    ['Read(caf\u00e9)', 'Read(cafe\u0301)'],
    ['Read(.env)', 'Read()'],
    ['Read(.env)', 'Read(a\0)'],
    ['Read(.env)', `Read(${'a/'.repeat(50_000)}b)`],
    ['WebFetch(domain:evil.test)', 'WebFetch(domain:EVIL.test.)'],
    ['WebFetch(domain:evil.test)', 'WebFetch(domain:www.evil.test)'],
    ['WebFetch(domain:evil.test)', 'WebFetch(https://user@evil.test:8443/x)'],
    ['WebFetch(domain:127.0.0.1)', 'WebFetch(domain:0x7f.1)'],
    ['WebFetch(domain:evil.test)', 'WebFetch()'],
  ])('is denied: %s, %s', (rule, use) => expect(denied(rule, use)).toBe(true))

  it.each([
    ['Write(out/**)', 'Write(outer/x)'],
    ['Write(out/**)', 'Write(src/out.ts)'],
    ['Write(out/**)', 'Read(out/x)'],
    ['Read(./.env)', 'Read(config/.env)'],
    ['Read(//etc/**)', 'Read(etc/passwd)'],
    ['WebFetch(domain:evil.test)', 'WebFetch(domain:notevil.test)'],
  ])('is not denied: %s, %s', (rule, use) => expect(denied(rule, use)).toBe(false))
})
