import { randomUUID } from 'node:crypto'
import { DEFAULT_PROJECT_ID } from '@muster/domain'
import type postgres from 'postgres'
import { copyRows, type Field, uuidAt } from './copy.ts'

export interface PendingSeed {
  count: number
  /** Agents that take turns. */
  agents: number
  runner: string
  /** The queue of that runner. */
  queue: string
  /** Slots of an agent; the shipped limit unless told. */
  permitsPerAgent?: number
  agentPrefix?: string
  /** The default project unless told. */
  projectId?: string
}

const COLUMNS = [
  ...['project_id', 'id', 'agent_id', 'parent_session_id', 'task', 'priority', 'runner', 'timeout_seconds', 'max_attempts'],
  ...['budget_max_steps', 'notify', 'rank_at', 'slot', 'slot_at', 'job_id', 'created_at'],
]

/** Puts pending subtasks there as spawning would have: the first of each agent with a permit and a job, the others waiting. */
export async function seedPending(sql: postgres.Sql, seed: PendingSeed): Promise<void> {
  const capacity = seed.permitsPerAgent ?? 3
  const projectId = seed.projectId ?? DEFAULT_PROJECT_ID
  const startMs = Date.now() - seed.count
  const rows = Array.from({ length: seed.count }, (_, index) => {
    const hasPermit = index < capacity * seed.agents
    return {
      id: uuidAt(startMs + index),
      at: new Date(startMs + index),
      agent: `${seed.agentPrefix ?? 'agent-'}${index % seed.agents}`,
      jobId: hasPermit ? randomUUID() : null,
    }
  })
  // In one transaction: a worker that looked in between would find jobs without rows.
  await sql.begin(async (transaction) => {
    const tx = transaction as unknown as postgres.Sql
    await copyRows(
      tx,
      'public.subtasks',
      COLUMNS,
      rows.map(({ id, at, agent, jobId }): Field[] => [
        ...[projectId, id, agent, `session-${agent}`, 'Do nothing, and say so.', 'normal', seed.runner, 120, 2],
        ...[50, true, at, jobId !== null, jobId === null ? null : at, jobId, at],
      ]),
    )
    // The columns that pg-boss itself takes from the queue.
    await copyRows(
      tx,
      'pgboss.job',
      ['id', 'name', 'priority', 'data', 'retry_limit', 'expire_seconds', 'deletion_seconds', 'policy'],
      rows
        .filter(({ jobId }) => jobId !== null)
        .map(({ id, at, jobId }): Field[] => [
          jobId,
          seed.queue,
          -Math.floor(at.getTime() / 1_000),
          JSON.stringify({ project_id: projectId, id }),
          ...[0, 86_400, 60, 'standard'],
        ]),
    )
  })
}
