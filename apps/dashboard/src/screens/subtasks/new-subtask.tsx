import type { BodyOf } from '@muster/client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Expandable } from '../../design/expandable.tsx'
import { Form } from '../../design/form.tsx'
import { Page, Panel } from '../../design/panel.tsx'
import { useDraft } from '../../design/use-draft.ts'
import { muster } from '../../muster.ts'
import { subagentsQuery } from '../subagents/queries.ts'

/** Fields that are left out where nothing is typed: the server has defaults for them. */
const NONE = { runner: '', subagent: '', agent_id: '', parent_session_id: '', model: '', max_attempts: '', timeout_seconds: '' }
type Choices = typeof NONE

/** @throws Error where the metadata is no JSON object */
function bodyOf(task: string, choices: Choices, metadata: string): BodyOf<'createSubtask'> {
  const { max_attempts, timeout_seconds, ...texts } = choices
  const given = Object.fromEntries(Object.entries(texts).flatMap(([name, value]) => (value.trim() === '' ? [] : [[name, value.trim()]])))
  return {
    task,
    ...given,
    ...(max_attempts !== '' && { max_attempts: Number(max_attempts) }),
    ...(timeout_seconds !== '' && { timeout_seconds: Number(timeout_seconds) }),
    ...(metadata.trim() !== '' && { metadata: readMetadata(metadata) }),
  }
}

function readMetadata(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  } catch {
    // Said below.
  }
  throw new Error('The metadata must be a JSON object.')
}

/** A new unit of background work. */
export function NewSubtask() {
  const navigate = useNavigate()
  const [task, setTask] = useDraft('subtask-task')
  const [metadata, setMetadata] = useDraft('subtask-metadata')
  const [choices, setChoices] = useState(NONE)
  const choose = (name: keyof Choices) => (value: string) => setChoices((before) => ({ ...before, [name]: value }))
  const spawning = useMutation({
    mutationFn: async () => await muster.subtasks.spawn(bodyOf(task, choices, metadata)),
    onSuccess: ({ id }) => {
      setTask('')
      setMetadata('')
      void navigate({ to: '/subtasks/$id', params: { id } })
    },
  })
  const given = (name: keyof Choices, label: string, type: 'text' | 'number' = 'text', max?: number) => (
    <Field name={name} label={label} type={type} max={max} value={choices[name]} onChange={choose(name)} />
  )
  return (
    <Page title="New subtask">
      <Panel title="What to do">
        <Form submit="Start subtask" onSubmit={() => spawning.mutate()} isPending={spawning.isPending} error={spawning.error}>
          <div className="field">
            <label htmlFor="subtask-task">Instructions</label>
            <textarea
              id="subtask-task"
              className="input"
              rows={6}
              value={task}
              onChange={(event) => setTask(event.target.value)}
              maxLength={100_000}
              required
            />
            <p className="hint">They must be complete: the run has no other information.</p>
          </div>
          <div className="grid">
            <RunnerField value={choices.runner} onChange={choose('runner')} />
            <SubagentField value={choices.subagent} onChange={choose('subagent')} />
          </div>
          <Expandable summary="More">
            <div className="stack">
              <div className="grid">
                {given('agent_id', 'Agent')}
                {given('parent_session_id', 'Parent session')}
                {given('model', 'Model')}
                {given('max_attempts', 'Failed attempts, at most', 'number', 10)}
                {given('timeout_seconds', 'Seconds for one attempt, at most', 'number')}
              </div>
              <div className="field">
                <label htmlFor="subtask-metadata">Metadata, as a JSON object</label>
                <textarea
                  id="subtask-metadata"
                  className="input"
                  rows={3}
                  spellCheck={false}
                  value={metadata}
                  onChange={(event) => setMetadata(event.target.value)}
                />
              </div>
            </div>
          </Expandable>
        </Form>
      </Panel>
    </Page>
  )
}

interface ChoiceProps {
  value: string
  onChange: (value: string) => void
}

function RunnerField({ value, onChange }: ChoiceProps) {
  const { data } = useQuery({ queryKey: ['runners'], queryFn: () => muster.server.runners() })
  const standard = data?.items.find((runner) => runner.default)?.name
  return (
    <div className="field">
      <label htmlFor="subtask-runner">Runner</label>
      <select id="subtask-runner" className="input" value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">{standard === undefined ? 'The default' : `The default: ${standard}`}</option>
        {data?.items.map(({ name, available }) => (
          <option key={name} disabled={!available}>
            {name}
          </option>
        ))}
      </select>
    </div>
  )
}

function SubagentField({ value, onChange }: ChoiceProps) {
  const { data } = useQuery(subagentsQuery)
  return (
    <div className="field">
      <label htmlFor="subtask-subagent">Sub-agent</label>
      <select id="subtask-subagent" className="input" value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">None</option>
        {data?.map(({ name }) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </div>
  )
}

interface FieldProps extends ChoiceProps {
  name: string
  label: string
  type: 'text' | 'number'
  max: number | undefined
}

function Field({ name, label, type, max, value, onChange }: FieldProps) {
  const id = `subtask-${name}`
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className="input"
        type={type}
        min={type === 'number' ? 1 : undefined}
        max={max}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </div>
  )
}
