import type { UsageGroup, UsageGrouping } from '@muster/client'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { curlLine, Empty } from '../../design/empty.tsx'
import { Loaded } from '../../design/loaded.tsx'
import { Page, Panel } from '../../design/panel.tsx'
import { TableScroll } from '../../design/table-scroll.tsx'
import { duration } from '../../design/time.tsx'
import { keys } from '../../live/refresh.ts'
import { muster } from '../../muster.ts'
import { USAGE_GROUPINGS } from './address.ts'

const route = getRouteApi('/usage')

const Chart = lazy(() => import('../../design/chart.tsx'))

const usageQuery = (by: UsageGrouping) => queryOptions({ queryKey: keys.list('subtask', 'usage', by), queryFn: () => muster.usage({ by }) })

/** Tokens, cost, time and runs of ended work. */
export function Usage() {
  const { by = 'day' } = route.useSearch()
  const navigate = useNavigate()
  const setBy = (next: (typeof USAGE_GROUPINGS)[number]) => void navigate({ to: '/usage', search: { by: next }, replace: true })
  const query = useQuery(usageQuery(by))
  const choice = (
    <select className="input" aria-label="Sum by" value={by} onChange={(event) => setBy(event.target.value as (typeof USAGE_GROUPINGS)[number])}>
      {USAGE_GROUPINGS.map((each) => (
        <option key={each} value={each}>
          By {each}
        </option>
      ))}
    </select>
  )
  return (
    <Page title="Usage" actions={choice}>
      <Loaded query={query}>
        {(report) =>
          report.runs + report.judgements === 0 ? (
            <Panel title="Nothing has ended yet">
              <Empty curl={curlLine('/usage?by=day')} sdk={`await muster.usage({ by: 'day' })`}>
                What ended work used is summed here.
              </Empty>
            </Panel>
          ) : (
            <div className="stack">
              <dl className="figures">
                <Figure name="Runs" value={report.runs.toLocaleString('en')} />
                <Figure name="Input tokens" value={report.input_tokens.toLocaleString('en')} />
                <Figure name="Output tokens" value={report.output_tokens.toLocaleString('en')} />
                <Figure name="Cost" value={money(report.cost_usd)} />
              </dl>
              {report.unpriced_models.length > 0 && (
                <p className="hint">
                  {report.unpriced_runs} runs have no known price ({report.unpriced_models.join(', ')}): the cost leaves them out. MODEL_PRICES sets one.
                </p>
              )}
              {by === 'day' && report.groups.length > 1 && (
                <Suspense>
                  <Panel title="Runs and cost by day">
                    <Chart
                      times={report.groups.map(({ key }) => new Date(key ?? '').getTime() / 1000)}
                      series={[
                        { label: 'Runs', values: report.groups.map(({ runs }) => runs) },
                        { label: 'Cost, $', values: report.groups.map(({ cost_usd }) => cost_usd) },
                      ]}
                    />
                  </Panel>
                </Suspense>
              )}
              <Groups groups={report.groups} by={by} />
            </div>
          )
        }
      </Loaded>
    </Page>
  )
}

const money = (usd: number | null) => (usd === null ? 'unknown' : `$${usd.toFixed(usd < 1 ? 4 : 2)}`)

function Figure({ name, value }: { name: string; value: string }) {
  return (
    <div className="figure">
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  )
}

function Groups({ groups, by }: { groups: UsageGroup[]; by: string }) {
  return (
    <Panel title={`By ${by}`} isFlush>
      <TableScroll label={`By ${by}`}>
        <table>
          <thead>
            <tr>
              <th scope="col">{by}</th>
              {['Runs', 'Attempts', 'Judgements', 'Input tokens', 'Output tokens', 'Time', 'Cost'].map((name) => (
                <th key={name} scope="col" className="number">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {groups.map((group) => (
              <tr key={group.key ?? ''}>
                <td>{group.key ?? 'none'}</td>
                {[group.runs, group.attempts, group.judgements, group.input_tokens, group.output_tokens].map((value, index) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: a cell is its column.
                  <td key={index} className="number">
                    {value.toLocaleString('en')}
                  </td>
                ))}
                <td className="number">{duration(group.duration_ms)}</td>
                <td className="number">{money(group.cost_usd)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableScroll>
    </Panel>
  )
}
