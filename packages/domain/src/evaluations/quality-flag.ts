import type { Quality } from '../sessions/message.ts'
import type { FlagSubject } from './record.ts'

/** The quality flag of a task or a subtask; the latest one counts. [D2] flag_sequence_quality */
export interface QualityFlag {
  subject: { kind: FlagSubject; id: string }
  quality: Quality
  tags: string[]
  /** Whether it is an example to learn from. */
  trainingCandidate: boolean
  /** The latest evaluation of it when it was flagged. */
  evaluationId: string | null
  author: { kind: string; id: string }
  createdAt: Date
  updatedAt: Date
}

/** Whether work of a quality is to be learnt from. Null leaves that as it was: what needs work may be an example of something all the same. */
export const TRAINING_CANDIDACY = { excellent: true, good: true, needs_work: null, bad: false } as const satisfies Record<Quality, boolean | null>
