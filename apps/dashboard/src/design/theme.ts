import { useSyncExternalStore } from 'react'

type Theme = 'light' | 'dark'

const STORED = 'muster-theme'
const listeners = new Set<() => void>()
const system = window.matchMedia('(prefers-color-scheme: dark)')

function current(): Theme {
  const chosen = localStorage.getItem(STORED)
  if (chosen === 'light' || chosen === 'dark') return chosen
  return system.matches ? 'dark' : 'light'
}

function apply(): void {
  document.documentElement.dataset.theme = current()
  for (const listener of listeners) listener()
}

/** Follows the system until a person chooses. */
export function startTheme(): void {
  system.addEventListener('change', apply)
  apply()
}

export function toggleTheme(): void {
  localStorage.setItem(STORED, current() === 'dark' ? 'light' : 'dark')
  apply()
}

export function useTheme(): Theme {
  return useSyncExternalStore((listener) => {
    listeners.add(listener)
    return () => listeners.delete(listener)
  }, current)
}
