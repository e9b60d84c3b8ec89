import { describe, expect, it, vi } from 'vitest'
import { answerWithin } from './patience.ts'

/** Longer than a test lasts. */
const LONG_MS = 60_000

describe('an answer with patience', () => {
  it('is what the work answers with, in time', async () => {
    const late = vi.fn()
    expect(await answerWithin(LONG_MS, async (isAwaited) => isAwaited(), late)).toBe(true)
    expect(late).not.toHaveBeenCalled()
  })

  it('fails as the work fails, in time', async () => {
    await expect(answerWithin(LONG_MS, () => Promise.reject(new Error('broken')), vi.fn())).rejects.toThrow('broken')
  })

  it('is nothing when time is up, and the work is told so', async () => {
    const { promise: held, resolve: letGo } = Promise.withResolvers<void>()
    const { promise: complained, resolve: late } = Promise.withResolvers<unknown>()
    const asked: boolean[] = []
    const work = async (isAwaited: () => boolean) => {
      await held
      asked.push(isAwaited())
      throw new Error('taken back')
    }
    expect(await answerWithin(0, work, late)).toBeNull()
    letGo()
    expect(await complained).toMatchObject({ message: 'taken back' })
    expect(asked).toEqual([false])
  })

  it('is waited for to the end once it is about to be recorded as told', async () => {
    const { promise: committed, resolve: commit } = Promise.withResolvers<string>()
    let isAnswered = false
    const answer = answerWithin(
      0,
      (isAwaited) => {
        expect(isAwaited()).toBe(true)
        return committed
      },
      vi.fn(),
    ).finally(() => {
      isAnswered = true
    })
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(isAnswered).toBe(false)
    commit('told')
    expect(await answer).toBe('told')
  })
})
