import { useMutation } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Editor } from '../../design/editor.tsx'
import { Form } from '../../design/form.tsx'
import { Page, Panel } from '../../design/panel.tsx'
import { useDraft } from '../../design/use-draft.ts'
import { muster } from '../../muster.ts'
import { linesOf } from './brief-draft.ts'
import { BriefWarnings } from './brief-warnings.tsx'

/** A new brief. */
export function NewTask() {
  const navigate = useNavigate()
  const [title, setTitle] = useDraft('task-title')
  const [instructions, setInstructions] = useDraft('task-instructions')
  const [criteria, setCriteria] = useDraft('task-criteria')
  const [outputs, setOutputs] = useDraft('task-outputs')
  const brief = { title, instructions, acceptance_criteria: linesOf(criteria), required_outputs: linesOf(outputs) }
  const creating = useMutation({
    mutationFn: () => muster.tasks.create(brief),
    onSuccess: (task) => {
      for (const clear of [setTitle, setInstructions, setCriteria, setOutputs]) clear('')
      void navigate({ to: '/tasks/$id', params: { id: task.id } })
    },
  })
  return (
    <Page title="New task">
      <Panel title="Brief">
        <Form submit="Create task" onSubmit={() => creating.mutate()} isPending={creating.isPending} error={creating.error}>
          <div className="field">
            <label htmlFor="title">Title</label>
            <input id="title" className="input" value={title} onChange={(event) => setTitle(event.target.value)} maxLength={256} required />
          </div>
          <Editor label="Instructions" language="markdown" value={instructions} onChange={setInstructions} />
          <div className="field">
            <label htmlFor="new-criteria">Acceptance criteria, one a line</label>
            <textarea id="new-criteria" className="input" rows={5} value={criteria} onChange={(event) => setCriteria(event.target.value)} />
          </div>
          <div className="field">
            <label htmlFor="new-outputs">Required outputs, one name a line</label>
            <textarea id="new-outputs" className="input" rows={3} value={outputs} onChange={(event) => setOutputs(event.target.value)} />
          </div>
          {title !== '' && instructions !== '' && <BriefWarnings brief={brief} />}
        </Form>
      </Panel>
    </Page>
  )
}
