import { describe, expect, it } from 'vitest'
import { parseMessage } from './messages.ts'

describe('a line of the program', () => {
  it('is read although its counts are none', () => {
    const usage = { inputTokens: -3, outputTokens: 4.6, cacheReadInputTokens: 1e300 }
    const result = { type: 'result', subtype: 'success', is_error: false, result: 'Done.', total_cost_usd: -1, modelUsage: { one: usage } }
    expect(parseMessage(JSON.stringify(result))).toEqual({
      ...result,
      total_cost_usd: undefined,
      modelUsage: { one: { inputTokens: null, outputTokens: 5, cacheReadInputTokens: null } },
    })
  })

  it.each(['', 'plain text', '{', '[]', '{"type":"something_new"}', `${'['.repeat(100_000)}${']'.repeat(100_000)}`])(
    'is passed over where it is none of its messages',
    (line) => {
      expect(parseMessage(line)).toBeNull()
    },
  )
})
