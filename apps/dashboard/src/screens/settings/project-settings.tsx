import type { ProjectSettings } from '@muster/client'
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { Button } from '../../design/button.tsx'
import { Editor } from '../../design/editor.tsx'
import { Loaded } from '../../design/loaded.tsx'
import { Panel } from '../../design/panel.tsx'
import { toasts } from '../../design/toasts.tsx'
import { useDraft } from '../../design/use-draft.ts'
import { muster } from '../../muster.ts'
import { sessionQuery } from '../../session/session.ts'

/** An open server has one project. */
const OPEN_PROJECT = '00000000-0000-7000-8000-000000000001'

const projectQuery = (id: string) => queryOptions({ queryKey: ['project', id], queryFn: () => muster.projects.get(id) })

/** Limits, time zone, evaluation, rules for approvals: as JSON, as the API has them. */
export function ProjectSettingsPanel() {
  const { data: session } = useQuery(sessionQuery)
  const id = session?.project_id ?? OPEN_PROJECT
  const query = useQuery(projectQuery(id))
  return (
    <Loaded query={query}>
      {(project) => (
        <Panel title={`Project ${project.name}`} count={project.id}>
          <SettingsForm id={id} settings={project.settings} />
        </Panel>
      )}
    </Loaded>
  )
}

function SettingsForm({ id, settings }: { id: string; settings: ProjectSettings }) {
  const client = useQueryClient()
  const stored = JSON.stringify(settings, null, 2)
  const [draft, setDraft] = useDraft(`settings-${id}`)
  const [problem, setProblem] = useState<string>()
  const text = draft === '' ? stored : draft
  const saving = useMutation({
    mutationFn: (changed: ProjectSettings) => muster.projects.update(id, { settings: changed }),
    onSuccess: (project) => {
      client.setQueryData(projectQuery(id).queryKey, project)
      setDraft('')
      toasts.add({ title: 'The settings are stored.' })
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    setProblem(undefined)
    try {
      saving.mutate(JSON.parse(text) as ProjectSettings)
    } catch {
      setProblem('This is no JSON.')
    }
  }
  const message = problem ?? saving.error?.message
  return (
    <form className="stack" onSubmit={submit}>
      <Editor label="Settings" language="json" value={text} onChange={setDraft} />
      {message !== undefined && (
        <p className="problem" role="alert">
          {message}
        </p>
      )}
      <div className="row">
        <Button kind="primary" type="submit" disabled={saving.isPending || text === stored}>
          Save
        </Button>
        <a href="/docs#updateProject" target="_blank" rel="noopener noreferrer">
          What can be set
        </a>
      </div>
    </form>
  )
}
