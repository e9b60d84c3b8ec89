import type { Subtask } from '@muster/client'
import { Link } from '@tanstack/react-router'
import { Facts, Panel } from '../../design/panel.tsx'
import { duration, Elapsed, Time } from '../../design/time.tsx'

/** Where a subtask comes from, what it may use, and what it has used. */
export function AboutSubtask({ subtask }: { subtask: Subtask }) {
  const { usage } = subtask
  return (
    <aside className="stack" aria-label="About this subtask">
      <Panel title="About">
        <Facts
          of={{
            Outcome: subtask.final_outcome?.replaceAll('_', ' '),
            Agent: (
              <Link to="/subtasks" search={{ agent_id: subtask.agent_id }}>
                {subtask.agent_id}
              </Link>
            ),
            Runner: subtask.runner,
            Model: subtask.model ?? undefined,
            'Sub-agent': subtask.subagent === null ? undefined : `${subtask.subagent.name} v${subtask.subagent.version}`,
            'Parent session': subtask.parent_session_id ?? undefined,
            Continues: subtask.resume_of === null ? undefined : <SubtaskLink id={subtask.resume_of} />,
            Revises: subtask.revision_of === null ? undefined : <SubtaskLink id={subtask.revision_of} />,
            Task:
              subtask.task_id === null ? undefined : (
                <Link to="/tasks/$id" params={{ id: subtask.task_id }}>
                  {subtask.task_revision === null ? 'Open it' : `Open it, revision ${subtask.task_revision}`}
                </Link>
              ),
            Attempt: `${subtask.attempt}, ${subtask.failures} of ${subtask.max_attempts} failures`,
            Deliveries: (
              <Link to="/deliveries" search={{ subject: subtask.id }}>
                of its events
              </Link>
            ),
            Created: <Time at={subtask.created_at} />,
            Took: <Elapsed from={subtask.started_at} until={subtask.completed_at} />,
            Waited: subtask.waited_ms > 0 ? duration(subtask.waited_ms) : undefined,
            Worker: subtask.worker_id ?? undefined,
            Id: <code>{subtask.id}</code>,
          }}
        />
      </Panel>
      <Panel title="Usage">
        <Facts
          of={{
            Steps: usage.steps,
            'Tool calls': usage.tool_calls,
            'Input tokens': usage.input_tokens.toLocaleString('en'),
            'Output tokens': usage.output_tokens.toLocaleString('en'),
            Cost: usage.cost_usd > 0 ? `$${usage.cost_usd.toFixed(4)}` : 'none reported',
          }}
        />
      </Panel>
    </aside>
  )
}

function SubtaskLink({ id }: { id: string }) {
  return (
    <Link to="/subtasks/$id" params={{ id }}>
      subtask {id.slice(-6)}
    </Link>
  )
}
