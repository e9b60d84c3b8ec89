import { STEP_KINDS } from '@muster/domain'
import type { Step } from '@muster/usecases'
import { z } from 'zod'
import { component, listComponent, time, toTime } from '../../http/schemas.ts'

export const stepKindSchema = component('StepKind', z.enum(STEP_KINDS))

const stepSchema = component(
  'Step',
  z.object({
    seq: z.int().describe('Position in the transcript of the subtask, over all attempts.'),
    attempt: z.int(),
    kind: stepKindSchema,
    content: z.unknown(),
    at: time(),
  }),
  { seq: 1, attempt: 1, kind: 'tool_call', content: { name: 'list_files', path: 'src' }, at: '2026-03-02T08:00:01.250Z' },
)

export const stepListSchema = listComponent('StepList', stepSchema)

export function presentStep(step: Step): z.output<typeof stepSchema> {
  return { seq: step.seq, attempt: step.attempt, kind: step.kind, content: step.content, at: toTime(step.at) }
}
