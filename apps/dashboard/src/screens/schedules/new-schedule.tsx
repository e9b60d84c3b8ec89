import { type BodyOf, MusterError } from '@muster/client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useDeferredValue, useState } from 'react'
import { Button } from '../../design/button.tsx'
import { Form } from '../../design/form.tsx'
import { Panel } from '../../design/panel.tsx'
import { Time } from '../../design/time.tsx'
import { toasts } from '../../design/toasts.tsx'
import { useDraft } from '../../design/use-draft.ts'
import { muster } from '../../muster.ts'

type Rule = Pick<BodyOf<'createSchedule'>, 'when' | 'every' | 'cron' | 'timezone'>

const CRON = /^([\d*/,\-?LW#]+\s+){4,5}[\dA-Z*/,\-?LW#]+$/i

/** Reads a phrase as a point in time, or as a rule if it is one that comes again. @throws MusterError of the first reading if neither fits */
async function readPhrase(phrase: string, timezone: string, signal: AbortSignal) {
  const zone = timezone === '' ? {} : { timezone }
  const preview = async (rule: Rule) => ({ rule, reading: await muster.schedules.preview({ task: 'preview', ...rule }, { signal }) })
  if (CRON.test(phrase)) return await preview({ cron: phrase, ...zone })
  try {
    return await preview({ when: phrase, ...zone })
  } catch (error) {
    if (!MusterError.is(error, 'schedule_unparseable')) throw error
    return await preview({ every: phrase, ...zone }).catch((other: unknown) => {
      throw MusterError.is(other, 'schedule_ambiguous') ? other : error
    })
  }
}

/** A phrase with its reading, its next firings, and what it could mean while it is typed. */
export function NewSchedule() {
  const [phrase, setPhrase] = useDraft('schedule-phrase')
  const [task, setTask] = useDraft('schedule-task')
  const [timezone, setTimezone] = useState(Intl.DateTimeFormat().resolvedOptions().timeZone)
  const shown = useDeferredValue(phrase)
  const preview = useQuery({
    queryKey: ['preview', shown, timezone],
    queryFn: ({ signal }) => readPhrase(shown.trim(), timezone, signal),
    enabled: shown.trim() !== '',
    gcTime: 10_000,
    retry: false,
  })
  const creating = useMutation({
    mutationFn: (rule: Rule) => muster.schedules.create({ task, ...rule }),
    onSuccess: () => {
      setPhrase('')
      setTask('')
      toasts.add({ title: 'The schedule is stored.' })
    },
  })
  return (
    <Panel title="New schedule">
      <Form
        submit="Create schedule"
        onSubmit={() => preview.data !== undefined && creating.mutate(preview.data.rule)}
        isPending={creating.isPending}
        isReady={preview.data !== undefined && shown === phrase}
        error={creating.error}
      >
        <div className="row">
          <div className="field grow" style={{ minWidth: 'min(100%, 16rem)' }}>
            <label htmlFor="phrase">When</label>
            <input
              id="phrase"
              className="input"
              placeholder="every weekday at 9, tomorrow at noon, 0 9 * * 1"
              value={phrase}
              onChange={(event) => setPhrase(event.target.value)}
              required
            />
          </div>
          <div className="field">
            <label htmlFor="zone">Time zone</label>
            <input id="zone" className="input" list="zones" value={timezone} onChange={(event) => setTimezone(event.target.value)} />
            <datalist id="zones">
              {Intl.supportedValuesOf('timeZone').map((zone) => (
                <option key={zone}>{zone}</option>
              ))}
            </datalist>
          </div>
        </div>
        <div aria-live="polite">
          {phrase.trim() !== '' && preview.data !== undefined && <Reading preview={preview.data.reading} />}
          {phrase.trim() !== '' && preview.error !== null && <Candidates error={preview.error} onChoose={setPhrase} />}
        </div>
        <div className="field">
          <label htmlFor="schedule-task">What to do</label>
          <textarea id="schedule-task" className="input" value={task} onChange={(event) => setTask(event.target.value)} required />
        </div>
      </Form>
    </Panel>
  )
}

function Reading({ preview }: { preview: { reading: string; upcoming: string[]; warnings: { message: string }[] } }) {
  return (
    <div className="stack tight">
      <p>{preview.reading}</p>
      <ol className="firings">
        {preview.upcoming.map((at) => (
          <li key={at}>
            <Time at={at} exact />
          </li>
        ))}
      </ol>
      {preview.warnings.map(({ message }) => (
        <p key={message} className="hint">
          {message}
        </p>
      ))}
    </div>
  )
}

function Candidates({ error, onChoose }: { error: Error; onChoose: (phrase: string) => void }) {
  const candidates = error instanceof MusterError ? (error.problem?.candidates ?? []) : []
  return (
    <div className="stack tight">
      <p className={candidates.length === 0 ? 'hint' : undefined}>{error.message}</p>
      <div className="row">
        {candidates.map((candidate) => (
          <Button key={candidate.phrase} onClick={() => onChoose(candidate.phrase)}>
            {candidate.phrase}
          </Button>
        ))}
      </div>
    </div>
  )
}
