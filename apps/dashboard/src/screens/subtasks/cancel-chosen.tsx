import { Dialog } from '@base-ui/react/dialog'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Badge } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { muster } from '../../muster.ts'
import { firstLine } from './subtask-row.tsx'

/** Requests that are on their way at once. */
const AT_ONCE = 8

interface Answer {
  id: string
  /** What the API answered, or why it refused. */
  said: string
  isRefused: boolean
}

/** Calls back with the answer about each subtask as it comes. */
async function cancelAll(ids: readonly string[], onAnswer: (answer: Answer) => void): Promise<void> {
  const left = [...ids]
  const next = async () => {
    for (let id = left.shift(); id !== undefined; id = left.shift()) onAnswer(await cancelOne(id))
  }
  await Promise.all(Array.from({ length: AT_ONCE }, next))
}

async function cancelOne(id: string): Promise<Answer> {
  try {
    const { status } = await muster.subtasks.cancel(id)
    return { id, said: status === 'cancelled' ? 'cancelled' : 'asked to stop', isRefused: false }
  } catch (error) {
    return { id, said: (error as Error).message, isRefused: true }
  }
}

/** Asks before it cancels the chosen subtasks, and shows the answer for each. */
export function CancelChosen({ chosen, onDone }: { chosen: ReadonlyMap<string, string>; onDone: () => void }) {
  const [isOpen, setOpen] = useState(false)
  const [answers, setAnswers] = useState<ReadonlyMap<string, Answer>>(new Map())
  const cancelling = useMutation({
    mutationFn: () => cancelAll([...chosen.keys()], (answer) => setAnswers((before) => new Map(before).set(answer.id, answer))),
  })
  const change = (next: boolean) => {
    setOpen(next)
    if (next || !cancelling.isSuccess) return
    setAnswers(new Map())
    cancelling.reset()
    onDone()
  }
  if (chosen.size === 0) return null
  return (
    <Dialog.Root open={isOpen} onOpenChange={change}>
      <Dialog.Trigger render={<Button kind="danger" />}>Cancel {chosen.size} …</Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog">
          <Dialog.Title>Cancel {chosen.size === 1 ? 'one subtask' : `${chosen.size} subtasks`}?</Dialog.Title>
          <Dialog.Description className="hint">
            A pending one ends at once, a running one as soon as its worker stops it. A cancelled subtask is not run again.
          </Dialog.Description>
          <ul className="list" aria-label="Chosen subtasks">
            {[...chosen].map(([id, task]) => (
              <li key={id}>
                <span className="title">{firstLine(task)}</span>
                <ResultOf answer={answers.get(id)} isWaiting={cancelling.isPending} />
              </li>
            ))}
          </ul>
          <div className="row">
            {!cancelling.isSuccess && (
              <Button kind="danger" disabled={cancelling.isPending} onClick={() => cancelling.mutate()}>
                Cancel {chosen.size === 1 ? 'it' : 'all of them'}
              </Button>
            )}
            <Dialog.Close render={<Button kind={cancelling.isSuccess ? 'primary' : 'plain'} />}>{cancelling.isSuccess ? 'Done' : 'Keep them'}</Dialog.Close>
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function ResultOf({ answer, isWaiting }: { answer: Answer | undefined; isWaiting: boolean }) {
  if (answer === undefined) return isWaiting ? <span className="meta">…</span> : null
  if (answer.isRefused) return <span className="problem">{answer.said}</span>
  return <Badge status={answer.said} tone="green" />
}
