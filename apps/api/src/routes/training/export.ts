import { TRAINING_FORMATS } from '@muster/domain'
import { exportTraining } from '@muster/usecases'
import { z } from 'zod'
import { linesEndpoint } from '../../http/endpoint.ts'
import { component } from '../../http/schemas.ts'
import { TAGS_MAX, tagSchema } from '../evaluations/quality-flag-schema.ts'
import { qualitySchema, roleSchema } from '../sessions/message-schema.ts'

const trainingFormatSchema = component(
  'TrainingFormat',
  z.enum(TRAINING_FORMATS).describe('openai and anthropic: their fine-tuning formats. jsonl: with evaluation, quality and tags.'),
)

/** One line of an export. Which fields it has depends on the format. */
const trainingRecordSchema = component(
  'TrainingRecord',
  z.object({
    messages: z.array(component('TrainingMessage', z.object({ role: roleSchema, content: z.string() }))),
    system: z.string().optional().describe('For anthropic: the system prompt.'),
    evaluation: z.record(z.string(), z.unknown()).nullable().optional().describe('For jsonl: the latest evaluation.'),
    quality: z.string().nullable().optional().describe('For jsonl.'),
    tags: z.array(z.string()).optional().describe('For jsonl.'),
  }),
  {
    messages: [
      { role: 'user', content: 'Count the files of src/.' },
      { role: 'assistant', content: 'There are 3 files.' },
    ],
  },
)

export const exportTrainingEndpoint = linesEndpoint({
  operationId: 'exportTraining',
  method: 'GET',
  path: '/training/export',
  tag: 'Training',
  summary: 'Export training examples',
  description:
    'Streams one JSON object per line: flagged training examples, or everything with the given `quality`. A subtask gives its instructions and result. A task gives its messages, the last 1,000 and at most 16 MiB, with the brief where no user message is; without assistant messages, the last evaluated output. A failed export breaks off without the end of the response.',
  access: 'evaluations:read',
  query: z.strictObject({
    format: trainingFormatSchema.default('jsonl'),
    quality: qualitySchema.optional().describe('Only items with this quality flag, whether or not they are training examples.'),
    tags: z
      .string()
      .transform((value) => value.split(',').filter((tag) => tag.trim() !== ''))
      .pipe(z.array(tagSchema).max(TAGS_MAX))
      .default([])
      .meta({ examples: ['auth,backend'] })
      .describe('Only items with all of these tags, separated by commas.'),
  }),
  answers: { 200: { description: 'The examples.', schema: trainingRecordSchema, contentType: 'application/x-ndjson' } },
  lines: ({ ctx, query }) => exportTraining(ctx, query),
})
