import type { ModelMessage } from 'ai'
import type { PlannedUse } from '../approvals.ts'

/** The result of one tool call. `text` is null for the call that awaits an answer. */
export interface SavedResult {
  id: string
  name: string
  text: string | null
  isError: boolean
  /** Of a call that is executed if its approval is given. */
  approval?: PlannedUse & { questionId: string }
}

/** A conversation that ended to wait for an answer, as the next attempt goes on with it. */
export interface SavedConversation {
  messages: ModelMessage[]
  /** Of the last answer of the model, in the order of its requests. */
  results: SavedResult[]
  said: string
  outputs: Record<string, unknown>
  /** Rules about uses that ask no more in this run. */
  remembered?: string[]
}

/** Grows when a conversation of an older version can no longer be continued. */
const VERSION = 1

export function saveConversation(conversation: SavedConversation): string {
  return JSON.stringify({ version: VERSION, ...conversation })
}

/** Null for a text that this version did not write: the run then begins again, with the answer in its brief. */
export function readConversation(text: string): SavedConversation | null {
  try {
    const { version, ...saved } = JSON.parse(text) as SavedConversation & { version: number }
    return version === VERSION && Array.isArray(saved.messages) && Array.isArray(saved.results) ? saved : null
  } catch {
    return null
  }
}
