import { MusterError, type Task } from '@muster/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Button } from '../../design/button.tsx'
import { Editor } from '../../design/editor.tsx'
import { Form } from '../../design/form.tsx'
import { Panel } from '../../design/panel.tsx'
import { toasts } from '../../design/toasts.tsx'
import { useDraft } from '../../design/use-draft.ts'
import { muster } from '../../muster.ts'
import { type BriefDraft, changesOf, differing, draftOf, type StoredDraft, wholeOf } from './brief-draft.ts'
import { BriefWarnings } from './brief-warnings.tsx'
import { taskQuery } from './queries.ts'
import { Revisions } from './revisions.tsx'

/** Changes a brief. If another change comes first, it is shown, nothing that was typed is lost, and a person decides whether to go on. */
export function EditTask({ task, onClose }: { task: Task; onClose: () => void }) {
  const client = useQueryClient()
  const [stored, setStored] = useDraft(`brief-${task.id}`)
  const { base, fields }: StoredDraft = stored === '' ? { base: task.revision, fields: {} } : JSON.parse(stored)
  const current = draftOf(task)
  const draft: BriefDraft = { ...current, ...fields }
  const change = (part: Partial<BriefDraft>) => {
    const next = differing(current, { ...fields, ...part })
    setStored(Object.keys(next).length === 0 ? '' : JSON.stringify({ base, fields: next } satisfies StoredDraft))
  }
  const close = () => {
    setStored('')
    onClose()
  }
  const saving = useMutation({
    mutationFn: async () => await muster.tasks.revise(task.id, base, changesOf(task, draft)),
    onSuccess: ({ task: revised }) => {
      client.setQueryData(taskQuery(task.id).queryKey, revised)
      toasts.add({ title: `Revision ${revised.revision} is stored. The assignee receives the change once.` })
      close()
    },
    onError: (error) => {
      if (MusterError.is(error, 'revision_stale')) void client.invalidateQueries(taskQuery(task.id))
    },
  })
  // While it is saved, the newer revision may be its own.
  const isStale = base < task.revision && !saving.isPending
  const goOn = () => {
    setStored(JSON.stringify({ base: task.revision, fields } satisfies StoredDraft))
    saving.reset()
  }
  return (
    <Panel title={`Edit revision ${base}`}>
      <Form
        submit="Save as a new revision"
        onSubmit={() => saving.mutate()}
        isPending={saving.isPending}
        isReady={!isStale}
        error={isStale ? null : saving.error instanceof SyntaxError ? 'The required outputs are no JSON: see the mark in their field.' : saving.error}
        before={isStale && <Button onClick={goOn}>Go on with revision {task.revision}</Button>}
        after={<Button onClick={close}>Discard</Button>}
      >
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
        {isStale && (
          <>
            <p className="problem" role="alert">
              The brief has changed since. Nothing that you typed is lost: fields that you changed replace those of revision {task.revision}, if you go on.
            </p>
            <Revisions id={task.id} after={base} />
          </>
        )}
      </Form>
    </Panel>
  )
}
