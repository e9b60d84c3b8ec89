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
import { updatesQuery } from './queries.ts'

const ENDED = new Set(['completed', 'failed', 'cancelled'])

/** What was said to the run, each with its receipt, and a box to say more. */
export function Updates({ subtask }: { subtask: Subtask }) {
  const query = useQuery(updatesQuery(subtask.id))
  return (
    <Panel title="Updates" count={query.data?.length} isFlush>
      {!ENDED.has(subtask.status) && <SteerForm subtask={subtask} />}
      <Loaded query={query}>
        {(updates) =>
          updates.length === 0 ? (
            <p className="empty">Nothing has been sent to this run.</p>
          ) : (
            <ul className="list">
              {updates.map((update) => (
                <li key={update.id}>
                  <Badge status={update.status} />
                  <span className="grow">{update.content}</span>
                  <span className="meta">{update.sender.id}</span>
                  <Time at={update.acknowledged_at ?? update.delivered_at ?? update.created_at} />
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
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
    if (text.trim() !== '') steering.mutate()
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
