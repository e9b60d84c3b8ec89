import { queryOptions, useQuery } from '@tanstack/react-query'
import { Panel } from '../../design/panel.tsx'
import { Sparkline } from '../../design/sparkline.tsx'
import { useNow } from '../../design/time.tsx'
import { keys } from '../../live/refresh.ts'
import { muster } from '../../muster.ts'

const MINUTES = 60
/** The newest subtasks that the picture is drawn from. */
const READ = 400

const recentQuery = queryOptions({ queryKey: keys.list('subtask', 'recent'), queryFn: () => muster.subtasks.list({ limit: 200 }).all(READ) })

/** Starts, ends and cost of the last hour, by minute. */
export function Activity() {
  const { data: subtasks } = useQuery(recentQuery)
  const minute = Math.floor(useNow() / 60_000)
  if (subtasks === undefined) return null
  const series = { starts: empty(), ends: empty(), cost: empty() }
  for (const { started_at, completed_at, usage } of subtasks) {
    add(series.starts, minute, started_at, 1)
    add(series.ends, minute, completed_at, 1)
    add(series.cost, minute, completed_at, usage.cost_usd)
  }
  return (
    <Panel title="Last hour" count={subtasks.length === READ ? `of the newest ${READ} subtasks` : undefined}>
      <div className="grid thirds">
        <Sparkline label={`${total(series.starts)} starts`} values={series.starts} />
        <Sparkline label={`${total(series.ends)} ends`} values={series.ends} />
        <Sparkline label={`$${total(series.cost).toFixed(2)} reported cost`} values={series.cost} />
      </div>
    </Panel>
  )
}

const empty = () => new Array<number>(MINUTES).fill(0)
const total = (series: readonly number[]) => series.reduce((sum, each) => sum + each, 0)

function add(series: number[], minute: number, at: string | null, amount: number): void {
  if (at === null) return
  const place = MINUTES - 1 - (minute - Math.floor(new Date(at).getTime() / 60_000))
  if (place >= 0 && place < MINUTES) series[place] = (series[place] ?? 0) + amount
}
