import type { Subtask } from '@muster/client'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Badge } from '../../design/badge.tsx'
import { Elapsed, Time } from '../../design/time.tsx'
import { subtaskQuery } from './queries.ts'

/** One subtask in a list. It reads itself again when an event names it. A brief one stands below the name of its status. */
export function SubtaskRow({ subtask: listed, select, isBrief = false }: { subtask: Subtask; select?: ReactNode; isBrief?: boolean }) {
  const { data } = useQuery({ ...subtaskQuery(listed.id), initialData: listed, initialDataUpdatedAt: 0, staleTime: Number.POSITIVE_INFINITY })
  // The list may have been read after the row.
  const subtask = isNewer(listed, data) ? listed : data
  return (
    <div className="list-row">
      {select}
      {!isBrief && <Badge status={subtask.status} />}
      <Link className="title" to="/subtasks/$id" params={{ id: subtask.id }}>
        {firstLine(subtask.task)}
      </Link>
      {!isBrief && <span className="meta wide-only">{subtask.agent_id}</span>}
      {!isBrief && <span className="meta wide-only">{subtask.runner}</span>}
      {!isBrief && subtask.evaluation !== null && <Score score={subtask.evaluation.score} />}
      <span className={isBrief ? undefined : 'wide-only'}>
        <Elapsed from={subtask.started_at} until={subtask.completed_at} />
      </span>
      <Time at={subtask.created_at} />
    </div>
  )
}

const RANK = { pending: 0, waiting: 1, running: 1, completed: 2, failed: 2, cancelled: 2 }

function isNewer(a: Subtask, b: Subtask): boolean {
  return a.attempt > b.attempt || (a.attempt === b.attempt && RANK[a.status] > RANK[b.status])
}

function Score({ score }: { score: number | null }) {
  return (
    <span className="meta wide-only" title="Score of its evaluation">
      {score === null ? '–' : score.toFixed(2)}
    </span>
  )
}

export function firstLine(text: string): string {
  return text.split('\n', 1)[0]?.slice(0, 300) ?? ''
}
