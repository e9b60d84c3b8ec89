import type { ButtonHTMLAttributes } from 'react'

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  kind?: 'normal' | 'primary' | 'danger' | 'plain'
  /** A button that shows only an icon needs a name. */
  label?: string
}

export function Button({ kind = 'normal', label, type = 'button', ...rest }: ButtonProps) {
  return <button className="button" data-kind={kind} data-icon={label === undefined ? undefined : ''} aria-label={label} title={label} type={type} {...rest} />
}
