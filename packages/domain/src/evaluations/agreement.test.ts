import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cohensKappa, KAPPA_CASES_MIN } from '../index.ts'

const transposed = (table: readonly (readonly number[])[]) => table.map((_, at) => table.map((row) => row[at] as number))

describe("Cohen's kappa", () => {
  it.each<[string, number[][], number | null, number | null, string | null]>([
    // The textbook example of 50 applications, read by two readers.
    [
      'two raters',
      [
        [20, 5],
        [10, 15],
      ],
      0.7,
      0.4,
      null,
    ],
    [
      'the same observed agreement with other marginals',
      [
        [45, 15],
        [25, 15],
      ],
      0.6,
      0.1304,
      null,
    ],
    [
      'the opposite of agreement',
      [
        [0, 10],
        [10, 0],
      ],
      0,
      -1,
      null,
    ],
    [
      'three categories',
      [
        [10, 0, 0],
        [0, 10, 0],
        [0, 5, 5],
      ],
      0.8333,
      0.75,
      null,
    ],
    ['nothing', [], null, null, 'too_few'],
    [
      'no cases',
      [
        [0, 0],
        [0, 0],
      ],
      null,
      null,
      'too_few',
    ],
    [
      'one case fewer than enough',
      [
        [5, 0],
        [0, 4],
      ],
      1,
      null,
      'too_few',
    ],
    [
      'just enough',
      [
        [5, 0],
        [0, 5],
      ],
      1,
      1,
      null,
    ],
    [
      'agreement in one category, which is no evidence',
      [
        [40, 0],
        [0, 0],
      ],
      1,
      null,
      'one_category',
    ],
    [
      'a first rater who always says the same, where the formula says 0',
      [
        [30, 10],
        [0, 0],
      ],
      0.75,
      null,
      'one_category',
    ],
    [
      'a second rater who does',
      [
        [30, 0],
        [10, 0],
      ],
      0.75,
      null,
      'one_category',
    ],
    [
      'two who always say different things',
      [
        [0, 40],
        [0, 0],
      ],
      0,
      null,
      'one_category',
    ],
  ])('of %s', (_, table, observed, kappa, reason) => {
    const found = cohensKappa(table)
    expect(found.reason).toBe(reason)
    for (const [value, wanted] of [
      [found.observed, observed],
      [found.kappa, kappa],
    ] as const)
      if (wanted === null) expect(value).toBeNull()
      else expect(value).toBeCloseTo(wanted, 4)
  })

  const cell = fc.nat(200)
  const table = fc
    .integer({ min: 2, max: 4 })
    .chain((size) => fc.array(fc.array(cell, { minLength: size, maxLength: size }), { minLength: size, maxLength: size }))

  it('is the same whichever rater comes first', () => {
    fc.assert(
      fc.property(table, (given) => {
        const [one, other] = [cohensKappa(given), cohensKappa(transposed(given))]
        expect({ ...one, kappa: null }).toEqual({ ...other, kappa: null })
        if (one.kappa !== null) expect(one.kappa).toBeCloseTo(other.kappa as number, 9)
      }),
    )
  })

  it('is from −1 to 1, and 1 only where nobody disagrees', () => {
    fc.assert(
      fc.property(table, (given) => {
        const { kappa, observed, reason } = cohensKappa(given)
        expect(kappa === null).toBe(reason !== null)
        if (kappa === null) return
        expect(kappa).toBeGreaterThanOrEqual(-1 - 1e-9)
        expect(kappa).toBeLessThanOrEqual(1 + 1e-9)
        expect(Math.abs(kappa - 1) < 1e-9).toBe(observed === 1)
      }),
    )
  })

  it('is 1 for full agreement in two categories', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: KAPPA_CASES_MIN, max: 1_000 }), (some, others) => {
        expect(
          cohensKappa([
            [some, 0],
            [0, others],
          ]).kappa,
        ).toBeCloseTo(1, 9)
      }),
    )
  })

  it('is 0 where one rater says nothing about what the other says', () => {
    const share = fc.integer({ min: 1, max: 30 })
    fc.assert(
      fc.property(fc.array(fc.tuple(share, share), { minLength: 2, maxLength: 4 }), (shares) => {
        const { kappa, reason } = cohensKappa(shares.map(([row]) => shares.map(([, column]) => row * column)))
        if (reason === null) expect(kappa).toBeCloseTo(0, 9)
        else expect(reason).toBe('too_few')
      }),
    )
  })

  it('grows with each case on which they agree instead of not', () => {
    const some = fc.integer({ min: 5, max: 100 })
    fc.assert(
      fc.property(some, some, some, some, (a, b, c, d) => {
        const before = cohensKappa([
          [a, b],
          [c, d],
        ])
        // One case of each kind of disagreement, so that both raters use their categories as often as before.
        const after = cohensKappa([
          [a + 1, b - 1],
          [c - 1, d + 1],
        ])
        expect(after.kappa as number).toBeGreaterThan(before.kappa as number)
      }),
    )
  })
})
