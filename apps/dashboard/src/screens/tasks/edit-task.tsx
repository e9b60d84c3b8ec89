import { type BodyOf, MusterError, type Task } from '@muster/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import type { FormEvent } from 'react'
import { Button } from '../../design/button.tsx'
import { Panel } from '../../design/panel.tsx'
import { toasts } from '../../design/toasts.tsx'
import { useDraft } from '../../design/use-draft.ts'
import { muster } from '../../muster.ts'
import { BriefWarnings } from './brief-warnings.tsx'
import { taskQuery } from './queries.ts'

/** Changes a brief. The server refuses it if another change came first; then nothing that was typed is lost. */
export function EditTask({ task, onClose }: { task: Task; onClose: () => void }) {
  const client = useQueryClient()
  const criteriaNow = task.acceptance_criteria.filter(({ source }) => source === 'acceptance')
  const [draft, setDraft] = useDraft(`edit-${task.id}`)
  const typed = draft === '' ? { instructions: task.instructions, criteria: criteriaNow.map(({ text }) => text).join('\n') } : readDraft(draft)
  const change = (part: Partial<typeof typed>) => setDraft(JSON.stringify({ ...typed, ...part }))
  const lines = typed.criteria.split('\n').filter((line) => line.trim() !== '')
  const patch: BodyOf<'reviseTask'> = {
    instructions: typed.instructions,
    // A criterion whose text is unchanged keeps its id and its check.
    acceptance_criteria: lines.map((text) => {
      const known = criteriaNow.find((criterion) => criterion.text === text.trim())
      return known === undefined ? text : { id: known.id, text: known.text }
    }),
  }
  const saving = useMutation({
    mutationFn: () => muster.tasks.revise(task.id, task.revision, patch),
    onSuccess: ({ task: revised }) => {
      client.setQueryData(taskQuery(task.id).queryKey, revised)
      setDraft('')
      toasts.add({ title: `Revision ${revised.revision} is stored. The assignee receives the change once.` })
      onClose()
    },
    onError: (error) => {
      if (MusterError.is(error, 'revision_stale')) void client.invalidateQueries(taskQuery(task.id))
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    saving.mutate()
  }
  const cancel = () => {
    setDraft('')
    onClose()
  }
  return (
    <Panel title={`Edit revision ${task.revision}`}>
      <form className="stack" onSubmit={submit}>
        <div className="field">
          <label htmlFor="instructions">Instructions</label>
          <textarea
            id="instructions"
            className="input"
            rows={8}
            value={typed.instructions}
            onChange={(event) => change({ instructions: event.target.value })}
          />
        </div>
        <div className="field">
          <label htmlFor="criteria">Acceptance criteria, one a line</label>
          <textarea id="criteria" className="input" rows={6} value={typed.criteria} onChange={(event) => change({ criteria: event.target.value })} />
        </div>
        <BriefWarnings brief={{ title: task.title, instructions: typed.instructions, acceptance_criteria: lines }} />
        {saving.error !== null && (
          <p className="problem" role="alert">
            {saving.error.message} {MusterError.is(saving.error, 'revision_stale') && 'Compare with the current brief, and save again.'}
          </p>
        )}
        <div className="row">
          <Button kind="primary" type="submit" disabled={saving.isPending}>
            Save as a new revision
          </Button>
          <Button onClick={cancel}>Discard</Button>
        </div>
      </form>
    </Panel>
  )
}

function readDraft(draft: string): { instructions: string; criteria: string } {
  const { instructions = '', criteria = '' } = JSON.parse(draft) as { instructions?: string; criteria?: string }
  return { instructions, criteria }
}
