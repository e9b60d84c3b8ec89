import type { Subtask } from '@muster/client'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Badge } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { Loaded } from '../../design/loaded.tsx'
import { Panel } from '../../design/panel.tsx'
import { Time } from '../../design/time.tsx'
import { useDraft } from '../../design/use-draft.ts'
import { muster } from '../../muster.ts'
import { ReceiptTable } from '../updates/receipt-table.tsx'
import { updatesQuery } from './queries.ts'

/** Every update of the run with its receipt: when it was sent, which attempt received it, and when it said so. */
export function Updates({ id }: { id: string }) {
  const query = useQuery(updatesQuery(id))
  return (
    <Panel title="Updates" count={query.data?.length} isFlush>
      <Loaded query={query}>
        {(updates) => (updates.length === 0 ? <p className="empty">Nothing has been sent to this run.</p> : <ReceiptTable updates={updates} />)}
      </Loaded>
    </Panel>
  )
}

/** A box to say something to the run, and what was said last. */
export function SteerPanel({ subtask }: { subtask: Subtask }) {
  const { data: updates } = useQuery(updatesQuery(subtask.id))
  const last = updates?.at(-1)
  return (
    <Panel title="Steer" isFlush>
      <SteerForm subtask={subtask} />
      {last !== undefined && (
        <ul className="list">
          <li>
            <Badge status={last.status} />
            <span className="grow">{last.content}</span>
            <Time at={last.acknowledged_at ?? last.delivered_at ?? last.created_at} />
          </li>
        </ul>
      )}
    </Panel>
  )
}

function SteerForm({ subtask }: { subtask: Subtask }) {
  const client = useQueryClient()
  const [text, setText] = useDraft(`steer-${subtask.id}`)
  const [interrupts, setInterrupts] = useState(false)
  const steering = useMutation({
    mutationFn: () => muster.subtasks.steer(subtask.id, { content: text, delivery: interrupts ? 'interrupt' : 'next_step' }),
    onSuccess: () => {
      setText('')
      void client.invalidateQueries(updatesQuery(subtask.id))
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (text.trim() !== '' && !steering.isPending) steering.mutate()
  }
  return (
    <form className="panel-body stack" style={{ gap: 'var(--space-2)' }} onSubmit={submit}>
      <label className="visually-hidden" htmlFor="steer">
        Say something to this run
      </label>
      <textarea
        id="steer"
        className="input"
        placeholder="Say something to this run"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => (event.metaKey || event.ctrlKey) && event.key === 'Enter' && submit(event)}
      />
      {steering.error !== null && (
        <p className="problem" role="alert">
          {steering.error.message}
        </p>
      )}
      <div className="row">
        <label className="row hint">
          <input type="checkbox" checked={interrupts} onChange={(event) => setInterrupts(event.target.checked)} />
          Interrupt what it does now
        </label>
        <span className="grow" />
        <Button kind="primary" type="submit" disabled={steering.isPending || text.trim() === ''}>
          Send
        </Button>
      </div>
    </form>
  )
}
