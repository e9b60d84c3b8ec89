import { describe, expect, it } from 'vitest'
import { askRulesFor, isAskRule, mayAsk } from './ask-rules.ts'

describe('uses of tools that ask', () => {
  it.each<[string, string, boolean]>([
    ['Bash(git push:*)', 'Bash(git push origin main)', true],
    ['Bash(git push:*)', 'Bash(git status)', false],
    ['Bash(git push:*)', 'Bash(git add . && git push)', true],
    ['Bash(git push:*)', 'Bash(sh -c "git push")', true],
    ['Bash(git push:*)', 'Bash($(echo git) push)', true],
    ['Bash', 'Bash(ls)', true],
    ['bash', 'Bash(ls)', true],
    ['Read', 'Bash(ls)', false],
    ['mcp__*__delete_*', 'mcp__github__delete_repo', true],
    ['mcp__*__delete_*', 'mcp__github__list_repos', false],
    ['mcp__*__delete_*', 'mcp__a__b__delete_c', true],
    ['mcp__github', 'mcp__github__list_repos', true],
    ['mcp__github__*', 'mcp__gitlab__list_repos', false],
    ['*', 'Write(a.txt)', true],
    ['Write(/etc/**)', 'Edit(/etc/passwd)', true],
    ['Write(docs/**)', 'Write(src/a.ts)', false],
    ['WebFetch(domain:example.com)', 'WebFetch(domain:example.com)', true],
  ])('%s: %s → %s', (rule, use, asks) => {
    expect(askRulesFor([rule], use)).toEqual(asks ? [rule] : [])
  })

  it('name each rule by which they ask', () => {
    expect(askRulesFor(['Bash(git:*)', 'Bash(ls:*)', 'Bash(git push:*)'], 'Bash(git push)')).toEqual(['Bash(git:*)', 'Bash(git push:*)'])
  })

  it.each<[string, string, boolean]>([
    ['Bash(git push:*)', 'Bash', true],
    ['Bash', 'Bash', true],
    ['Bash(git push:*)', 'Read', false],
    ['mcp__*__delete_*', 'mcp__github__delete_repo', true],
    ['*', 'Read', true],
  ])('are looked for where a tool has some: %s, %s → %s', (rule, tool, asks) => {
    expect(mayAsk([rule], tool)).toBe(asks)
  })

  it.each<[string, boolean]>([
    ['Bash(git push:*)', true],
    ['mcp__*__delete_*', true],
    ['*', true],
    ['', false],
    ['Bash(', false],
    ['two words', false],
    ['x'.repeat(501), false],
  ])('are named by rules: %j → %s', (rule, isRule) => {
    expect(isAskRule(rule)).toBe(isRule)
  })
})
