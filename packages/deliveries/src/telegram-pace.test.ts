import type { Transformer } from 'grammy'
import { describe, expect, it } from 'vitest'
import { createBotPace } from './telegram-pace.ts'

const never = new AbortController().signal

/** Calls that begin, with their times, of a bot that Telegram answers as told. */
function botThat(answer: () => object = () => ({ ok: true, result: {} })) {
  const pace = createBotPace()
  const begun: { token: string; method: string; atMs: number }[] = []
  const call = async (token: string, method: 'sendMessage' | 'answerCallbackQuery', signal = never) => {
    const prev = async () => {
      begun.push({ token, method, atMs: performance.now() })
      return answer()
    }
    return await (pace.of(token, signal) as Transformer)(prev as never, method, {} as never)
  }
  return { pace, begun, call }
}

describe('the calls of a bot', () => {
  it('begin one after the other with time between them, whoever makes them, and those of another bot beside them', async () => {
    const { begun, call } = botThat()
    await Promise.all(Array.from({ length: 12 }, (_, nth) => call(nth % 4 === 3 ? 'other' : 'one', nth % 2 === 0 ? 'sendMessage' : 'answerCallbackQuery')))
    for (const token of ['one', 'other']) {
      const times = begun.filter((each) => each.token === token).map(({ atMs }) => atMs)
      // Of all together, because the process may be held up between a turn and its call. 30 a second are 33.3 ms.
      expect(((times.at(-1) ?? 0) - (times[0] ?? 0)) / (times.length - 1)).toBeGreaterThan(33.4)
    }
  })

  it('within a pause that Telegram asked for send no message, and answer buttons', async () => {
    const { begun, call } = botThat(() => ({ ok: false, error_code: 429, description: 'Too Many Requests: retry after 30', parameters: { retry_after: 30 } }))
    await call('one', 'sendMessage')
    expect(await call('one', 'sendMessage')).toMatchObject({ ok: false, error_code: 429, parameters: { retry_after: 30 } })
    await call('one', 'answerCallbackQuery')
    expect(begun.map(({ method }) => method)).toEqual(['sendMessage', 'answerCallbackQuery'])
  })

  it('that are given up in the line hold up none behind them', async () => {
    const { begun, call } = botThat()
    const stopping = new AbortController()
    const calls = [call('one', 'sendMessage'), call('one', 'sendMessage', stopping.signal), call('one', 'sendMessage')]
    stopping.abort()
    expect((await Promise.allSettled(calls)).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(begun).toHaveLength(2)
  })
})
