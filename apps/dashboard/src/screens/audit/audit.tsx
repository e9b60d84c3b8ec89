import type { AuditEntry } from '@muster/client'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useCallback } from 'react'
import { curlLine, Empty } from '../../design/empty.tsx'
import { Loaded } from '../../design/loaded.tsx'
import { Page, Panel } from '../../design/panel.tsx'
import { TextFilter } from '../../design/text-filter.tsx'
import { Time } from '../../design/time.tsx'
import { VirtualList } from '../../design/virtual-list.tsx'
import { useGrowingList } from '../../live/growing-list.ts'
import { muster } from '../../muster.ts'
import { AUDIT_FILTERS, type AuditFilters } from './filters.ts'

const route = getRouteApi('/audit')
const LABELS = { actor: 'Who', operation: 'Operation', subject: 'Id of what was changed' }

/** Numbers of entries as texts that sort as the numbers do. */
const idOf = ({ seq }: AuditEntry) => String(seq).padStart(16, '0')

/** Who changed what, from where: names and ids, never a value. */
export function Audit() {
  const filters = route.useSearch()
  const list = useCallback(() => muster.audit.list({ ...filters, limit: 200 }), [filters])
  const entries = useGrowingList(['audit', filters], list, idOf)
  return (
    <Page
      title="Audit"
      actions={
        <a className="button" href={`/audit/export?${new URLSearchParams({ ...filters })}`} download="audit.jsonl">
          Export
        </a>
      }
    >
      <div className="stack">
        <Filters filters={filters} />
        <Panel title="Newest first" count={`${entries.items.length.toLocaleString('en')}${entries.hasMore ? '+' : ''}`} isFlush>
          <Loaded query={entries.query}>
            {() =>
              entries.items.length === 0 ? (
                <Empty curl={curlLine('/audit')} sdk="for await (const entry of muster.audit.list()) console.log(entry.operation, entry.actor)">
                  {Object.keys(filters).length > 0 ? 'No entry fits these filters.' : 'Every write of a person or a program is noted here.'}
                </Empty>
              ) : (
                <VirtualList label="Audit log" items={entries.items} idOf={idOf} onEnd={entries.loadMore}>
                  {(entry) => <Row entry={entry} />}
                </VirtualList>
              )
            }
          </Loaded>
        </Panel>
      </div>
    </Page>
  )
}

function Row({ entry }: { entry: AuditEntry }) {
  return (
    <div className="list-row">
      <code>{entry.operation}</code>
      <span className="title">
        {[...new Set(Object.values(entry.ids))].join(' ')} <span className="hint">{entry.fields.join(', ')}</span>
      </span>
      <span className="meta">{entry.actor.kind === entry.actor.id ? entry.actor.kind : `${entry.actor.kind} ${entry.actor.id}`}</span>
      <span className="meta wide-only">
        {entry.door} {entry.address ?? ''}
      </span>
      <Time at={entry.at} />
    </div>
  )
}

function Filters({ filters }: { filters: AuditFilters }) {
  const navigate = useNavigate()
  const change = (name: keyof AuditFilters, value: string) => {
    const { [name]: _, ...rest } = filters
    void navigate({ to: '/audit', search: value === '' ? rest : { ...rest, [name]: value }, replace: true })
  }
  return (
    <div className="row">
      {AUDIT_FILTERS.map((name) => (
        <TextFilter key={name} className="grow" label={LABELS[name]} value={filters[name] ?? ''} onChange={(value) => change(name, value)} />
      ))}
    </div>
  )
}
