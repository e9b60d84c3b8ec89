import { MusterError, type Task } from '@muster/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { Button } from '../../design/button.tsx'
import { Editor } from '../../design/editor.tsx'
import { Panel } from '../../design/panel.tsx'
import { toasts } from '../../design/toasts.tsx'
import { useDraft } from '../../design/use-draft.ts'
import { muster } from '../../muster.ts'
import { type BriefDraft, changesOf, draftOf, wholeOf } from './brief-draft.ts'
import { BriefWarnings } from './brief-warnings.tsx'
import { taskQuery } from './queries.ts'

/** Changes a brief. The server refuses it if another change came first; then nothing that was typed is lost. */
export function EditTask({ task, onClose }: { task: Task; onClose: () => void }) {
  const client = useQueryClient()
  const [stored, setStored] = useDraft(`edit-${task.id}`)
  const draft: BriefDraft = stored === '' ? draftOf(task) : { ...draftOf(task), ...(JSON.parse(stored) as Partial<BriefDraft>) }
  const change = (part: Partial<BriefDraft>) => setStored(JSON.stringify({ ...draft, ...part }))
  const close = () => {
    setStored('')
    onClose()
  }
  const saving = useMutation({
    mutationFn: async () => await muster.tasks.revise(task.id, task.revision, changesOf(task, draft)),
    onSuccess: ({ task: revised }) => {
      client.setQueryData(taskQuery(task.id).queryKey, revised)
      toasts.add({ title: `Revision ${revised.revision} is stored. The assignee receives the change once.` })
      close()
    },
    onError: (error) => {
      if (MusterError.is(error, 'revision_stale')) void client.invalidateQueries(taskQuery(task.id))
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    saving.mutate()
  }
  return (
    <Panel title={`Edit revision ${task.revision}`}>
      <form className="stack" onSubmit={submit}>
        <div className="field">
          <label htmlFor="edit-title">Title</label>
          <input id="edit-title" className="input" value={draft.title} onChange={(event) => change({ title: event.target.value })} maxLength={256} required />
        </div>
        <Editor label="Instructions" language="markdown" value={draft.instructions} onChange={(instructions) => change({ instructions })} />
        <div className="field">
          <label htmlFor="criteria">Acceptance criteria, one a line</label>
          <textarea id="criteria" className="input" rows={6} value={draft.criteria} onChange={(event) => change({ criteria: event.target.value })} />
        </div>
        <Editor label="Required outputs, as JSON" language="json" value={draft.outputs} onChange={(outputs) => change({ outputs })} />
        <Editor label="Background" language="markdown" value={draft.background} onChange={(background) => change({ background })} />
        <BriefWarnings brief={wholeOf(draft)} />
        {saving.error !== null && (
          <p className="problem" role="alert">
            {saving.error instanceof SyntaxError ? 'The required outputs are no JSON: see the mark in their field.' : saving.error.message}{' '}
            {MusterError.is(saving.error, 'revision_stale') && 'Compare with the current brief, and save again.'}
          </p>
        )}
        <div className="row">
          <Button kind="primary" type="submit" disabled={saving.isPending}>
            Save as a new revision
          </Button>
          <Button onClick={close}>Discard</Button>
        </div>
      </form>
    </Panel>
  )
}
