import { describe, expect, it } from 'vitest'
import { type BudgetLimits, type BudgetUse, budgetExhausted, budgetRooms, NO_USE, reserveBudget, taskRooms } from './budgets.ts'

const ANY = { maxTokens: null, maxCostUsdMicros: null }
const use = (given: Partial<BudgetUse> = {}): BudgetUse => ({ ...NO_USE, ...given })
const tokens = (amount: number) => ({ tokens: amount, costMicros: 0 })
const roomsOf = (limits: BudgetLimits, project = use(), agent = use()) => budgetRooms(limits, 'a', { project, agent })

describe('budgetRooms', () => {
  it.each<[string, BudgetLimits, string[]]>([
    ['no budget', {}, []],
    ['an empty budget', { budget: {} }, []],
    ['one of the project', { budget: { day: { tokens: 1, cost_usd: 2 } } }, ['project day tokens 1', 'project day costMicros 2000000']],
    ['one for each agent', { budget: { per_agent: { total: { tokens: 3 } } } }, ['agent total tokens 3']],
    [
      'one of the agent, which replaces that',
      { budget: { per_agent: { total: { tokens: 3 } } }, agents: { a: { budget: { day: { tokens: 4 } } } } },
      ['agent day tokens 4'],
    ],
    ['one of another agent', { agents: { b: { budget: { day: { tokens: 4 } } } } }, []],
  ])('of %s', (_, limits, expected) => expect(roomsOf(limits).map(({ scope, window, unit, limit }) => `${scope} ${window} ${unit} ${limit}`)).toEqual(expected))
})

describe('reserveBudget', () => {
  const day: BudgetLimits = { budget: { day: { tokens: 100 } } }

  it.each([
    ['grants anything without a budget', roomsOf({}), ANY, ANY],
    ['grants what is asked for', roomsOf(day), { maxTokens: 70, maxCostUsdMicros: 5 }, { maxTokens: 70, maxCostUsdMicros: 5 }],
    ['grants a tenth without a request', roomsOf(day), ANY, { maxTokens: 10, maxCostUsdMicros: null }],
    [
      'grants a tenth of the smallest limit',
      roomsOf({ budget: { day: { tokens: 100 }, total: { tokens: 50 } } }),
      ANY,
      { maxTokens: 5, maxCostUsdMicros: null },
    ],
    ['grants at least one token', roomsOf({ budget: { day: { tokens: 3 } } }), ANY, { maxTokens: 1, maxCostUsdMicros: null }],
    ['grants the rest to the last', roomsOf(day, use({ day: tokens(60), reserved: tokens(30) })), ANY, { maxTokens: 10, maxCostUsdMicros: null }],
    ['grants a task all that is left', taskRooms('t', { ...ANY, maxTokens: 100 }, use({ total: tokens(40) })), ANY, { maxTokens: 60, maxCostUsdMicros: null }],
    [
      'grants a task less than is asked for',
      taskRooms('t', { maxTokens: 100, maxCostUsdMicros: 2_000_000 }, NO_USE),
      { maxTokens: 500, maxCostUsdMicros: 7 },
      { maxTokens: 100, maxCostUsdMicros: 7 },
    ],
  ])('%s', (_, rooms, asked, granted) => expect(reserveBudget(rooms, asked)).toEqual({ granted }))

  it.each([
    ['what is used', roomsOf(day, use({ day: tokens(95) })), ANY, { scope: 'project', window: 'day', used: 95 }, 10],
    ['what is reserved', roomsOf(day, use({ reserved: tokens(95) })), { ...ANY, maxTokens: 6 }, { reserved: 95 }, 6],
    ['both', roomsOf(day, use({ day: tokens(50), reserved: tokens(45) })), ANY, { used: 50, reserved: 45 }, 10],
    ['a request beyond the limit', roomsOf(day), { ...ANY, maxTokens: 101 }, { limit: 100 }, 101],
    ['a limit of 0', roomsOf({ budget: { day: { tokens: 0 } } }), ANY, { limit: 0 }, 1],
    ['a request for nothing, where nothing is left', roomsOf(day, use({ day: tokens(100) })), { ...ANY, maxTokens: 0 }, { used: 100 }, 0],
    [
      'the budget of the agent',
      roomsOf({ agents: { a: { budget: { total: { tokens: 9 } } } } }, use(), use({ total: tokens(9) })),
      ANY,
      { scope: 'agent', subject: 'a' },
      1,
    ],
    ['a task that is used up', taskRooms('t', { ...ANY, maxTokens: 5 }, use({ total: tokens(7) })), ANY, { scope: 'task', subject: 't' }, 1],
  ])('refuses because of %s', (_, rooms, asked, refused, requested) => {
    expect(reserveBudget(rooms, asked)).toMatchObject({ refused, requested })
  })

  it('keeps used and reserved within every limit, whatever comes and ends', () => {
    for (let seed = 1; seed <= 200; seed += 1) {
      let state = seed
      const random = (max: number) => {
        state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
        return state % max
      }
      const limits: BudgetLimits = { budget: { day: { tokens: 1 + random(200) }, total: { tokens: 1 + random(400) } } }
      const held: number[] = []
      let used = 0
      for (let step = 0; step < 50; step += 1) {
        const reserved = held.reduce((sum, each) => sum + each, 0)
        const rooms = roomsOf(limits, use({ day: tokens(used), total: tokens(used), reserved: tokens(reserved) }))
        const answer = reserveBudget(rooms, { ...ANY, maxTokens: random(3) === 0 ? null : random(60) })
        if ('granted' in answer) held.push(answer.granted.maxTokens as number)
        if (random(2) === 0 && held.length > 0) used += random((held.shift() as number) + 1)
        const sum = used + held.reduce((all, each) => all + each, 0)
        for (const { limit } of rooms) expect(sum).toBeLessThanOrEqual(limit)
      }
    }
  })
})

describe('budgetExhausted', () => {
  const at = new Date('2026-01-01T23:00:00Z')
  const reset = new Date('2026-01-02T00:00:00Z')
  const refusal = (window: 'day' | 'total', used: number, reserved: number) =>
    budgetExhausted(
      { refused: { scope: 'agent', subject: 'a', window, unit: 'costMicros', limit: 10_000_000, used, reserved }, requested: 2_000_000 },
      reset,
      at,
    )

  it('says which budget, how much of it is taken, and when it resets', () => {
    const { message, details } = refusal('day', 9_000_000, 500_000)
    expect(message).toBe('Agent a may use $10 today: $9 are used and $0.5 reserved, and this subtask needs $2.')
    expect(details).toEqual({
      retryAfterSeconds: 3_600,
      budget: { scope: 'agent', window: 'day', unit: 'cost_usd', agent_id: 'a' },
      ...{ limit: 10, used: 9, reserved: 0.5, requested: 2, resets_at: '2026-01-02T00:00:00.000Z' },
    })
  })

  it('suggests to try again sooner where an end may make room', () => {
    expect(refusal('day', 1_000_000, 8_000_000).details).toMatchObject({ retryAfterSeconds: 60 })
    expect(refusal('total', 9_000_000, 0).details).toMatchObject({ retryAfterSeconds: 60, resets_at: null })
  })
})
