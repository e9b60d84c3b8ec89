import { Tabs } from '@base-ui/react/tabs'
import type { Subtask } from '@muster/client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { Badge } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { JsonBlock } from '../../design/json-block.tsx'
import { Loaded } from '../../design/loaded.tsx'
import { Markdown } from '../../design/markdown.tsx'
import { Facts, Page, Panel } from '../../design/panel.tsx'
import { duration, Elapsed, Time } from '../../design/time.tsx'
import { showError } from '../../design/toasts.tsx'
import { muster } from '../../muster.ts'
import { EvaluationPanel } from '../evaluations/evaluation-panel.tsx'
import { OpenQuestions } from '../questions/open-questions.tsx'
import { evaluationsQuery, subtaskQuery } from './queries.ts'
import { firstLine } from './subtask-row.tsx'
import { Timeline } from './timeline.tsx'
import { Transcript } from './transcript.tsx'
import { Updates } from './updates.tsx'

const route = getRouteApi('/subtasks/$id')
const ENDED = new Set(['completed', 'failed', 'cancelled'])

/** One subtask: what it does now, what it was told, what came of it. */
export function SubtaskScreen() {
  const { id } = route.useParams()
  const query = useQuery(subtaskQuery(id))
  return <Loaded query={query}>{(subtask) => <Details subtask={subtask} />}</Loaded>
}

function Details({ subtask }: { subtask: Subtask }) {
  const isEnded = ENDED.has(subtask.status)
  return (
    <Page
      title={
        <span className="row">
          <Badge status={subtask.status} />
          {firstLine(subtask.task)}
        </span>
      }
      actions={<Actions subtask={subtask} isEnded={isEnded} />}
    >
      <div className="columns">
        <div className="stack">
          <OpenQuestions subtaskId={subtask.id} />
          {isEnded && <Output subtask={subtask} />}
          {!isEnded && <Updates subtask={subtask} />}
          <Tabs.Root defaultValue="transcript">
            <Tabs.List className="tabs">
              <Tabs.Tab value="transcript">Transcript</Tabs.Tab>
              <Tabs.Tab value="timeline">Timeline</Tabs.Tab>
              <Tabs.Tab value="task">Task</Tabs.Tab>
              <Tabs.Tab value="evaluation">Evaluation</Tabs.Tab>
              {isEnded && <Tabs.Tab value="updates">Updates</Tabs.Tab>}
            </Tabs.List>
            <Tabs.Panel value="transcript">
              <Transcript id={subtask.id} isLive={subtask.status === 'running'} />
            </Tabs.Panel>
            <Tabs.Panel value="timeline">
              <Timeline subtask={subtask} />
            </Tabs.Panel>
            <Tabs.Panel value="task">
              <Panel title="What the run was given">
                <Markdown text={subtask.task} />
                {subtask.required_outputs.length > 0 && <JsonBlock value={subtask.required_outputs} label="Required outputs" />}
              </Panel>
            </Tabs.Panel>
            <Tabs.Panel value="evaluation">
              <Evaluations id={subtask.id} />
            </Tabs.Panel>
            {isEnded && (
              <Tabs.Panel value="updates">
                <Updates subtask={subtask} />
              </Tabs.Panel>
            )}
          </Tabs.Root>
        </div>
        <Side subtask={subtask} />
      </div>
    </Page>
  )
}

function Actions({ subtask, isEnded }: { subtask: Subtask; isEnded: boolean }) {
  const client = useQueryClient()
  const navigate = useNavigate()
  const cancel = async () => {
    try {
      client.setQueryData(subtaskQuery(subtask.id).queryKey, await muster.subtasks.cancel(subtask.id))
    } catch (error) {
      showError(error as Error)
    }
  }
  const runAgain = async () => {
    try {
      const { id } = await muster.subtasks.spawn(asNew(subtask))
      await navigate({ to: '/subtasks/$id', params: { id } })
    } catch (error) {
      showError(error as Error)
    }
  }
  if (isEnded) return <Button onClick={() => void runAgain()}>Run again as new</Button>
  if (subtask.cancel_requested_at !== null) return <Badge status="cancel requested" tone="amber" />
  return (
    <Button kind="danger" onClick={() => void cancel()}>
      Cancel
    </Button>
  )
}

/** The same work once more, under the same agent. */
function asNew(subtask: Subtask) {
  const { task, agent_id, runner, priority, timeout_seconds, parent_session_id, model, max_attempts, budget, metadata, required_outputs } = subtask
  return {
    task,
    agent_id,
    runner,
    priority,
    timeout_seconds,
    max_attempts,
    budget,
    metadata,
    required_outputs,
    ...(parent_session_id === null ? {} : { parent_session_id }),
    ...(model === null ? {} : { model }),
    ...(subtask.subagent === null ? {} : { subagent: subtask.subagent.name }),
  }
}

function Output({ subtask }: { subtask: Subtask }) {
  if (subtask.result === null && subtask.error === null && subtask.outputs === null) return null
  return (
    <Panel title="Output" actions={subtask.result_truncated && <span className="hint">cut to 1 MiB</span>}>
      <div className="stack">
        {subtask.error !== null && (
          <p className="problem" role="status">
            {subtask.error}
          </p>
        )}
        {subtask.result !== null && <Markdown text={subtask.result} />}
        {subtask.outputs !== null && <JsonBlock value={subtask.outputs} label="Outputs" />}
      </div>
    </Panel>
  )
}

function Evaluations({ id }: { id: string }) {
  const query = useQuery(evaluationsQuery(id))
  return (
    <Loaded query={query}>
      {(evaluations) =>
        evaluations.length === 0 ? (
          <p className="empty">Not evaluated: only completed subtasks are.</p>
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

function Side({ subtask }: { subtask: Subtask }) {
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
            Task:
              subtask.task_id === null ? undefined : (
                <Link to="/tasks/$id" params={{ id: subtask.task_id }}>
                  Open it, revision {subtask.task_revision}
                </Link>
              ),
            Attempt: `${subtask.attempt}, ${subtask.failures} of ${subtask.max_attempts} failures`,
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
