import type { ButtonHTMLAttributes } from 'react'

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  kind?: 'normal' | 'primary' | 'danger' | 'plain'
  /** A button that shows only an icon needs a name. */
  label?: string
}

/** While it is disabled it does nothing, but keeps the focus: the browser would take it away, and a person at the keyboard would be lost. */
export function Button({ kind = 'normal', label, disabled = false, type = 'button', onClick, ...rest }: ButtonProps) {
  return (
    <button
      className="button"
      data-kind={kind}
      data-icon={label === undefined ? undefined : ''}
      aria-label={label}
      title={label}
      type={type}
      aria-disabled={disabled || undefined}
      onClick={disabled ? (event) => event.preventDefault() : onClick}
      {...rest}
    />
  )
}
