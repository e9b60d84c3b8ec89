import { MESSAGE_ROLES, QUALITIES, type SessionMessage, toStorableText } from '@muster/domain'
import { z } from 'zod'
import { component, listComponent, metadata, printableId, requestComponent, text, time, toTime } from '../../http/schemas.ts'

export const roleSchema = component('MessageRole', z.enum(MESSAGE_ROLES))

export const qualitySchema = component('Quality', z.enum(QUALITIES))

const EXAMPLE = {
  role: 'assistant' as const,
  content: 'The server does not start: listen EADDRINUSE, address already in use :::3000. I will look for who listens there.',
  model: 'claude-sonnet-5',
  agent_name: 'writer',
  usage: { input_tokens: 1200, output_tokens: 310 },
}

export const newMessageSchema = requestComponent(
  'NewMessage',
  z.strictObject({
    role: roleSchema,
    content: z
      .string()
      .refine((value) => /\S/.test(value), 'must not be empty')
      .transform(toStorableText)
      .meta({ minLength: 1 })
      .describe('Characters that cannot be stored (U+0000, lone surrogates) become U+FFFD.'),
    model: text(256).nullish(),
    task_id: z.uuid().nullish(),
    agent_name: printableId('Name of the agent that wrote the message.', 'writer').nullish(),
    usage: metadata.nullish().describe('The usage as reported by the model provider; at most 16 KiB as JSON.'),
    metadata: metadata.default({}),
  }),
  EXAMPLE,
)

export const messageSchema = component(
  'Message',
  z.object({
    id: z.uuid(),
    session_id: z.string(),
    role: roleSchema,
    content: z.string().nullable().describe('Null if it is longer than 64 KiB.'),
    content_bytes: z.int().describe('Length of the whole content, in bytes of UTF-8.'),
    model: z.string().nullable(),
    task_id: z.uuid().nullable(),
    agent_name: z.string().nullable(),
    usage: z.record(z.string(), z.unknown()).nullable(),
    metadata: z.record(z.string(), z.unknown()),
    eval_score: z
      .number()
      .min(0)
      .max(1)
      .nullable()
      .describe('The score of its evaluation, if it has reflection or check-in blocks; null if no item in them counts.'),
    eval_summary: z.string().nullable().describe('The problems, if the message has to be revised.'),
    quality_flag: qualitySchema.nullable(),
    training_candidate: z.boolean(),
    created_at: time(),
  }),
  {
    id: '0198c9c4-2f6b-7e10-9c3d-5a7b8c9d0e1f',
    session_id: 'writer-1',
    ...EXAMPLE,
    content_bytes: 112,
    task_id: null,
    metadata: {},
    eval_score: null,
    eval_summary: null,
    quality_flag: null,
    training_candidate: false,
    created_at: '2026-03-02T08:00:09.310Z',
  },
)

export const messageListSchema = listComponent('MessageList', messageSchema)

export function presentMessage(message: SessionMessage): z.output<typeof messageSchema> {
  return {
    id: message.id,
    session_id: message.sessionId,
    role: message.role,
    content: message.content,
    content_bytes: message.contentBytes,
    model: message.model,
    task_id: message.taskId,
    agent_name: message.agentName,
    usage: message.usage,
    metadata: message.metadata,
    eval_score: message.evalScore,
    eval_summary: message.evalSummary,
    quality_flag: message.qualityFlag,
    training_candidate: message.trainingCandidate,
    created_at: toTime(message.createdAt),
  }
}
