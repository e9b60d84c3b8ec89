import type { Subtask } from '@muster/client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { type ReactNode, useCallback, useState } from 'react'
import { Button } from '../../design/button.tsx'
import { curlLine, Empty } from '../../design/empty.tsx'
import { Loaded } from '../../design/loaded.tsx'
import { Page, Panel } from '../../design/panel.tsx'
import { TextFilter } from '../../design/text-filter.tsx'
import { VirtualList } from '../../design/virtual-list.tsx'
import { useGrowingList } from '../../live/growing-list.ts'
import { keys } from '../../live/refresh.ts'
import { muster } from '../../muster.ts'
import { CancelChosen } from './cancel-chosen.tsx'
import { STATUSES, type SubtaskFilters } from './filters.ts'
import { NewSubtaskLink } from './new-subtask-link.tsx'
import { deleteView, saveView, useSavedViews } from './saved-views.ts'
import { searchQuery } from './search.ts'
import { SubtaskRow } from './subtask-row.tsx'

const route = getRouteApi('/subtasks')
const PAGE = 200
const idOf = ({ id }: { id: string }) => id

/** All subtasks, newest first, with filters in the address. */
export function Subtasks() {
  const filters = route.useSearch()
  const { q } = filters
  const [chosen, setChosen] = useState<ReadonlyMap<string, string>>(new Map())
  const toggle = ({ id, task }: Subtask) =>
    setChosen((before) => (before.has(id) ? new Map([...before].filter(([each]) => each !== id)) : new Map(before).set(id, task)))
  const row = (subtask: Subtask) => (
    <SubtaskRow subtask={subtask} select={<Choose subtask={subtask} isChosen={chosen.has(subtask.id)} onToggle={() => toggle(subtask)} />} />
  )
  return (
    <Page
      title="Subtasks"
      actions={
        <>
          <CancelChosen chosen={chosen} onDone={() => setChosen(new Map())} />
          <NewSubtaskLink />
        </>
      }
    >
      <div className="stack">
        <Filters filters={filters} />
        {q === undefined ? <Newest filters={filters} row={row} /> : <Found filters={{ ...filters, q }} row={row} />}
      </div>
    </Page>
  )
}

type Row = (subtask: Subtask) => ReactNode

function Newest({ filters, row }: { filters: SubtaskFilters; row: Row }) {
  const list = useCallback(() => muster.subtasks.list({ ...filters, limit: PAGE }), [filters])
  const subtasks = useGrowingList(keys.list('subtask', filters), list, idOf)
  return (
    <Panel title="Newest first" count={`${subtasks.items.length.toLocaleString('en')}${subtasks.hasMore ? '+' : ''}`} isFlush>
      <Loaded query={subtasks.query}>
        {() =>
          subtasks.items.length === 0 ? (
            <NoSubtasks isFiltered={Object.keys(filters).length > 0} />
          ) : (
            <VirtualList label="Subtasks" items={subtasks.items} idOf={idOf} onEnd={subtasks.loadMore}>
              {row}
            </VirtualList>
          )
        }
      </Loaded>
    </Panel>
  )
}

function Found({ filters, row }: { filters: SubtaskFilters & { q: string }; row: Row }) {
  const query = useQuery({ ...searchQuery(useQueryClient(), filters), placeholderData: (before) => before })
  return (
    <Panel title="With these words" count={query.data?.length} isFlush>
      <Loaded query={query}>
        {(subtasks) =>
          subtasks.length === 0 ? (
            <Empty>Nothing has these words. Ended subtasks are found a second after their end.</Empty>
          ) : (
            <VirtualList label="Subtasks" items={subtasks} idOf={idOf}>
              {row}
            </VirtualList>
          )
        }
      </Loaded>
    </Panel>
  )
}

const ENDED = new Set(['completed', 'failed', 'cancelled'])

function Choose({ subtask, isChosen, onToggle }: { subtask: Subtask; isChosen: boolean; onToggle: () => void }) {
  return (
    <input type="checkbox" checked={isChosen} onChange={onToggle} disabled={ENDED.has(subtask.status)} aria-label={`Choose ${subtask.task.slice(0, 80)}`} />
  )
}

function Filters({ filters }: { filters: SubtaskFilters }) {
  const navigate = useNavigate()
  const set = (next: SubtaskFilters) => void navigate({ to: '/subtasks', search: next, replace: true })
  const change = (name: keyof SubtaskFilters, value: string) => {
    const { [name]: _, ...rest } = filters
    set(value === '' ? rest : ({ ...rest, [name]: value } as SubtaskFilters))
  }
  return (
    <div className="row">
      <label className="visually-hidden" htmlFor="status">
        Status
      </label>
      <select id="status" className="input" value={filters.status ?? ''} onChange={(event) => change('status', event.target.value)}>
        <option value="">Every status</option>
        {STATUSES.map((status) => (
          <option key={status}>{status}</option>
        ))}
      </select>
      {(['q', 'agent_id', 'parent_session_id', 'subagent'] as const).map((name) => (
        <TextFilter
          key={name}
          type={name === 'q' ? 'search' : 'text'}
          className={name === 'q' ? 'medium' : 'short'}
          label={LABELS[name]}
          value={filters[name] ?? ''}
          onChange={(value) => change(name, value)}
        />
      ))}
      {filters.task_id !== undefined && <Button onClick={() => change('task_id', '')}>Task {filters.task_id.slice(-6)} ×</Button>}
      {filters.schedule_id !== undefined && <Button onClick={() => change('schedule_id', '')}>Schedule {filters.schedule_id.slice(-6)} ×</Button>}
      <SavedViews filters={filters} onOpen={set} />
    </div>
  )
}

const LABELS = { q: 'Words', agent_id: 'Agent', parent_session_id: 'Parent session', subagent: 'Sub-agent' }

function SavedViews({ filters, onOpen }: { filters: SubtaskFilters; onOpen: (filters: SubtaskFilters) => void }) {
  const views = useSavedViews()
  const name = Object.values(filters).join(', ')
  return (
    <>
      {views.map((view) => (
        <span key={view.name} className="row" style={{ gap: 0 }}>
          <Button onClick={() => onOpen(view.filters)}>{view.name}</Button>
          <Button kind="plain" label={`Forget the view ${view.name}`} onClick={() => deleteView(view.name)}>
            ×
          </Button>
        </span>
      ))}
      {name !== '' && !views.some((view) => view.name === name) && (
        <Button kind="plain" onClick={() => saveView({ name, filters })}>
          Save this view
        </Button>
      )}
    </>
  )
}

function NoSubtasks({ isFiltered }: { isFiltered: boolean }) {
  const runners = useQuery({ queryKey: ['runners'], queryFn: () => muster.server.runners() })
  if (isFiltered) return <Empty>No subtask fits these filters.</Empty>
  const runner = runners.data?.items.find((each) => each.available)?.name ?? 'external'
  return (
    <Empty
      curl={curlLine('/subtasks', { task: 'Inspect docs', runner, parent_session_id: 'me' })}
      sdk={`const run = await muster.subtasks.spawn({ task: 'Inspect docs', runner: '${runner}' })\nconsole.log((await run.result()).result)`}
    >
      A subtask is one unit of background work. <Link to="/subtasks/new">Start the first one</Link>, and it appears here at once.
    </Empty>
  )
}
