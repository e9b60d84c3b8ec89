import { useSyncExternalStore } from 'react'
import { readSubtaskFilters, type SubtaskFilters } from './filters.ts'

export interface SavedView {
  name: string
  filters: SubtaskFilters
}

const STORED = 'muster-views'
const listeners = new Set<() => void>()
let views = read()

/** The views of this browser. What was stored by another version, or by hand, is read as far as it makes sense. */
function read(): SavedView[] {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(STORED) ?? '[]')
    if (!Array.isArray(stored)) return []
    return stored.flatMap((view: Partial<SavedView> | null) =>
      typeof view?.name === 'string' && typeof view.filters === 'object' ? [{ name: view.name, filters: readSubtaskFilters({ ...view.filters }) }] : [],
    )
  } catch {
    return []
  }
}

function write(next: SavedView[]): void {
  views = next
  localStorage.setItem(STORED, JSON.stringify(next))
  for (const listener of listeners) listener()
}

export const saveView = (view: SavedView): void => write([...views, view])
export const deleteView = (name: string): void => write(views.filter((view) => view.name !== name))

export function useSavedViews(): SavedView[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => views,
  )
}
