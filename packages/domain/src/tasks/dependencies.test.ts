import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findCycle } from '../index.ts'
import type { DependencyEdge } from './dependencies.ts'

/** `a>b` says that a waits for b. */
function edges(...written: string[]): DependencyEdge[] {
  return written.map((edge) => ({ taskId: edge.slice(0, 1), dependsOn: edge.slice(2) }))
}

describe('a cycle of dependencies', () => {
  it.each<[string[], string[], string[] | null]>([
    [['b'], [], null],
    [['b'], ['b>c', 'c>d'], null],
    [['b', 'c'], ['b>d', 'c>d'], null],
    [['a'], [], ['a', 'a']],
    [['b'], ['b>a'], ['a', 'b', 'a']],
    [['b'], ['b>c', 'c>d', 'd>a'], ['a', 'b', 'c', 'd', 'a']],
    [
      ['b', 'e'],
      ['b>c', 'c>a', 'e>a'],
      ['a', 'e', 'a'],
    ],
    // One among others is not one of the task.
    [['b'], ['b>c', 'c>b'], null],
    // What the task waited for before does not count.
    [['b'], ['a>c', 'c>a'], null],
    [[], ['b>a'], null],
  ])('of a waiting for %j, with %j, is %j', (dependsOn, known, path) => {
    expect(findCycle('a', dependsOn, edges(...known))).toEqual(path)
  })

  it('is a path along the edges whenever there is one, in graphs of any size', () => {
    const node = fc.constantFrom('a', 'b', 'c', 'd', 'e')
    fc.assert(
      fc.property(fc.array(node), fc.array(fc.tuple(node, node)), (dependsOn, pairs) => {
        const known = pairs.filter(([from]) => from !== 'a').map(([taskId, to]) => ({ taskId, dependsOn: to }))
        const all = [...known, ...dependsOn.map((to) => ({ taskId: 'a', dependsOn: to }))]
        const reached = new Set(dependsOn)
        for (const each of reached) for (const edge of known) if (edge.taskId === each) reached.add(edge.dependsOn)
        const path = findCycle('a', dependsOn, known)
        expect(path !== null).toBe(reached.has('a'))
        for (const [index, to] of (path ?? []).entries()) {
          if (index > 0) expect(all).toContainEqual({ taskId: path?.[index - 1], dependsOn: to })
        }
      }),
    )
    const long = Array.from({ length: 20_000 }, (_, index) => ({ taskId: `${index}`, dependsOn: `${index + 1}` }))
    expect(findCycle('20000', ['0'], long)).toHaveLength(20_002)
  })
})
