import type { Judge, JudgementBound } from '@muster/domain'

/** A judge whose answers a test gives, in place of a model. `most` is what each of them may use at most; by default nothing. */
export function scriptedJudge(judge: Judge['judge'], most: JudgementBound = { tokens: 0, costUsdMicros: 0 }): Judge {
  return { judge, bound: () => most }
}
