import { describe, expect, it } from 'vitest'
import { chooseRunner, type RunnerOffer, type RunnerQuestion } from './runner-choice.ts'

const offer = (name: string, followsDefinitions: boolean, missing: string[] = []): RunnerOffer => ({
  name,
  followsDefinitions,
  missing,
  available: missing.length === 0,
})
const scout = offer('scout', false)
const agent = offer('agent', true)
const external = offer('external', true)
const ai = offer('ai', true)
const noAi = offer('ai', true, ['Set ANTHROPIC_API_KEY.'])
const claude = offer('claude-code', true)
const noClaude = offer('claude-code', true, ['Install claude.'])

const choose = (offers: RunnerOffer[], question: Partial<RunnerQuestion> = {}) =>
  chooseRunner(offers, { name: null, subagent: null, configured: undefined, ...question })

describe('the runner of a subtask', () => {
  it.each([
    ['plain, with a provider', [scout, external, ai, claude], {}, 'ai', /model provider/],
    ['plain, with Claude Code alone', [scout, external, noAi, claude], {}, 'claude-code', /first available/],
    ['plain, with a program alone', [scout, external, noAi, noClaude], {}, 'scout', /first available/],
    ['plain, with nothing', [external, noAi, noClaude], {}, 'external', /outside worker/],
    ['plain, as the operator says', [scout, external, ai, claude], { configured: 'scout' }, 'scout', /DEFAULT_RUNNER/],
    ['plain, as the request says', [scout, external, ai, claude], { configured: 'ai', name: 'scout' }, 'scout', /request/],
    ['a sub-agent, with a provider', [agent, external, ai, claude], { subagent: 'Plan' }, 'ai', /model provider/],
    ['a sub-agent, with a program that follows definitions', [scout, agent, external, noAi, noClaude], { subagent: 'Plan' }, 'agent', /first .* follows/],
    [
      'a sub-agent, where the default does not follow definitions',
      [scout, external, ai, noClaude],
      { subagent: 'Plan', configured: 'scout' },
      'ai',
      /provider/,
    ],
    ['a sub-agent, as the operator says', [scout, external, ai, noClaude], { subagent: 'Plan', configured: 'external' }, 'external', /DEFAULT_RUNNER/],
    ['a sub-agent, as the request says', [agent, external, ai, claude], { subagent: 'Plan', name: 'external' }, 'external', /request/],
  ] as const)('is chosen: %s', (_, offers, question, name, reason) => {
    expect(choose([...offers], question)).toEqual({ name, reason: expect.stringMatching(reason) })
  })

  it.each([
    ['unknown', [scout, external, noAi], { name: 'nobody' }, /no runner nobody\. Available: scout, external\./],
    ['not set up', [scout, external, noAi], { name: 'ai' }, /ai is not available: Set ANTHROPIC_API_KEY\. Available/],
    ['not set up, and the default', [scout, external, noAi], { configured: 'ai' }, /ai is not available/],
    ['deaf to definitions', [scout, external, ai], { name: 'scout', subagent: 'Plan' }, /scout does not follow .* run of Plan\. Available: external, ai\./],
    ['none for a sub-agent', [scout, external, noAi, noClaude], { subagent: 'Plan' }, /No runner .* definition of Plan.*Set ANTHROPIC_API_KEY/],
  ] as const)('is refused: %s', (_, offers, question, message) => {
    expect(() => choose([...offers], question)).toThrow(expect.objectContaining({ code: 'runner_unavailable', message: expect.stringMatching(message) }))
  })
})
