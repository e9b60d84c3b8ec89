import { useState } from 'react'

/** Text that a person has begun to type. It survives a reload and an outage in this tab, and ends with the tab. */
export function useDraft(name: string): [string, (text: string) => void] {
  const stored = `muster-draft-${name}`
  const [text, setText] = useState(() => sessionStorage.getItem(stored) ?? '')
  return [
    text,
    (next) => {
      setText(next)
      if (next === '') sessionStorage.removeItem(stored)
      else sessionStorage.setItem(stored, next)
    },
  ]
}
