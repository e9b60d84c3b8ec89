import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createDemand } from './demand.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

function watched(lingerMs = 1_000) {
  const demand = createDemand(lingerMs)
  const heard: string[] = []
  demand.watch(
    () => heard.push('begin'),
    () => heard.push('end'),
  )
  return { demand, heard }
}

describe('a demand', () => {
  it('begins with the first need, and ends a while after the last', () => {
    const { demand, heard } = watched()
    const [first, second] = [demand.need(), demand.need()]
    first()
    vi.advanceTimersByTime(5_000)
    expect([heard, demand.isWanted()]).toEqual([['begin'], true])
    second()
    vi.advanceTimersByTime(999)
    expect(demand.isWanted()).toBe(true)
    vi.advanceTimersByTime(1)
    expect([heard, demand.isWanted()]).toEqual([['begin', 'end'], false])
  })

  it('goes on for whoever comes back soon', () => {
    const { demand, heard } = watched()
    demand.need()()
    vi.advanceTimersByTime(900)
    const release = demand.need()
    vi.advanceTimersByTime(5_000)
    expect(heard).toEqual(['begin'])
    release()
    vi.advanceTimersByTime(1_000)
    demand.need()
    expect(heard).toEqual(['begin', 'end', 'begin'])
  })

  it('takes the end of a need once', () => {
    const { demand, heard } = watched()
    const first = demand.need()
    demand.need()
    first()
    first()
    vi.advanceTimersByTime(5_000)
    expect(heard).toEqual(['begin'])
  })

  it('tells a watcher who comes late', () => {
    const demand = createDemand(1_000)
    demand.need()
    const onBegin = vi.fn()
    demand.watch(onBegin, () => {})
    expect(onBegin).toHaveBeenCalledOnce()
  })
})
