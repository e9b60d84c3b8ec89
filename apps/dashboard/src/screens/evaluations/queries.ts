import type { EvaluationStats, StatsGrouping } from '@muster/client'
import { type QueryClient, queryOptions } from '@tanstack/react-query'
import { keys } from '../../live/refresh.ts'
import { muster } from '../../muster.ts'

export const statsQuery = (by: StatsGrouping) =>
  queryOptions({ queryKey: keys.list('evaluation', 'stats', by), queryFn: () => muster.evaluations.stats({ by }) })

const DAY_MS = 24 * 60 * 60 * 1000
/** The last 30 days in parts of five: each part is one request. */
const PARTS = 6
const PART_MS = 5 * DAY_MS
/** Of more lines than these the colours look alike. */
const LINES = 4

export interface Trend {
  /** The beginning of each part, in seconds since the epoch. */
  times: number[]
  series: { label: string; values: (number | null)[] }[]
}

/** Read again this long after the first evaluation that it lacks. In milliseconds. */
export const TREND_MS = 60_000

/** Scores of one part. A score never changes: a part that is over is read once. */
const partQuery = (by: 'subagent' | 'criterion', startMs: number, isOver: boolean) =>
  queryOptions({
    queryKey: ['evaluation-trend', by, startMs],
    staleTime: isOver ? Number.POSITIVE_INFINITY : 0,
    queryFn: async () => {
      const range = { since: new Date(startMs).toISOString(), until: new Date(startMs + PART_MS).toISOString() }
      return (await muster.evaluations.stats({ by, ...range })) as EvaluationStats
    },
  })

/** Average scores of the sub-agents or criteria with the most outputs, over the last 30 days. */
export const trendQuery = (client: QueryClient, by: 'subagent' | 'criterion') =>
  queryOptions({
    // Not under the key of evaluations: an event marks everything there.
    queryKey: ['evaluation-trend', by],
    staleTime: TREND_MS,
    queryFn: async (): Promise<Trend> => {
      const { until, groups } = (await client.ensureQueryData(statsQuery(by))) as EvaluationStats
      // Parts begin with a day, so that they stay the same as time goes on.
      const end = Math.ceil(Date.parse(until) / DAY_MS) * DAY_MS
      const starts = Array.from({ length: PARTS }, (_, index) => end - (PARTS - index) * PART_MS)
      const parts = await Promise.all(starts.map((start) => client.fetchQuery(partQuery(by, start, start + PART_MS < end))))
      const labels = groups.flatMap(({ key }) => (key === null ? [] : [key])).slice(0, LINES)
      return {
        times: starts.map((start) => start / 1000),
        series: labels.map((label) => ({ label, values: parts.map((part) => part.groups.find(({ key }) => key === label)?.average_score ?? null) })),
      }
    },
  })
