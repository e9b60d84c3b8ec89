import { useState } from 'react'

const PREFIX = 'muster-draft-'

/** Text that a person has begun to type. It survives a reload and an outage in this tab, and ends with the tab. */
export function useDraft(name: string): [string, (text: string) => void] {
  const stored = `${PREFIX}${name}`
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

/** Leaves nothing that was typed to the next person at this tab. */
export function forgetDrafts(): void {
  for (const stored of Object.keys(sessionStorage)) if (stored.startsWith(PREFIX)) sessionStorage.removeItem(stored)
}
