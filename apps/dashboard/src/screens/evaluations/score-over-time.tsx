import type { EvaluationStats } from '@muster/client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useEffect } from 'react'
import { Loaded } from '../../design/loaded.tsx'
import { Panel } from '../../design/panel.tsx'
import { SCORES_OF } from './address.ts'
import { statsQuery, TREND_MS, type Trend, trendQuery } from './queries.ts'

const Chart = lazy(() => import('../../design/chart.tsx'))

const route = getRouteApi('/evaluations')

/** Average scores of the last 30 days: of everything, or of the sub-agents or criteria with the most outputs. */
export function ScoreOverTime() {
  const { by = 'day' } = route.useSearch()
  const navigate = useNavigate()
  const setBy = (next: keyof typeof SCORES_OF) => void navigate({ to: '/evaluations', search: { by: next }, replace: true })
  const choice = (
    <select className="input" aria-label="Scores of" value={by} onChange={(event) => setBy(event.target.value as keyof typeof SCORES_OF)}>
      {Object.entries(SCORES_OF).map(([key, name]) => (
        <option key={key} value={key}>
          {name}
        </option>
      ))}
    </select>
  )
  return (
    <Panel title="Score over time" actions={choice}>
      {by === 'day' ? <ByDay /> : <ByGroup by={by} />}
    </Panel>
  )
}

function ByDay() {
  return (
    <Loaded query={useQuery(statsQuery('day'))}>
      {(stats) => {
        const days = (stats as EvaluationStats).groups.filter(({ key }) => key !== null).sort((a, b) => ((a.key ?? '') < (b.key ?? '') ? -1 : 1))
        return (
          <Lines
            trend={{
              times: days.map(({ key }) => Date.parse(key ?? '') / 1000),
              series: [{ label: 'Score', values: days.map((day) => day.average_score) }],
            }}
          />
        )
      }}
    </Loaded>
  )
}

function ByGroup({ by }: { by: 'subagent' | 'criterion' }) {
  const trend = useQuery(trendQuery(useQueryClient(), by))
  const { dataUpdatedAt: changedAt } = useQuery(statsQuery(by))
  const { refetch, dataUpdatedAt: readAt } = trend
  const isBehind = readAt > 0 && changedAt > readAt
  useEffect(() => {
    if (!isBehind) return
    const timer = setTimeout(() => void refetch(), TREND_MS)
    return () => clearTimeout(timer)
  }, [isBehind, refetch])
  return <Loaded query={trend}>{(found) => <Lines trend={found} />}</Loaded>
}

function Lines({ trend }: { trend: Trend }) {
  // One point is no line.
  const hasLine = trend.times.length > 1 && trend.series.length > 0
  if (!hasLine) return <p className="hint">There are too few scored outputs for a line. The tables below have what there is.</p>
  return (
    <Suspense>
      <Chart times={trend.times} series={trend.series} isOneScale />
    </Suspense>
  )
}
