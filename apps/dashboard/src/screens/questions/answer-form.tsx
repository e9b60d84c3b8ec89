import { MusterError, type Question } from '@muster/client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { Button } from '../../design/button.tsx'
import { CodeBlock } from '../../design/code-block.tsx'
import { Form } from '../../design/form.tsx'
import { Markdown } from '../../design/markdown.tsx'
import { Time } from '../../design/time.tsx'
import { toasts } from '../../design/toasts.tsx'
import { useDraft } from '../../design/use-draft.ts'
import { muster } from '../../muster.ts'
import type { AnswerProps, NewAnswer } from './answer.ts'
import { Approval } from './approval.tsx'
import { fieldsOf } from './schema-fields.ts'
import { SchemaForm } from './schema-form.tsx'

const ON_EXPIRY = { continue: 'it goes on without an answer', default: 'the default becomes the answer', fail: 'the work fails' }

/** A question with the form that its kind and its schema ask for. */
export function AnswerForm({ question }: { question: Question }) {
  const client = useQueryClient()
  const answering = useMutation({
    mutationFn: (answer: NewAnswer) => muster.questions.answer(question.id, answer),
    onSuccess: () => toasts.add({ title: 'Answered. The run receives it once.' }),
    onSettled: () => client.invalidateQueries({ queryKey: ['question'] }),
  })
  const send = (answer: NewAnswer) => answering.mutate(answer)
  return (
    <div className="stack">
      <Markdown text={question.prompt} />
      {question.kind === 'approval' ? <Approval question={question} onSend={send} /> : <Choices question={question} onSend={send} />}
      {answering.error !== null && <Refusal error={answering.error} />}
      <p className="hint">
        Asked <Time at={question.asked_at} />, expires <Time at={question.expires_at} />; then {ON_EXPIRY[question.on_expiry]}.
      </p>
    </div>
  )
}

function Refusal({ error }: { error: Error }) {
  const isStale = error instanceof MusterError && error.is('revision_stale')
  return (
    <p className="problem" role="alert">
      {error.message} {isStale && 'Read the current brief before you answer.'}
    </p>
  )
}

function Choices({ question, onSend }: AnswerProps) {
  if (question.options !== null) {
    return (
      <div className="stack tight">
        {question.options.map((option) => (
          <div key={option.id} className="row">
            <Button onClick={() => onSend({ option_id: option.id })}>{option.label}</Button>
            {option.description !== null && <span className="hint">{option.description}</span>}
          </div>
        ))}
      </div>
    )
  }
  const fields = question.schema === null ? null : fieldsOf(question.schema)
  if (fields !== null) return <SchemaForm fields={fields} id={question.id} onSend={(answer) => onSend({ answer })} />
  return <TextAnswer question={question} onSend={onSend} />
}

function TextAnswer({ question, onSend }: AnswerProps) {
  const [text, setText] = useDraft(`answer-${question.id}`)
  const [problem, setProblem] = useState<string>()
  const submit = () => {
    if (question.schema === null) return onSend({ answer: text })
    try {
      onSend({ answer: JSON.parse(text) as unknown })
    } catch {
      setProblem('The answer has to be JSON that fits the schema.')
    }
  }
  return (
    <Form submit="Answer" onSubmit={submit} error={problem} isTight>
      {question.schema !== null && <CodeBlock text={JSON.stringify(question.schema, null, 2)} />}
      <textarea className="input" aria-label="Answer" value={text} onChange={(event) => setText(event.target.value)} required />
    </Form>
  )
}
