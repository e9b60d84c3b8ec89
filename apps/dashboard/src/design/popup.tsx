import { Dialog } from '@base-ui/react/dialog'
import { type ReactNode, useState } from 'react'
import { Button } from './button.tsx'
import { Form } from './form.tsx'

interface PopupProps {
  trigger: string
  title: string
  kind?: 'primary' | 'danger'
  submit?: string
  /** Shows what the answer has, instead of closing. */
  staysOpen?: boolean
  onSubmit: () => void
  /** A second answer, beside the first. */
  other?: { label: string; onChoose: () => void }
  children: ReactNode
}

/** A button that opens a dialog with a form. The dialog holds the focus, and gives it back to the button. */
export function Popup({ trigger, title, kind, submit = trigger, staysOpen = false, onSubmit, other, children }: PopupProps) {
  const [isOpen, setOpen] = useState(false)
  const send = () => {
    onSubmit()
    if (!staysOpen) setOpen(false)
  }
  const choose = () => {
    other?.onChoose()
    setOpen(false)
  }
  return (
    <Dialog.Root open={isOpen} onOpenChange={setOpen}>
      <Dialog.Trigger render={<Button kind={kind ?? 'normal'} />}>{trigger}</Dialog.Trigger>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog">
          <Dialog.Title>{title}</Dialog.Title>
          <Form
            submit={submit}
            kind={kind ?? 'primary'}
            onSubmit={send}
            after={
              <>
                {other !== undefined && (
                  <Button kind="danger" onClick={choose}>
                    {other.label}
                  </Button>
                )}
                <Dialog.Close render={<Button kind="plain" />}>Close</Dialog.Close>
              </>
            }
          >
            {children}
          </Form>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}
