import { AsyncLocalStorage } from 'node:async_hooks'
import type { ServerEvent, ServerEventBus } from '@modelcontextprotocol/server'
import { type Actor, hasScope, type LoggedEvent, ownSubjectId } from '@muster/domain'
import type { ApiDeps } from '../api-deps.ts'
import { within } from '../http/deadline.ts'
import { onCredentialEnd } from '../plugins/auth.ts'
import type { McpCall } from './mcp-call.ts'
import { taskUri, transcriptUri } from './resources.ts'

export const LISTEN_METHOD = 'subscriptions/listen'
/** Longest time until the event log is being read, in milliseconds. */
const READY_MS = 4_000

interface Subscriptions {
  /** What the protocol's library subscribes its streams to. */
  bus: ServerEventBus
  /** Opens a stream in the name of a caller, after which no change is missed. The stream ends with the credential. */
  open(call: McpCall, answer: (ended: AbortSignal) => Promise<Response>): Promise<Response>
}

/** Turns the events of the log into the notifications of `subscriptions/listen`: each stream gets those of its caller's project. */
export function createSubscriptions(deps: ApiDeps): Subscriptions {
  // The library asks the bus for events without saying for whom.
  const opening = new AsyncLocalStorage<{ call: McpCall; ended: AbortController }>()
  return {
    bus: {
      publish() {
        throw new Error('changes come from the event log alone')
      },
      subscribe(listener) {
        const store = opening.getStore()
        if (store === undefined) throw new Error('a stream can only be opened in the name of a caller')
        const { call, ended } = store
        const unwatch = onCredentialEnd(deps, call.request, () => ended.abort())
        const unsubscribe = deps.feed.subscribe(eventsOf(call), (event) => {
          for (const change of changesOf(event, call.ctx.actor)) listener(change)
        })
        return () => {
          unwatch()
          unsubscribe()
        }
      },
    },
    async open(call, answer) {
      const ended = new AbortController()
      // The log is read only while something follows it.
      const release = deps.feed.subscribe(eventsOf(call), () => {})
      try {
        await within(READY_MS, deps.feed.ready())
        return await opening.run({ call, ended }, () => answer(ended.signal))
      } finally {
        release()
      }
    },
  }
}

/** A sub-agent hears of its own work alone. */
const eventsOf = ({ ctx: { actor } }: McpCall) => ({ projectId: actor.projectId, subjectId: ownSubjectId(actor) })

/** The resources that an event has changed, of those that the caller may read. Definitions of sub-agents and guides have no events. */
function changesOf({ type, subject }: LoggedEvent, actor: Actor): ServerEvent[] {
  if (subject.kind === 'subtask') return hasScope(actor, 'subtasks:read') ? [{ kind: 'resource_updated', uri: transcriptUri(subject.id) }] : []
  if (subject.kind !== 'task' || !hasScope(actor, 'tasks:read')) return []
  const updated: ServerEvent = { kind: 'resource_updated', uri: taskUri(subject.id) }
  return type === 'task.created' ? [updated, { kind: 'resources_list_changed' }] : [updated]
}
