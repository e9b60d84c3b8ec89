import { useEffect, useRef, useState } from 'react'

interface PaletteKey {
  isOpen: boolean
  open: () => void
  close: () => void
  /** What was typed since Ctrl K. From then on the palette gets the keys itself. */
  takeTyped: () => string
}

/** Opens the palette with Ctrl K. What a person types until it has come is for it, and not for the field that still has the focus. */
export function usePaletteKey(): PaletteKey {
  const [isOpen, setOpen] = useState(false)
  const typed = useRef<string | null>(null)
  const close = () => {
    typed.current = null
    setOpen(false)
  }
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const { key, metaKey, ctrlKey, altKey } = event
      if (key.toLowerCase() === 'k' && (metaKey || ctrlKey)) {
        event.preventDefault()
        typed.current = isOpen ? null : ''
        setOpen(!isOpen)
      } else if (typed.current !== null && key.length === 1 && !(metaKey || ctrlKey || altKey)) {
        event.preventDefault()
        typed.current += key
      }
    }
    window.addEventListener('keydown', onKey, { capture: true })
    return () => window.removeEventListener('keydown', onKey, { capture: true })
  }, [isOpen])
  const takeTyped = () => {
    const text = typed.current ?? ''
    typed.current = null
    return text
  }
  return { isOpen, open: () => setOpen(true), close, takeTyped }
}
