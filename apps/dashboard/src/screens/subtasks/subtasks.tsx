import type { Subtask } from '@muster/client'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useCallback, useState } from 'react'
import { Button } from '../../design/button.tsx'
import { curlLine, Empty } from '../../design/empty.tsx'
import { Loaded } from '../../design/loaded.tsx'
import { Page, Panel } from '../../design/panel.tsx'
import { showError, toasts } from '../../design/toasts.tsx'
import { VirtualList } from '../../design/virtual-list.tsx'
import { useGrowingList } from '../../live/growing-list.ts'
import { keys } from '../../live/refresh.ts'
import { muster } from '../../muster.ts'
import { STATUSES, type SubtaskFilters } from './filters.ts'
import { deleteView, saveView, useSavedViews } from './saved-views.ts'
import { SubtaskRow } from './subtask-row.tsx'

const route = getRouteApi('/subtasks')
const PAGE = 200
const idOf = ({ id }: { id: string }) => id

/** All subtasks, newest first, with filters in the address. */
export function Subtasks() {
  const filters = route.useSearch()
  const list = useCallback(() => muster.subtasks.list({ ...filters, limit: PAGE }), [filters])
  const subtasks = useGrowingList(keys.list('subtask', filters), list, idOf)
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const toggle = (id: string) => setChosen((before) => (before.has(id) ? new Set([...before].filter((each) => each !== id)) : new Set([...before, id])))
  return (
    <Page title="Subtasks" actions={<CancelChosen chosen={chosen} onDone={() => setChosen(new Set())} />}>
      <div className="stack">
        <Filters filters={filters} />
        <Panel title="Newest first" count={`${subtasks.items.length.toLocaleString('en')}${subtasks.hasMore ? '+' : ''}`} isFlush>
          <Loaded query={subtasks.query}>
            {() =>
              subtasks.items.length === 0 ? (
                <NoSubtasks isFiltered={Object.keys(filters).length > 0} />
              ) : (
                <VirtualList label="Subtasks" items={subtasks.items} idOf={idOf} onEnd={subtasks.loadMore}>
                  {(subtask) => (
                    <SubtaskRow subtask={subtask} select={<Choose subtask={subtask} isChosen={chosen.has(subtask.id)} onToggle={() => toggle(subtask.id)} />} />
                  )}
                </VirtualList>
              )
            }
          </Loaded>
        </Panel>
      </div>
    </Page>
  )
}

const ENDED = new Set(['completed', 'failed', 'cancelled'])

function Choose({ subtask, isChosen, onToggle }: { subtask: Subtask; isChosen: boolean; onToggle: () => void }) {
  return (
    <input type="checkbox" checked={isChosen} onChange={onToggle} disabled={ENDED.has(subtask.status)} aria-label={`Choose ${subtask.task.slice(0, 80)}`} />
  )
}

function CancelChosen({ chosen, onDone }: { chosen: ReadonlySet<string>; onDone: () => void }) {
  if (chosen.size === 0) return null
  const cancel = async () => {
    const ends = await Promise.allSettled([...chosen].map((id) => muster.subtasks.cancel(id)))
    const refused = ends.filter((end) => end.status === 'rejected')
    toasts.add({ title: `Asked ${ends.length - refused.length} of ${ends.length} to stop.` })
    if (refused[0] !== undefined) showError(refused[0].reason as Error)
    onDone()
  }
  return (
    <Button kind="danger" onClick={() => void cancel()}>
      Cancel {chosen.size}
    </Button>
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
      {(['agent_id', 'session', 'subagent'] as const).map((name) => (
        <TextFilter key={name} name={name} value={filters[name] ?? ''} onChange={(value) => change(name, value)} />
      ))}
      {filters.task_id !== undefined && <Button onClick={() => change('task_id', '')}>Task {filters.task_id.slice(-6)} ×</Button>}
      {filters.schedule_id !== undefined && <Button onClick={() => change('schedule_id', '')}>Schedule {filters.schedule_id.slice(-6)} ×</Button>}
      <SavedViews filters={filters} onOpen={set} />
    </div>
  )
}

const LABELS = { agent_id: 'Agent', session: 'Parent session', subagent: 'Sub-agent' }

/** Applies when a person leaves the field or presses Enter. */
function TextFilter({ name, value, onChange }: { name: keyof typeof LABELS; value: string; onChange: (value: string) => void }) {
  return (
    <input
      key={value}
      className="input"
      style={{ width: '10rem' }}
      aria-label={LABELS[name]}
      placeholder={LABELS[name]}
      defaultValue={value}
      onBlur={(event) => event.target.value !== value && onChange(event.target.value.trim())}
      onKeyDown={(event) => event.key === 'Enter' && onChange(event.currentTarget.value.trim())}
    />
  )
}

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
      A subtask is one unit of background work. Start the first one, and it appears here at once.
    </Empty>
  )
}
