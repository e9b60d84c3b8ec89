import type { Subtask } from '@muster/client'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Badge } from '../../design/badge.tsx'
import { Form } from '../../design/form.tsx'
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
  return (
    <div className="panel-body">
      <Form
        submit="Send"
        onSubmit={() => steering.mutate()}
        isPending={steering.isPending}
        isReady={text.trim() !== ''}
        error={steering.error}
        isTight
        before={
          <label className="row hint grow">
            <input type="checkbox" checked={interrupts} onChange={(event) => setInterrupts(event.target.checked)} />
            Interrupt what it does now
          </label>
        }
      >
        <label className="visually-hidden" htmlFor="steer">
          Say something to this run
        </label>
        <textarea id="steer" className="input" placeholder="Say something to this run" value={text} onChange={(event) => setText(event.target.value)} />
      </Form>
    </div>
  )
}
