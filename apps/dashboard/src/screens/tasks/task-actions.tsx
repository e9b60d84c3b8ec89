import type { Task } from '@muster/client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { CodeBlock } from '../../design/code-block.tsx'
import { Popup } from '../../design/popup.tsx'
import { showError, toasts } from '../../design/toasts.tsx'
import { muster } from '../../muster.ts'

/** What a person may do with a task in its state. */
export function TaskActions({ task, isEnded }: { task: Task; isEnded: boolean }) {
  if (isEnded) return null
  const isOpen = task.status === 'pending'
  return (
    <>
      {task.status === 'in_review' && <Review task={task} />}
      {isOpen && <Dispatch task={task} />}
      {(isOpen || task.status === 'assigned' || task.status === 'in_progress') && <Assign task={task} />}
      <Cancel task={task} />
    </>
  )
}

function Dispatch({ task }: { task: Task }) {
  const navigate = useNavigate()
  const [runner, setRunner] = useState('')
  const [rounds, setRounds] = useState(0)
  const runners = useQuery({ queryKey: ['runners'], queryFn: () => muster.server.runners() })
  const dispatching = useMutation({
    mutationFn: () => muster.tasks.dispatch(task.id, { max_revisions: rounds, ...(runner === '' ? {} : { runner }) }),
    onSuccess: ({ id }) => navigate({ to: '/subtasks/$id', params: { id } }),
    onError: showError,
  })
  return (
    <Popup trigger="Dispatch" kind="primary" title="Run this task as a subtask" onSubmit={() => dispatching.mutate()}>
      <div className="field">
        <label htmlFor="runner">Runner</label>
        <select id="runner" className="input" value={runner} onChange={(event) => setRunner(event.target.value)}>
          <option value="">The default</option>
          {runners.data?.items.map(({ name, available }) => (
            <option key={name} disabled={!available}>
              {name}
            </option>
          ))}
        </select>
      </div>
      <div className="field">
        <label htmlFor="rounds">Revision rounds</label>
        <input id="rounds" className="input" type="number" min={0} max={10} value={rounds} onChange={(event) => setRounds(event.target.valueAsNumber || 0)} />
        <p className="hint">So often a result that is evaluated as poor is sent back with the points to revise.</p>
      </div>
    </Popup>
  )
}

function Assign({ task }: { task: Task }) {
  const [session, setSession] = useState('')
  const [credential, setCredential] = useState<string | null>(null)
  const assigning = useMutation({
    mutationFn: () => muster.tasks.assign(task.id, { subagent_session_id: session }),
    onSuccess: ({ subagent_credential }) => setCredential(subagent_credential),
    onError: showError,
  })
  return (
    <Popup trigger={task.subagent_session_id === null ? 'Assign' : 'Assign again'} title="Assign to a session" onSubmit={() => assigning.mutate()} staysOpen>
      <div className="field">
        <label htmlFor="assignee">Session</label>
        <input id="assignee" className="input" value={session} onChange={(event) => setSession(event.target.value)} required />
        <p className="hint">Its next request gets the whole brief.</p>
      </div>
      {credential !== null && (
        <div className="stack tight">
          <p>The credential of the assignee, shown once:</p>
          <CodeBlock text={credential} />
        </div>
      )}
    </Popup>
  )
}

function Review({ task }: { task: Task }) {
  const [note, setNote] = useState('')
  const reviewing = useMutation({
    mutationFn: (decision: 'approve' | 'request_revision') => muster.tasks.review(task.id, { decision, ...(note === '' ? {} : { note }) }),
    onSuccess: (_, decision) => toasts.add({ title: decision === 'approve' ? 'Approved.' : 'Sent back.' }),
    onError: showError,
  })
  return (
    <Popup
      trigger="Review"
      kind="primary"
      title="Decide about what was delivered"
      submit="Approve"
      onSubmit={() => reviewing.mutate('approve')}
      other={{ label: 'Request a revision', onChoose: () => reviewing.mutate('request_revision') }}
    >
      <div className="field">
        <label htmlFor="review-note">Note</label>
        <textarea id="review-note" className="input" value={note} onChange={(event) => setNote(event.target.value)} />
      </div>
    </Popup>
  )
}

function Cancel({ task }: { task: Task }) {
  const [reason, setReason] = useState('')
  const cancelling = useMutation({ mutationFn: () => muster.tasks.cancel(task.id, { reason }), onError: showError })
  return (
    <Popup trigger="Cancel" kind="danger" title="Cancel this task" submit="Cancel the task" onSubmit={() => cancelling.mutate()}>
      <div className="field">
        <label htmlFor="cancel-reason">Reason</label>
        <input id="cancel-reason" className="input" value={reason} onChange={(event) => setReason(event.target.value)} required />
      </div>
    </Popup>
  )
}
