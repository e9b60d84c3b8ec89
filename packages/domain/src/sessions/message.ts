export const MESSAGE_ROLES = ['user', 'assistant', 'system', 'tool'] as const
export type MessageRole = (typeof MESSAGE_ROLES)[number]

/** The quality flags of a piece of work. [D2] flag_sequence_quality */
export const QUALITIES = ['excellent', 'good', 'needs_work', 'bad'] as const
export type Quality = (typeof QUALITIES)[number]

/** What was said in a session, with the columns of its latest evaluation. */
export interface SessionMessage {
  id: string
  sessionId: string
  role: MessageRole
  /** Null where it is longer than `INLINE_BYTES_MAX`. */
  content: string | null
  /** Length of all of it, in UTF-8. */
  contentBytes: number
  model: string | null
  taskId: string | null
  agentName: string | null
  usage: Record<string, unknown> | null
  metadata: Record<string, unknown>
  evalScore: number | null
  evalSummary: string | null
  qualityFlag: Quality | null
  trainingCandidate: boolean
  createdAt: Date
}
