import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FairShares } from '../index.ts'

/** Projects with waiting work, served as a claim does: by lead and step, at a tie the one whose work is ranked first. */
class Model {
  readonly shares: FairShares
  readonly waiting = new Map<string, number>()
  readonly served: string[] = []

  constructor(weights: Record<string, number>) {
    this.shares = new FairShares(weights)
  }

  add(projectId: string, count: number): void {
    this.waiting.set(projectId, (this.waiting.get(projectId) ?? 0) + count)
  }

  /** @param preferred goes first at a tie: the most urgent of all, for ever */
  claim(limit: number, preferred: string): string[] {
    const shares = new Map(this.shares.current().map((share) => [share.projectId, share]))
    const turns = [...this.waiting].flatMap(([projectId, count]) => {
      const { lead, step } = shares.get(projectId) ?? { lead: 0, step: 1 }
      return Array.from({ length: Math.min(count, limit) }, (_, place) => ({ projectId, turn: lead + place * step }))
    })
    turns.sort((one, other) => one.turn - other.turn || Number(other.projectId === preferred) - Number(one.projectId === preferred))
    const taken = turns.slice(0, limit).map(({ projectId }) => projectId)
    for (const projectId of taken) this.add(projectId, -1)
    this.shares.start(taken)
    this.served.push(...taken)
    return taken
  }
}

const PROJECTS = ['a', 'b', 'c', 'd'] as const
const weight = fc.constantFrom(0.25, 0.5, 1, 2, 3, 10)
const weights = fc.record({ a: weight, b: weight, c: weight, d: weight })
const project = fc.constantFrom(...PROJECTS)
const arrivals = fc.array(fc.record({ project, count: fc.integer({ min: 0, max: 30 }), limit: fc.integer({ min: 1, max: 17 }) }), { maxLength: 60 })

describe('turns of projects', () => {
  it('a project that has been quiet is the next one, whatever its neighbours have queued and however urgent that is', () => {
    fc.assert(
      fc.property(weights, arrivals, (given, history) => {
        const model = new Model(given)
        for (const { project, count, limit } of history) {
          model.add(project, count)
          model.claim(limit, 'a')
        }
        for (const full of PROJECTS) model.add(full, 10_000)
        model.claim(1, 'a')
        model.add('quiet', 1)
        // At a tie with another project that is as far behind, the more urgent one goes first: at most one start of each.
        const before: string[] = []
        while (!before.includes('quiet')) before.push(...model.claim(1, 'a'))
        expect(before.length).toBeLessThanOrEqual(PROJECTS.length + 1)
        expect(new Set(before).size).toBe(before.length)
      }),
    )
  })

  it('one full neighbour costs a quiet project no turn at all', () => {
    fc.assert(
      fc.property(weight, fc.integer({ min: 1, max: 17 }), fc.integer({ min: 1, max: 200 }), (ofFull, limit, claims) => {
        const model = new Model({ full: ofFull })
        model.add('full', 1_000_000)
        for (let number = 0; number < claims; number += 1) model.claim(limit, 'full')
        model.add('quiet', 1)
        expect(model.claim(1, 'full')).toEqual(['quiet'])
      }),
    )
  })

  it('projects that wait all the time get starts by their weights, never more than one start each apart', () => {
    fc.assert(
      fc.property(weights, arrivals, fc.integer({ min: 1, max: 17 }), (given, history, limit) => {
        const model = new Model(given)
        for (const { project, count, limit } of history) {
          model.add(project, count)
          model.claim(limit, 'b')
        }
        for (const each of PROJECTS) model.add(each, 10_000)
        model.served.length = 0
        for (let number = 0; number < 100; number += 1) model.claim(limit, 'b')
        const normalized = PROJECTS.map((each) => ({ share: model.served.filter((one) => one === each).length / given[each], step: 1 / given[each] }))
        for (const one of normalized) {
          // What a project owes from before may be up to one start more.
          for (const other of normalized) expect(Math.abs(one.share - other.share)).toBeLessThanOrEqual(2 * (one.step + other.step) + 1e-6)
        }
      }),
    )
  })

  it('remember only projects that are ahead of the others', () => {
    const shares = new FairShares()
    for (let number = 0; number < 1_000; number += 1) shares.start([`project-${number}`, 'steady'])
    expect(shares.current().length).toBeLessThan(1_100)
    for (let number = 0; number < 2_000; number += 1) shares.start(['steady'])
    expect(shares.current()).toEqual([{ projectId: 'steady', lead: 1, step: 1 }])
  })
})
