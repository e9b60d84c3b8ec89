import type { ProjectSettings } from '@muster/client'
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Editor } from '../../design/editor.tsx'
import { Form } from '../../design/form.tsx'
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
  const submit = () => {
    setProblem(undefined)
    try {
      saving.mutate(JSON.parse(text) as ProjectSettings)
    } catch {
      setProblem('This is no JSON.')
    }
  }
  return (
    <Form
      submit="Save"
      onSubmit={submit}
      isPending={saving.isPending}
      isReady={text !== stored}
      error={problem ?? saving.error}
      after={
        <a href="/docs#updateProject" target="_blank" rel="noopener noreferrer">
          What can be set
        </a>
      }
    >
      <Editor label="Settings" language="json" value={text} onChange={setDraft} />
    </Form>
  )
}
