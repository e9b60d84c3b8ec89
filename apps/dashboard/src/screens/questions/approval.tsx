import { useState } from 'react'
import { Button } from '../../design/button.tsx'
import { useDraft } from '../../design/use-draft.ts'
import type { AnswerProps } from './answer.ts'

/** Characters that are not seen, or that change the order in which others are: with them, a command reads as another one. */
const UNSEEN = /[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\p{Cf}\p{Zl}\p{Zp}\p{Co}\x80-\x9f]/gu

/** The same JSON, in which everything can be seen. */
function visibleJson(value: unknown): string {
  return JSON.stringify(value, null, 2).replace(UNSEEN, (found) =>
    Array.from({ length: found.length }, (_, index) => `\\u${found.charCodeAt(index).toString(16).padStart(4, '0')}`).join(''),
  )
}

/** Approves exactly the arguments that are shown, or others, or rejects with words. */
export function Approval({ question, onSend }: AnswerProps) {
  const asked = visibleJson(question.arguments ?? {})
  const [draft, setDraft] = useDraft(`approval-${question.id}`)
  const [reason, setReason] = useState('')
  const [isAlways, setAlways] = useState(false)
  const shown = draft === '' ? asked : draft
  const edited = readObject(shown)
  const isEdited = shown !== asked
  const approve = () =>
    onSend({
      decision: 'approve',
      ...(isEdited && edited !== null ? { edited_arguments: edited } : {}),
      ...(isAlways ? { always: true } : {}),
      // It approves what was read here, and nothing else.
      ...(isEdited || question.arguments_digest === null ? {} : { arguments_digest: question.arguments_digest }),
    })
  const id = `arguments-${question.id}`
  return (
    <div className="stack">
      <div className="field">
        <label htmlFor={id}>Exactly this is approved. Change it to approve something else.</label>
        <textarea
          id={id}
          className="input code"
          rows={Math.min(16, shown.split('\n').length + 1)}
          value={shown}
          onChange={(event) => setDraft(event.target.value)}
          aria-invalid={edited === null}
          spellCheck={false}
        />
        {edited === null && <p className="problem">This is no JSON object.</p>}
      </div>
      <label className="row hint">
        <input type="checkbox" checked={isAlways} onChange={(event) => setAlways(event.target.checked)} />
        Approve whatever the same rule asks about for the rest of this run
      </label>
      <div className="row">
        <Button kind="primary" onClick={approve} disabled={edited === null}>
          {isEdited ? 'Approve as changed' : 'Approve'}
        </Button>
        <input
          className="input grow"
          aria-label="Why it is rejected"
          placeholder="Why it is rejected"
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
        <Button kind="danger" onClick={() => onSend({ decision: 'reject', ...(reason === '' ? {} : { answer: reason }) })}>
          Reject
        </Button>
      </div>
    </div>
  )
}

function readObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}
