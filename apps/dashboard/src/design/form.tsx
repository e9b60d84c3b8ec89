import type { FormEvent, KeyboardEvent, ReactNode } from 'react'
import { Button } from './button.tsx'

interface FormProps {
  /** What its button says. */
  submit: string
  kind?: 'normal' | 'primary' | 'danger'
  onSubmit: (form: HTMLFormElement) => void
  isPending?: boolean
  /** There is something to send. */
  isReady?: boolean
  /** Why it was refused, by the server or before. */
  error?: Error | string | null | undefined
  isTight?: boolean
  /** Before and after its button. */
  before?: ReactNode
  after?: ReactNode
  children: ReactNode
}

/** Fields, why they were refused, and a button. Ctrl Enter sends them from any field. */
export function Form({ submit, kind = 'primary', onSubmit, isPending = false, isReady = true, error, isTight = false, before, after, children }: FormProps) {
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    if (isReady && !isPending) onSubmit(event.currentTarget)
  }
  const sendByKey = (event: KeyboardEvent<HTMLFormElement>) => {
    if (!(event.metaKey || event.ctrlKey) || event.key !== 'Enter') return
    // On its button, Enter alone would send as well.
    event.preventDefault()
    if (!event.repeat) event.currentTarget.requestSubmit()
  }
  return (
    <form className={isTight ? 'stack tight' : 'stack'} onSubmit={send} onKeyDown={sendByKey}>
      {children}
      {error !== undefined && error !== null && (
        <p className="problem" role="alert">
          {error instanceof Error ? error.message : error}
        </p>
      )}
      <div className="row">
        {before}
        <Button kind={kind} type="submit" disabled={!isReady || isPending}>
          {submit}
        </Button>
        {after}
      </div>
    </form>
  )
}
