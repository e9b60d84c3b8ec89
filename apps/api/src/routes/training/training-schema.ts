import { MESSAGE_ROLES, TRAINING_FORMATS } from '@muster/domain'
import { z } from 'zod'
import { component } from '../../http/schemas.ts'

export const trainingFormatSchema = component(
  'TrainingFormat',
  z.enum(TRAINING_FORMATS).describe('openai and anthropic: their fine-tuning formats. jsonl: with evaluation, quality and tags.'),
)

/** One line of an export. Which fields it has depends on the format. */
export const trainingRecordSchema = component(
  'TrainingRecord',
  z.object({
    messages: z.array(z.object({ role: z.enum(MESSAGE_ROLES), content: z.string() })),
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
