import { exportTraining } from '@muster/usecases'
import { z } from 'zod'
import { linesEndpoint } from '../../http/endpoint.ts'
import { TAGS_MAX, tagSchema } from '../evaluations/quality-flag-schema.ts'
import { qualitySchema } from '../sessions/message-schema.ts'
import { trainingFormatSchema, trainingRecordSchema } from './training-schema.ts'

export const exportTrainingEndpoint = linesEndpoint({
  operationId: 'exportTraining',
  method: 'GET',
  path: '/training/export',
  tag: 'Training',
  summary: 'Export examples to learn from',
  description:
    'One JSON object a line, as they are read: what was flagged and is an example to learn from, or what has the given `quality`. Of a subtask: its task as the user, its result as the assistant. Of a task: what was said about it, the last 1,000 messages and 16 MiB, with the brief as the user where none is among them; where the assistant has said nothing, the output that was evaluated last. What makes no example in a format is left out. An export that fails in the middle breaks off without its end.',
  access: 'evaluations:read',
  query: z.strictObject({
    format: trainingFormatSchema.default('jsonl'),
    quality: qualitySchema.optional().describe('Only what was flagged with this quality, whether it is an example to learn from or not.'),
    tags: z
      .string()
      .transform((value) => value.split(',').filter((tag) => tag.trim() !== ''))
      .pipe(z.array(tagSchema).max(TAGS_MAX))
      .default([])
      .meta({ examples: ['auth,backend'] })
      .describe('Only what has all of these tags, with commas between them.'),
  }),
  answers: { 200: { description: 'The examples.', schema: trainingRecordSchema, contentType: 'application/x-ndjson' } },
  lines: ({ ctx, query }) => exportTraining(ctx, query),
})
