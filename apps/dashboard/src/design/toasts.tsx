import { Toast } from '@base-ui/react/toast'
import { X } from 'lucide-react'
import { Button } from './button.tsx'

/** Shows short messages from anywhere: `toasts.add({ title: 'Cancelled' })`. Screen readers announce them. */
export const toasts = Toast.createToastManager()

export function showError(error: Error): void {
  toasts.add({ title: error.message, type: 'error', priority: 'high', timeout: 10_000 })
}

export function Toasts() {
  return (
    <Toast.Provider toastManager={toasts}>
      <Toast.Portal>
        <Toast.Viewport className="toasts">
          <ToastList />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  )
}

function ToastList() {
  const { toasts: shown } = Toast.useToastManager()
  return shown.map((toast) => (
    <Toast.Root key={toast.id} toast={toast} className="toast">
      <div className="grow">
        <Toast.Title className={toast.type === 'error' ? 'problem' : undefined} />
        <Toast.Description className="hint" />
      </div>
      <Toast.Close render={<Button kind="plain" label="Dismiss" />}>
        <X size={14} aria-hidden />
      </Toast.Close>
    </Toast.Root>
  ))
}
