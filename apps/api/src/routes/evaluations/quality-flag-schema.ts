import type { QualityFlag } from '@muster/domain'
import { z } from 'zod'
import { component, requestComponent, text, time, toTime } from '../../http/schemas.ts'
import { qualitySchema } from '../sessions/message-schema.ts'
import { authorSchema } from '../tasks/task-changes-schema.ts'

export const tagSchema = text(64)
export const TAGS_MAX = 20

export const newQualityFlagSchema = requestComponent(
  'NewQualityFlag',
  z.strictObject({
    quality: qualitySchema,
    tags: z.array(tagSchema).max(TAGS_MAX).default([]).describe('Tags to filter the export by. They replace the previous tags.'),
  }),
  { quality: 'good', tags: ['auth'] },
)

export const qualityFlagSchema = component(
  'QualityFlag',
  z.object({
    task_id: z.uuid().nullable(),
    subtask_id: z.uuid().nullable(),
    evaluation_id: z.uuid().nullable().describe('The latest evaluation at the time of the flag.'),
    quality: qualitySchema,
    tags: z.array(z.string()),
    training_candidate: z.boolean().describe('Whether it is a training example: excellent and good make it one, needs_work and bad remove it.'),
    author: authorSchema,
    created_at: time('When it was flagged first.'),
    updated_at: time('When it was flagged last.'),
  }),
  {
    task_id: '0198c9b1-4c00-7a11-8a7e-5d2b9c1f0e31',
    subtask_id: null,
    evaluation_id: '0198c9d0-7a10-7c3e-8b52-4e1f0a9d8c7b',
    quality: 'good',
    tags: ['auth'],
    training_candidate: true,
    author: { kind: 'key', id: '0198c9a0-0000-7000-8000-00000000000a' },
    created_at: '2026-03-02T08:10:00.000Z',
    updated_at: '2026-03-02T08:10:00.000Z',
  },
)

export function presentQualityFlag({ subject, ...flag }: QualityFlag): z.output<typeof qualityFlagSchema> {
  return {
    task_id: subject.kind === 'task' ? subject.id : null,
    subtask_id: subject.kind === 'subtask' ? subject.id : null,
    evaluation_id: flag.evaluationId,
    quality: flag.quality,
    tags: flag.tags,
    training_candidate: flag.trainingCandidate,
    author: { kind: flag.author.kind, id: flag.author.id },
    created_at: toTime(flag.createdAt),
    updated_at: toTime(flag.updatedAt),
  }
}
