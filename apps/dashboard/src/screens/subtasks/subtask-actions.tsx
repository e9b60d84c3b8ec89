import type { BodyOf, Subtask } from '@muster/client'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Badge } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { Popup } from '../../design/popup.tsx'
import { showError } from '../../design/toasts.tsx'
import { useDraft } from '../../design/use-draft.ts'
import { muster } from '../../muster.ts'
import { runnersQuery } from '../workers/queries.ts'
import { subtaskQuery } from './queries.ts'
import { firstLine } from './subtask-row.tsx'

/** What a person may do with a subtask in its state. */
export function SubtaskActions({ subtask, isEnded }: { subtask: Subtask; isEnded: boolean }) {
  if (!isEnded) return subtask.cancel_requested_at === null ? <Cancel subtask={subtask} /> : <Badge status="cancel requested" tone="amber" />
  return (
    <>
      {subtask.subagent !== null && <Resume id={subtask.id} runner={subtask.runner} subagent={subtask.subagent.name} />}
      <Retry subtask={subtask} />
    </>
  )
}

function Cancel({ subtask }: { subtask: Subtask }) {
  const client = useQueryClient()
  const cancelling = useMutation({
    mutationFn: () => muster.subtasks.cancel(subtask.id),
    onSuccess: (cancelled) => client.setQueryData(subtaskQuery(subtask.id).queryKey, cancelled),
    onError: showError,
  })
  return (
    <Button kind="danger" disabled={cancelling.isPending} onClick={() => cancelling.mutate()}>
      Cancel
    </Button>
  )
}

function Retry({ subtask }: { subtask: Subtask }) {
  const navigate = useNavigate()
  const retrying = useMutation({
    mutationFn: async () => await muster.subtasks.spawn(asNew(subtask)),
    onSuccess: ({ id }) => navigate({ to: '/subtasks/$id', params: { id } }),
    onError: showError,
  })
  return (
    <Button disabled={retrying.isPending} onClick={() => retrying.mutate()}>
      Retry as new
    </Button>
  )
}

/** The same work once more, with the same limits. It is told nothing of the run before. */
function asNew(subtask: Subtask): BodyOf<'createSubtask'> {
  const { task, agent_id, runner, priority, timeout_seconds, parent_session_id, task_id, model, max_attempts, budget, metadata, required_outputs } = subtask
  return {
    task,
    agent_id,
    runner,
    priority,
    timeout_seconds,
    parent_session_id,
    task_id,
    model,
    max_attempts,
    budget,
    metadata,
    required_outputs,
    subagent: subtask.subagent?.name ?? null,
  }
}

/** Another run of the sub-agent, which is told what this one did and how it ended: by the same runner, or by that of its definition where there is none any more. */
function Resume({ id, runner: before, subagent }: { id: string; runner: string; subagent: string }) {
  const { data: runners } = useQuery(runnersQuery)
  const isGone = runners !== undefined && !runners.items.some(({ name }) => name === before)
  const navigate = useNavigate()
  const [prompt, setPrompt] = useDraft(`resume-${id}`)
  const resuming = useMutation({
    mutationFn: () =>
      muster.subagents.spawn(subagent, {
        prompt,
        description: firstLine(prompt).slice(0, 200),
        resume: id,
        ...(isGone ? {} : { runner: before }),
        wait_seconds: 0,
      }),
    onSuccess: ({ subtask_id }) => {
      setPrompt('')
      void navigate({ to: '/subtasks/$id', params: { id: subtask_id } })
    },
    onError: showError,
  })
  return (
    <Popup trigger="Resume" kind="primary" title={`Go on from this run of ${subagent}`} onSubmit={() => resuming.mutate()}>
      <div className="field">
        <label htmlFor="resume-prompt">What to do now</label>
        <textarea id="resume-prompt" className="input" rows={5} value={prompt} onChange={(event) => setPrompt(event.target.value)} required />
        <p className="hint">
          A new subtask begins with the steps and the result of this one.
          {isGone && ` The runner ${before} does not exist any more: the one for this sub-agent is taken.`}
        </p>
      </div>
    </Popup>
  )
}
