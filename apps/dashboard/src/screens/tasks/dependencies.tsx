import type { Task } from '@muster/client'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Badge } from '../../design/badge.tsx'
import { Panel } from '../../design/panel.tsx'
import { taskQuery } from './queries.ts'

/** A longer chain is cut here. */
const LEVELS = 4

/** What a task waits for, and what that waits for, as a tree. */
export function Dependencies({ task }: { task: Task }) {
  if (task.depends_on.length === 0) return null
  return (
    <Panel title="Depends on" count={task.depends_on.length}>
      <Level ids={task.depends_on} level={1} />
    </Panel>
  )
}

function Level({ ids, level }: { ids: string[]; level: number }) {
  return (
    <ul className="tree">
      {ids.map((id) => (
        <Node key={id} id={id} level={level} />
      ))}
    </ul>
  )
}

function Node({ id, level }: { id: string; level: number }) {
  const { data: task } = useQuery(taskQuery(id))
  return (
    <li className="tree-node">
      <span className="row">
        {task !== undefined && <Badge status={task.status} />}
        <Link to="/tasks/$id" params={{ id }}>
          {task?.title ?? id}
        </Link>
      </span>
      {task !== undefined &&
        task.depends_on.length > 0 &&
        (level < LEVELS ? <Level ids={task.depends_on} level={level + 1} /> : <p className="hint">and more</p>)}
    </li>
  )
}
