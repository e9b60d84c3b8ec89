import type { Step } from '@muster/client'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Loaded } from '../../design/loaded.tsx'
import { Panel } from '../../design/panel.tsx'
import { duration, Time } from '../../design/time.tsx'
import { VirtualList } from '../../design/virtual-list.tsx'
import { transcriptQuery } from './queries.ts'

/** Everything the run said and did, live, of any length. */
export function Transcript({ id, isLive }: { id: string; isLive: boolean }) {
  const client = useQueryClient()
  const query = useQuery(transcriptQuery(client, id))
  return (
    <Panel title="Transcript" count={query.data?.steps.length.toLocaleString('en')} isFlush>
      <Loaded query={query}>
        {({ steps }) =>
          steps.length === 0 ? (
            <p className="empty">{isLive ? 'The run has reported no step yet.' : 'No steps were reported.'}</p>
          ) : (
            <VirtualList label="Transcript" items={steps} idOf={({ seq }) => String(seq)} rowPx={72} followsEnd={isLive}>
              {(step) => <StepRow step={step} took={tookMs(step, steps)} />}
            </VirtualList>
          )
        }
      </Loaded>
    </Panel>
  )
}

/** How long a tool took: from its call to its result, which names the call. */
function tookMs(step: Step, steps: readonly Step[]): number | undefined {
  if (step.kind !== 'tool_result') return undefined
  const { id } = step.content as { id?: unknown }
  if (id === undefined) return undefined
  // A result follows its call closely.
  const from = steps.findIndex(({ seq }) => seq === step.seq)
  for (let index = from - 1; index >= Math.max(0, from - 50); index -= 1) {
    const call = steps[index]
    if (call?.kind === 'tool_call' && (call.content as { id?: unknown }).id === id) return new Date(step.at).getTime() - new Date(call.at).getTime()
  }
  return undefined
}

const KINDS: Record<Step['kind'], string> = { message: 'Message', tool_call: 'Tool call', tool_result: 'Result', update: 'Update', error: 'Error' }

function StepRow({ step, took }: { step: Step; took: number | undefined }) {
  return (
    <article className="step" id={`step-${step.seq}`} aria-label={`${KINDS[step.kind]} ${step.seq}`}>
      <div className="step-side">
        <a href={`#step-${step.seq}`}>
          {KINDS[step.kind]} {step.seq}
        </a>
        <Time at={step.at} />
        {took !== undefined && <span>{duration(took)}</span>}
        {step.attempt > 1 && <span>attempt {step.attempt}</span>}
      </div>
      <pre className={step.kind === 'error' ? 'problem' : undefined}>{textOf(step)}</pre>
    </article>
  )
}

const SHOWN_MAX = 8_000

function textOf({ kind, content }: Step): string {
  const text = readable(kind, content)
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}\n… ${(text.length - SHOWN_MAX).toLocaleString('en')} more characters` : text
}

function readable(kind: Step['kind'], content: unknown): string {
  if (typeof content === 'string') return content
  const { name, input, output, text } = (content ?? {}) as Record<string, unknown>
  if (kind === 'tool_call' && typeof name === 'string') return `${name}  ${JSON.stringify(input ?? content, null, 2)}`
  if (kind === 'tool_result' && output !== undefined) return typeof output === 'string' ? output : JSON.stringify(output, null, 2)
  if (typeof text === 'string') return text
  return JSON.stringify(content, null, 2)
}
