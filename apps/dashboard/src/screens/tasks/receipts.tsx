import type { Task } from '@muster/client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Form } from '../../design/form.tsx'
import { Loaded } from '../../design/loaded.tsx'
import { Panel } from '../../design/panel.tsx'
import { useDraft } from '../../design/use-draft.ts'
import { muster } from '../../muster.ts'
import { ReceiptTable } from '../updates/receipt-table.tsx'
import { taskUpdatesQuery } from './queries.ts'

/** Every change and note, with the state of its delivery: what the assignee has seen, and when. */
export function Receipts({ task, isEnded }: { task: Task; isEnded: boolean }) {
  const query = useQuery(taskUpdatesQuery(task.id))
  return (
    <Panel title="Updates" count={query.data?.length} isFlush>
      {!isEnded && <NoteForm task={task} />}
      <Loaded query={query}>
        {(updates) => (updates.length === 0 ? <p className="empty">The brief has not changed since it was assigned.</p> : <ReceiptTable updates={updates} />)}
      </Loaded>
    </Panel>
  )
}

function NoteForm({ task }: { task: Task }) {
  const [text, setText] = useDraft(`note-${task.id}`)
  const sending = useMutation({ mutationFn: () => muster.tasks.note(task.id, text), onSuccess: () => setText('') })
  return (
    <div className="panel-body">
      <Form
        submit="Send note"
        kind="normal"
        onSubmit={() => sending.mutate()}
        isPending={sending.isPending}
        isReady={text.trim() !== ''}
        error={sending.error}
        isTight
      >
        <textarea
          className="input"
          aria-label="A note for the assignee"
          placeholder="A note for the assignee"
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
      </Form>
    </div>
  )
}
