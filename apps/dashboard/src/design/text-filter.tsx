import { useEffect, useRef, useState } from 'react'

interface TextFilterProps {
  label: string
  placeholder?: string
  /** What is filtered by now. */
  value: string
  type?: 'text' | 'search'
  className?: string
  onChange: (value: string) => void
}

/** A field that filters when a person leaves it or presses Enter, and keeps the focus then. A value that comes from elsewhere, such as a link, replaces what is typed. */
export function TextFilter({ label, placeholder = label, value, type = 'text', className = '', onChange }: TextFilterProps) {
  const [typed, setTyped] = useState(value)
  // A person may type on before the value that was applied comes back.
  const applied = useRef(value)
  useEffect(() => {
    if (value === applied.current) return
    applied.current = value
    setTyped(value)
  }, [value])
  const apply = () => {
    const next = typed.trim()
    setTyped(next)
    if (next === applied.current) return
    applied.current = next
    onChange(next)
  }
  return (
    <input
      className={`input ${className}`.trimEnd()}
      type={type}
      aria-label={label}
      placeholder={placeholder}
      value={typed}
      onChange={(event) => setTyped(event.target.value)}
      onBlur={apply}
      onKeyDown={(event) => event.key === 'Enter' && apply()}
    />
  )
}
