import type { EventDeliverySummary } from '@muster/client'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useCallback } from 'react'
import { Badge } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { curlLine, Empty } from '../../design/empty.tsx'
import { Loaded } from '../../design/loaded.tsx'
import { Page, Panel } from '../../design/panel.tsx'
import { TextFilter } from '../../design/text-filter.tsx'
import { duration, Time } from '../../design/time.tsx'
import { VirtualList } from '../../design/virtual-list.tsx'
import { wallClockMs } from '../../live/clock.ts'
import { useGrowingList } from '../../live/growing-list.ts'
import { keys } from '../../live/refresh.ts'
import { muster } from '../../muster.ts'
import { DELIVERY_STATUSES, type DeliveryFilters, RECEIVER_KINDS } from './filters.ts'
import { nextAttemptMs } from './queries.ts'

const route = getRouteApi('/deliveries')
const idOf = ({ id }: EventDeliverySummary) => id

/** What was sent to webhooks, callbacks and channels, newest first, with filters in the address. */
export function Deliveries() {
  const filters = route.useSearch()
  const list = useCallback(() => muster.deliveries.list({ ...filters, limit: 200 }), [filters])
  const deliveries = useGrowingList(keys.list('delivery', filters), list, idOf, nextAttemptMs)
  return (
    <Page title="Deliveries" actions={<Link to="/webhooks">Webhooks</Link>}>
      <div className="stack">
        <Filters filters={filters} />
        <Panel title="Newest first" count={`${deliveries.items.length.toLocaleString('en')}${deliveries.hasMore ? '+' : ''}`} isFlush>
          <Loaded query={deliveries.query}>
            {() =>
              deliveries.items.length === 0 ? (
                <NoDeliveries isFiltered={Object.keys(filters).length > 0} />
              ) : (
                <VirtualList label="Deliveries" items={deliveries.items} idOf={idOf} onEnd={deliveries.loadMore}>
                  {(delivery) => <Row delivery={delivery} />}
                </VirtualList>
              )
            }
          </Loaded>
        </Panel>
      </div>
    </Page>
  )
}

function Row({ delivery }: { delivery: EventDeliverySummary }) {
  const { attempts } = delivery
  const last = attempts.at(-1)
  const answer = last === undefined ? 'not tried yet' : (last.error ?? `answered ${last.status}`)
  return (
    <div className="list-row">
      <Badge status={delivery.status} />
      <Link className="title" to="/deliveries/$id" params={{ id: delivery.id }}>
        {delivery.type} <span className="hint">{delivery.ended_reason ?? answer}</span>
      </Link>
      <span className="meta wide-only">{delivery.receiver.kind}</span>
      <span className="meta wide-only">{attempts.length === 1 ? '1 attempt' : `${attempts.length} attempts`}</span>
      {last !== undefined && <span className="meta wide-only">{duration(last.latency_ms)}</span>}
      <Time at={delivery.created_at} />
    </div>
  )
}

const PERIODS = { 'the last hour': 1, 'the last day': 24, 'the last week': 168 }
const hoursAgo = (hours: number) => new Date(wallClockMs() - hours * 3_600_000).toISOString()

function Filters({ filters }: { filters: DeliveryFilters }) {
  const navigate = useNavigate()
  const change = (name: keyof DeliveryFilters, value: string) => {
    const { [name]: _, ...rest } = filters
    void navigate({ to: '/deliveries', search: value === '' ? rest : ({ ...rest, [name]: value } as DeliveryFilters), replace: true })
  }
  return (
    <div className="row">
      <select className="input" aria-label="Receiver" value={filters.receiver_kind ?? ''} onChange={(event) => change('receiver_kind', event.target.value)}>
        <option value="">Every receiver</option>
        {RECEIVER_KINDS.map((kind) => (
          <option key={kind}>{kind}</option>
        ))}
      </select>
      <select className="input" aria-label="Status" value={filters.status ?? ''} onChange={(event) => change('status', event.target.value)}>
        <option value="">Every status</option>
        {DELIVERY_STATUSES.map((status) => (
          <option key={status}>{status}</option>
        ))}
      </select>
      <TextFilter
        className="grow"
        label="Id of the subject"
        placeholder="Id of a subtask, task, schedule or evaluation"
        value={filters.subject ?? ''}
        onChange={(value) => change('subject', value)}
      />
      <select className="input" aria-label="Made in" value="" onChange={(event) => change('since', hoursAgo(Number(event.target.value)))}>
        <option value="" disabled>
          Made in
        </option>
        {Object.entries(PERIODS).map(([name, hours]) => (
          <option key={name} value={hours}>
            {name}
          </option>
        ))}
      </select>
      {filters.since !== undefined && <Button onClick={() => change('since', '')}>Since {filters.since.slice(0, 16).replace('T', ' ')} UTC ×</Button>}
      {filters.receiver_id !== undefined && <Button onClick={() => change('receiver_id', '')}>Receiver {filters.receiver_id.slice(-6)} ×</Button>}
    </div>
  )
}

function NoDeliveries({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <Empty>No delivery fits these filters.</Empty>
  return (
    <Empty
      curl={curlLine('/webhooks', { url: 'https://example.com/muster', events: ['subtask.completed', 'subtask.failed'] })}
      sdk={`await muster.call('createWebhook', { body: { url: 'https://example.com/muster', events: ['subtask.*'] } })\nfor await (const { status, type } of muster.deliveries.list()) console.log(status, type)`}
    >
      Each event that a <Link to="/webhooks">webhook</Link>, the callback of a subtask or task, or a channel of the project asks for is sent to it, and appears
      here with every attempt.
    </Empty>
  )
}
