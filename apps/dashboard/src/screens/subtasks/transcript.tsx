import type { Step } from '@muster/client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Loaded } from '../../design/loaded.tsx'
import { Panel } from '../../design/panel.tsx'
import { duration, Time } from '../../design/time.tsx'
import { VirtualList } from '../../design/virtual-list.tsx'
import { transcriptQuery } from './queries.ts'
import { STEP_KINDS, textOfStep, tookMs } from './steps.ts'

const idOf = ({ seq }: Step) => seq

/** Height of a step with one line of text. */
const ONE_LINE_PX = 66.5

/** Everything the run said and did, live, of any length. */
export function Transcript({ id, isLive, step: asked }: { id: string; isLive: boolean; step: number | undefined }) {
  const client = useQueryClient()
  const query = useQuery(transcriptQuery(client, id))
  return (
    <Panel title="Transcript" count={query.data?.steps.length.toLocaleString('en')} isFlush>
      <Loaded query={query}>
        {({ steps }) =>
          steps.length === 0 ? (
            <p className="empty">{isLive ? 'The run has reported no step yet.' : 'No steps were reported.'}</p>
          ) : (
            <VirtualList label="Transcript" items={steps} idOf={idOf} rowPx={ONE_LINE_PX} focusOn={asked} followsEnd={isLive}>
              {(step) => <StepRow subtaskId={id} step={step} took={tookMs(step, steps)} isAsked={step.seq === asked} />}
            </VirtualList>
          )
        }
      </Loaded>
    </Panel>
  )
}

interface StepRowProps {
  subtaskId: string
  step: Step
  took: number | undefined
  /** The address names this step. */
  isAsked: boolean
}

function StepRow({ subtaskId, step, took, isAsked }: StepRowProps) {
  return (
    <article className="step" aria-label={`${STEP_KINDS[step.kind]} ${step.seq}`} aria-current={isAsked || undefined}>
      <div className="step-side">
        <Link to="/subtasks/$id" params={{ id: subtaskId }} search={{ tab: 'transcript', step: step.seq }} replace title="Link to this step">
          {STEP_KINDS[step.kind]} {step.seq}
        </Link>
        <Time at={step.at} />
        {took !== undefined && <span>{duration(took)}</span>}
        {step.attempt > 1 && <span>attempt {step.attempt}</span>}
      </div>
      <pre className={step.kind === 'error' ? 'problem' : undefined}>{textOfStep(step)}</pre>
    </article>
  )
}
