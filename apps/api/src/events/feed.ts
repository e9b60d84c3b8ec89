import type { LoggedEvent } from '@muster/domain'
import type { Demand } from '../http/demand.ts'

type Listener = (event: LoggedEvent) => void

/** Passes new events of the log, in order, to the subscribers of a project or of one subject. One loop per process reads them. */
export interface EventFeed {
  /** @returns ends the subscription */
  subscribe(about: { projectId: string; subjectId?: string | undefined }, listener: Listener): () => void
  /** Whether every new event of the log is published from now on, while there are subscribers and for a short time after. */
  isReady(): boolean
  /** Resolves when `isReady` becomes true. Subscribe first: the log is not read without subscribers. */
  ready(): Promise<void>
  setReady(isReady: boolean): void
  publish(event: LoggedEvent): void
  /** The number of subscriptions. */
  size(): number
}

/** @param followers counts the subscriptions */
export function createEventFeed(followers: Demand): EventFeed {
  let isReady = false
  let readiness = Promise.withResolvers<void>()
  // Two keys, so that thousands of subscribers, each of one subtask, cost nothing when another subtask changes.
  const listeners = new Map<string, Set<Listener>>()
  const keyOf = (projectId: string, subjectId?: string) => (subjectId === undefined ? projectId : `${projectId}/${subjectId}`)
  return {
    subscribe({ projectId, subjectId }, listener) {
      const key = keyOf(projectId, subjectId)
      const group = listeners.get(key) ?? new Set()
      listeners.set(key, group.add(listener))
      const release = followers.need()
      return () => {
        release()
        group.delete(listener)
        if (group.size === 0 && listeners.get(key) === group) listeners.delete(key)
      }
    },
    isReady: () => isReady,
    ready: () => readiness.promise,
    setReady(now) {
      if (now) readiness.resolve()
      else if (isReady) readiness = Promise.withResolvers<void>()
      isReady = now
    },
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
