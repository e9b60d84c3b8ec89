import type { LoggedEvent } from '@muster/domain'

type Listener = (event: LoggedEvent) => void

/** Hands the events of the log to whoever follows a project or one subject, in order, as one reader per process finds them. */
export interface EventFeed {
  /** @returns ends the subscription */
  subscribe(about: { projectId: string; subjectId?: string | undefined }, listener: Listener): () => void
  /** Resolves once every event that the log gains from now on will be published. */
  ready(): Promise<void>
  setReady(): void
  publish(event: LoggedEvent): void
  /** How many subscriptions there are. */
  size(): number
}

export function createEventFeed(): EventFeed {
  // Two keys, so that thousands who wait for one subtask each cost nothing when another one moves.
  const readiness = Promise.withResolvers<void>()
  const listeners = new Map<string, Set<Listener>>()
  const keyOf = (projectId: string, subjectId?: string) => (subjectId === undefined ? projectId : `${projectId}/${subjectId}`)
  return {
    subscribe({ projectId, subjectId }, listener) {
      const key = keyOf(projectId, subjectId)
      const group = listeners.get(key) ?? new Set()
      listeners.set(key, group.add(listener))
      return () => {
        group.delete(listener)
        if (group.size === 0 && listeners.get(key) === group) listeners.delete(key)
      }
    },
    ready: () => readiness.promise,
    setReady: () => readiness.resolve(),
    publish(event) {
      for (const key of [keyOf(event.projectId), keyOf(event.projectId, event.subject.id)]) {
        for (const listener of listeners.get(key) ?? []) listener(event)
      }
    },
    size() {
      let size = 0
      for (const group of listeners.values()) size += group.size
      return size
    },
  }
}
