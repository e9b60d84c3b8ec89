import type { EvaluationStats, StatsGrouping } from '@muster/client'
import { queryOptions } from '@tanstack/react-query'
import { keys } from '../../live/refresh.ts'
import { muster } from '../../muster.ts'

export const statsQuery = (by: StatsGrouping) =>
  queryOptions({ queryKey: keys.list('evaluation', 'stats', by), queryFn: () => muster.evaluations.stats({ by }) })

const DAY_MS = 24 * 60 * 60 * 1000
/** The last 30 days in parts of three: each part is one request. */
const PARTS = 10
const PART_MS = 3 * DAY_MS
/** Of more lines than these the colours look alike. */
const LINES = 4

export interface Trend {
  /** The beginning of each part, in seconds since the epoch. */
  times: number[]
  series: { label: string; values: (number | null)[] }[]
}

/** Read again this long after the first evaluation that it lacks: it takes a request for each part. In milliseconds. */
export const TREND_MS = 60_000

/** Average scores of the sub-agents or criteria with the most outputs, over the last 30 days. */
export const trendQuery = (by: 'subagent' | 'criterion') =>
  queryOptions({
    // Not under the key of evaluations: an event marks everything there.
    queryKey: ['evaluation-trend', by],
    staleTime: TREND_MS,
    queryFn: async (): Promise<Trend> => {
      const end = Date.parse((await muster.evaluations.stats({ by: 'day' })).until)
      const starts = Array.from({ length: PARTS }, (_, index) => end - (PARTS - index) * PART_MS)
      const parts = (await Promise.all(
        starts.map((start) => muster.evaluations.stats({ by, since: new Date(start).toISOString(), until: new Date(start + PART_MS).toISOString() })),
      )) as EvaluationStats[]
      const outputs = new Map<string, number>()
      for (const { key, outputs: more } of parts.flatMap(({ groups }) => groups)) if (key !== null) outputs.set(key, (outputs.get(key) ?? 0) + more)
      const labels = [...outputs].sort((a, b) => b[1] - a[1]).slice(0, LINES)
      return {
        times: starts.map((start) => start / 1000),
        series: labels.map(([label]) => ({ label, values: parts.map(({ groups }) => groups.find(({ key }) => key === label)?.average_score ?? null) })),
      }
    },
  })
