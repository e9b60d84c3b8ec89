import { Tabs } from '@base-ui/react/tabs'
import type { Subtask } from '@muster/client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { Badge } from '../../design/badge.tsx'
import { JsonBlock } from '../../design/json-block.tsx'
import { Loaded } from '../../design/loaded.tsx'
import { Markdown } from '../../design/markdown.tsx'
import { Page, Panel } from '../../design/panel.tsx'
import { EvaluationPanel } from '../evaluations/evaluation-panel.tsx'
import { OpenQuestions } from '../questions/open-questions.tsx'
import { AboutSubtask } from './about-subtask.tsx'
import { type SubtaskTab, TABS } from './address.ts'
import { Prompts } from './prompts.tsx'
import { evaluationsQuery, subtaskQuery, transcriptQuery } from './queries.ts'
import { SubtaskActions } from './subtask-actions.tsx'
import { firstLine } from './subtask-row.tsx'
import { Timeline } from './timeline.tsx'
import { Transcript } from './transcript.tsx'
import { SteerPanel, Updates } from './updates.tsx'

const route = getRouteApi('/subtasks/$id')
const ENDED = new Set(['completed', 'failed', 'cancelled'])
const LABELS: Record<SubtaskTab, string> = { transcript: 'Transcript', timeline: 'Timeline', brief: 'Brief', evaluation: 'Evaluation', updates: 'Updates' }

/** One subtask: what it does now, what it was told, what came of it. */
export function SubtaskScreen() {
  const { id } = route.useParams()
  const { tab = 'transcript' } = route.useSearch()
  const query = useQuery(subtaskQuery(id))
  // Read beside the subtask, and not after it.
  useQuery({ ...transcriptQuery(useQueryClient(), id), enabled: tab === 'transcript', notifyOnChangeProps: [] })
  return <Loaded query={query}>{(subtask) => <Details subtask={subtask} />}</Loaded>
}

function Details({ subtask }: { subtask: Subtask }) {
  const { tab, step } = route.useSearch()
  const navigate = useNavigate()
  const isEnded = ENDED.has(subtask.status)
  const open = (next: SubtaskTab) => void navigate({ to: '/subtasks/$id', params: { id: subtask.id }, search: { tab: next }, replace: true })
  return (
    <Page
      title={
        <span className="row">
          <Badge status={subtask.status} />
          {firstLine(subtask.task)}
        </span>
      }
      actions={<SubtaskActions subtask={subtask} isEnded={isEnded} />}
    >
      <div className="columns">
        <div className="stack">
          <OpenQuestions subtaskId={subtask.id} />
          {isEnded && <Output subtask={subtask} />}
          {!isEnded && <SteerPanel subtask={subtask} />}
          <Tabs.Root value={tab ?? 'transcript'} onValueChange={(next) => open(next as SubtaskTab)}>
            <Tabs.List className="tabs">
              {TABS.map((each) => (
                <Tabs.Tab key={each} value={each}>
                  {LABELS[each]}
                </Tabs.Tab>
              ))}
            </Tabs.List>
            <Tabs.Panel value="transcript">
              <Transcript id={subtask.id} isLive={subtask.status === 'running'} step={step} />
            </Tabs.Panel>
            <Tabs.Panel value="timeline">
              <Timeline subtask={subtask} isEnded={isEnded} />
            </Tabs.Panel>
            <Tabs.Panel value="brief">
              <div className="stack">
                <Given subtask={subtask} />
                <Prompts subtask={subtask} />
              </div>
            </Tabs.Panel>
            <Tabs.Panel value="evaluation">
              <Evaluations id={subtask.id} />
            </Tabs.Panel>
            <Tabs.Panel value="updates">
              <Updates id={subtask.id} />
            </Tabs.Panel>
          </Tabs.Root>
        </div>
        <AboutSubtask subtask={subtask} />
      </div>
    </Page>
  )
}

/** What the run was given: the text of the subtask, and what it has to deliver. */
function Given({ subtask }: { subtask: Subtask }) {
  return (
    <Panel title="What the run was given">
      <Markdown text={subtask.task} />
      {subtask.required_outputs.length > 0 && <JsonBlock value={subtask.required_outputs} label="Required outputs" />}
    </Panel>
  )
}

function Output({ subtask }: { subtask: Subtask }) {
  const outputs = Object.keys(subtask.outputs ?? {}).length === 0 ? null : subtask.outputs
  if (subtask.result === null && subtask.error === null && outputs === null) return null
  return (
    <Panel title="Output" actions={subtask.result_truncated && <span className="hint">cut to 1 MiB</span>}>
      <div className="stack">
        {subtask.error !== null && (
          <p className="problem" role="status">
            {subtask.error}
          </p>
        )}
        {subtask.result !== null && <Markdown text={subtask.result} />}
        {outputs !== null && <JsonBlock value={outputs} label="Outputs" />}
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
