import { useCallback, useEffect, useRef, useState } from 'react'

interface PaletteKey {
  isOpen: boolean
  open: () => void
  close: () => void
  /** What was typed since it was asked for. From then on the palette gets the keys itself. */
  takeTyped: () => string
}

/**
 * Opens the palette with Ctrl K. What a person types until it has come is for it, and not for the field that still has the focus.
 *
 * @param load fetches it; called each time, and has to be cheap when it is there
 * @param onError where it could not be fetched; keys go where they went before
 */
export function usePaletteKey(load: () => Promise<unknown>, onError: (error: Error) => void): PaletteKey {
  const [isOpen, setOpen] = useState(false)
  /** Null unless it is on its way. */
  const typed = useRef<string | null>(null)
  const open = useCallback(() => {
    typed.current = ''
    load().then(
      () => typed.current !== null && setOpen(true),
      () => {
        typed.current = null
        onError(new Error('The palette could not be loaded. Try again when the server answers.'))
      },
    )
  }, [load, onError])
  const close = useCallback(() => {
    typed.current = null
    setOpen(false)
  }, [])
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { key, metaKey, ctrlKey, altKey } = event
      if (key.toLowerCase() === 'k' && (metaKey || ctrlKey)) {
        event.preventDefault()
        if (isOpen || typed.current !== null) close()
        else open()
      } else if (typed.current !== null && key.length === 1 && !(metaKey || ctrlKey || altKey)) {
        event.preventDefault()
        typed.current += key
      }
    }
    window.addEventListener('keydown', onKey, { capture: true })
    return () => window.removeEventListener('keydown', onKey, { capture: true })
  }, [isOpen, open, close])
  const takeTyped = () => {
    const text = typed.current ?? ''
    typed.current = null
    return text
  }
  return { isOpen, open, close, takeTyped }
}
