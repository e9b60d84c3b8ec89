import type { Task } from '@muster/client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { lazy, Suspense } from 'react'
import { Panel } from '../../design/panel.tsx'
import { dependenciesQuery } from './queries.ts'

const Graph = lazy(() => import('./dependency-graph.tsx'))

/** What a task waits for, and what that waits for, as a graph. Nothing for a task that waits for none. */
export function Dependencies({ task }: { task: Task }) {
  const { data: tasks } = useQuery({ ...dependenciesQuery(useQueryClient(), task), enabled: task.depends_on.length > 0 })
  if (tasks === undefined) return null
  return (
    <Panel title="Depends on" count={task.depends_on.length} isFlush>
      <Suspense fallback={<p className="empty">Loading …</p>}>
        <Graph tasks={tasks} currentId={task.id} />
      </Suspense>
    </Panel>
  )
}
