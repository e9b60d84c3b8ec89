import type { TaskSummary } from '@muster/client'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useCallback } from 'react'
import { Badge } from '../../design/badge.tsx'
import { curlLine, Empty } from '../../design/empty.tsx'
import { Loaded } from '../../design/loaded.tsx'
import { Page, Panel } from '../../design/panel.tsx'
import { TextFilter } from '../../design/text-filter.tsx'
import { Time } from '../../design/time.tsx'
import { VirtualList } from '../../design/virtual-list.tsx'
import { useGrowingList } from '../../live/growing-list.ts'
import { keys } from '../../live/refresh.ts'
import { muster } from '../../muster.ts'
import { TASK_STATUSES, type TaskFilters } from './filters.ts'

const route = getRouteApi('/tasks')
const idOf = ({ id }: TaskSummary) => id

/** All tasks, newest first, with filters in the address. */
export function Tasks() {
  const filters = route.useSearch()
  const list = useCallback(() => muster.tasks.list({ ...filters, limit: 200 }), [filters])
  const tasks = useGrowingList(keys.list('task', filters), list, idOf)
  return (
    <Page
      title="Tasks"
      actions={
        <Link className="button" data-kind="primary" to="/tasks/new">
          New task
        </Link>
      }
    >
      <div className="stack">
        <Filters filters={filters} />
        <Panel title="Newest first" count={`${tasks.items.length}${tasks.hasMore ? '+' : ''}`} isFlush>
          <Loaded query={tasks.query}>
            {() =>
              tasks.items.length === 0 ? (
                <NoTasks isFiltered={Object.keys(filters).length > 0} />
              ) : (
                <VirtualList label="Tasks" items={tasks.items} idOf={idOf} onEnd={tasks.loadMore}>
                  {(task) => <TaskRow task={task} />}
                </VirtualList>
              )
            }
          </Loaded>
        </Panel>
      </div>
    </Page>
  )
}

function TaskRow({ task }: { task: TaskSummary }) {
  return (
    <div className="list-row">
      <Badge status={task.status} />
      <Link className="title" to="/tasks/$id" params={{ id: task.id }}>
        {task.title}
      </Link>
      <span className="meta">{task.priority}</span>
      <span className="meta wide-only">{task.subagent_session_id ?? ''}</span>
      <Time at={task.updated_at} />
    </div>
  )
}

function Filters({ filters }: { filters: TaskFilters }) {
  const navigate = useNavigate()
  const change = (name: keyof TaskFilters, value: string) => {
    const { [name]: _, ...rest } = filters
    void navigate({ to: '/tasks', search: value === '' ? rest : ({ ...rest, [name]: value } as TaskFilters), replace: true })
  }
  return (
    <div className="row">
      <select className="input" aria-label="Status" value={filters.status ?? ''} onChange={(event) => change('status', event.target.value)}>
        <option value="">Every status</option>
        {TASK_STATUSES.map((status) => (
          <option key={status} value={status}>
            {status.replaceAll('_', ' ')}
          </option>
        ))}
      </select>
      <TextFilter
        className="grow"
        label="Words"
        placeholder="Words of the title or the instructions"
        value={filters.q ?? ''}
        onChange={(value) => change('q', value)}
      />
    </div>
  )
}

function NoTasks({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) return <Empty>No task fits these filters.</Empty>
  const brief = { title: 'Add login', instructions: 'Add a login form.', acceptance_criteria: ['All tests pass'], required_outputs: ['summary'] }
  return (
    <Empty curl={curlLine('/tasks', brief)} sdk={`const task = await muster.tasks.create(${JSON.stringify(brief)})\nawait muster.tasks.dispatch(task.id)`}>
      A task is a brief with acceptance criteria and required outputs. It keeps its revisions, and each change reaches its assignee once.
    </Empty>
  )
}
