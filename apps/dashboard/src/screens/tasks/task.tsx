import { Tabs } from '@base-ui/react/tabs'
import type { Task } from '@muster/client'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Badge } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { JsonBlock } from '../../design/json-block.tsx'
import { Loaded } from '../../design/loaded.tsx'
import { Markdown } from '../../design/markdown.tsx'
import { Facts, Page, Panel } from '../../design/panel.tsx'
import { Time } from '../../design/time.tsx'
import { EvaluationPanel } from '../evaluations/evaluation-panel.tsx'
import { EventTable } from '../events/event-table.tsx'
import { OpenQuestions } from '../questions/open-questions.tsx'
import { SubtaskRow } from '../subtasks/subtask-row.tsx'
import { TASK_TABS } from './address.ts'
import { CheckInMatrix } from './check-in-matrix.tsx'
import { Dependencies } from './dependencies.tsx'
import { EditTask } from './edit-task.tsx'
import { taskChecksQuery, taskEvaluationsQuery, taskEventsQuery, taskQuery, taskSubtasksQuery } from './queries.ts'
import { Receipts } from './receipts.tsx'
import { Revisions } from './revisions.tsx'
import { TaskActions } from './task-actions.tsx'
import { TaskGuides } from './task-guides.tsx'

const route = getRouteApi('/tasks/$id')

/** One task: its brief, who received what, how it was judged, what came of it. */
export function TaskScreen() {
  const { id } = route.useParams()
  const query = useQuery(taskQuery(id))
  return <Loaded query={query}>{(task) => <Details key={task.id} task={task} />}</Loaded>
}

function Details({ task }: { task: Task }) {
  const { tab = 'receipts' } = route.useSearch()
  const navigate = useNavigate()
  const open = (next: keyof typeof TASK_TABS) => void navigate({ to: '/tasks/$id', params: { id: task.id }, search: { tab: next }, replace: true })
  const [isEditing, setEditing] = useState(false)
  const isEnded = task.completed_at !== null || task.status === 'failed' || task.status === 'cancelled'
  const title = (
    <span className="row">
      <Badge status={task.status} />
      {task.title}
    </span>
  )
  return (
    <Page title={title} actions={<TaskActions task={task} isEnded={isEnded} />}>
      <div className="columns">
        <div className="stack">
          <OpenQuestions taskId={task.id} />
          {isEditing ? (
            <EditTask task={task} onClose={() => setEditing(false)} />
          ) : (
            <Panel title={`Brief, revision ${task.revision}`} actions={!isEnded && <Button onClick={() => setEditing(true)}>Edit</Button>}>
              <Brief task={task} />
            </Panel>
          )}
          <Dependencies task={task} />
          {task.completion_outputs !== null && (
            <Panel title="Outputs">
              <div className="stack">
                {task.summary !== null && <Markdown text={task.summary} />}
                <JsonBlock value={task.completion_outputs} label="As delivered" />
              </div>
            </Panel>
          )}
          <Tabs.Root value={tab} onValueChange={open}>
            <Tabs.List className="tabs">
              {Object.entries(TASK_TABS).map(([value, name]) => (
                <Tabs.Tab key={value} value={value}>
                  {name}
                </Tabs.Tab>
              ))}
            </Tabs.List>
            <Tabs.Panel value="receipts">
              <Receipts task={task} isEnded={isEnded} />
            </Tabs.Panel>
            <Tabs.Panel value="revisions">
              <Revisions id={task.id} />
            </Tabs.Panel>
            <Tabs.Panel value="verdicts">
              <Verdicts id={task.id} />
            </Tabs.Panel>
            <Tabs.Panel value="runs">
              <Runs id={task.id} />
            </Tabs.Panel>
            <Tabs.Panel value="check-ins">
              <CheckInMatrix task={task} />
            </Tabs.Panel>
            <Tabs.Panel value="checks">
              <Checks id={task.id} />
            </Tabs.Panel>
            <Tabs.Panel value="history">
              <History id={task.id} />
            </Tabs.Panel>
          </Tabs.Root>
        </div>
        <aside className="stack" aria-label="About this task">
          <Panel title="About">
            <Facts
              of={{
                Priority: task.priority,
                Assignee: task.subagent_session_id ?? 'none',
                'Parent session': task.parent_session_id ?? undefined,
                Review: task.review,
                'Last error': task.last_error ?? undefined,
                Deliveries: (
                  <Link to="/deliveries" search={{ subject: task.id }}>
                    of its events
                  </Link>
                ),
                Created: <Time at={task.created_at} />,
                Changed: <Time at={task.updated_at} />,
                Id: <code>{task.id}</code>,
              }}
            />
          </Panel>
          {task.tsgs.length > 0 && <TaskGuides guides={task.tsgs} />}
          {task.validation.warnings.length > 0 && (
            <Panel title="Warnings" count={task.validation.warnings.length}>
              {task.validation.warnings.map((warning) => (
                <p key={warning.message} className="hint">
                  {warning.field}: {warning.message}
                </p>
              ))}
            </Panel>
          )}
        </aside>
      </div>
    </Page>
  )
}

function Brief({ task }: { task: Task }) {
  return (
    <div className="stack">
      <Markdown text={task.instructions} />
      {task.acceptance_criteria.length > 0 && (
        <ul className="list" aria-label="Criteria">
          {task.acceptance_criteria.map((criterion) => (
            <li key={criterion.id}>
              <Badge status={criterion.state} />
              <span className="grow">
                {criterion.text}
                {!criterion.required && <span className="hint"> (optional)</span>}
              </span>
              {criterion.check !== undefined && <code>{criterion.check}</code>}
            </li>
          ))}
        </ul>
      )}
      {task.required_outputs.length > 0 && <p className="hint">Has to deliver: {task.required_outputs.map(({ name }) => name).join(', ')}</p>}
      {task.task_context !== null && <JsonBlock value={task.task_context} label="Context" />}
    </div>
  )
}

/** Everything that happened: who was told what, and when. */
function History({ id }: { id: string }) {
  return <EventTable query={useQuery(taskEventsQuery(id))} />
}

function Verdicts({ id }: { id: string }) {
  return (
    <Loaded query={useQuery(taskEvaluationsQuery(id))}>
      {(evaluations) =>
        evaluations.length === 0 ? (
          <p className="empty">Nothing has been delivered for this task yet.</p>
        ) : (
          <div className="stack">
            {evaluations.map((evaluation) => (
              <EvaluationPanel key={evaluation.id} evaluation={evaluation} />
            ))}
          </div>
        )
      }
    </Loaded>
  )
}

function Runs({ id }: { id: string }) {
  return (
    <Loaded query={useQuery(taskSubtasksQuery(id))}>
      {({ items }) =>
        items.length === 0 ? (
          <p className="empty">No subtask has worked on this task.</p>
        ) : (
          <ul className="list compact">
            {items.map((subtask) => (
              <li key={subtask.id}>
                <SubtaskRow subtask={subtask} />
              </li>
            ))}
          </ul>
        )
      }
    </Loaded>
  )
}

function Checks({ id }: { id: string }) {
  return (
    <Loaded query={useQuery(taskChecksQuery(id))}>
      {({ items }) =>
        items.length === 0 ? (
          <p className="empty">No criterion of this task names a check that was executed.</p>
        ) : (
          <ul className="list">
            {items.map((check) => (
              <li key={check.id}>
                <Badge status={check.status} tone={check.exit_code === 0 ? 'green' : check.exit_code === null ? 'neutral' : 'red'} />
                <span className="grow">
                  <code>{check.check}</code>
                  {check.output !== null && <pre className="hint">{check.output.slice(-2_000)}</pre>}
                </span>
                <Time at={check.ended_at ?? check.created_at} />
              </li>
            ))}
          </ul>
        )
      }
    </Loaded>
  )
}
