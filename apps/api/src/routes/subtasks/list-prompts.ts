import { listPrompts } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { component, idParams, listComponent, pageQuery, time, toTime } from '../../http/schemas.ts'

const sentPromptSchema = component(
  'SentPrompt',
  z.object({
    attempt: z.int(),
    system: z.string().nullable().describe('The instructions above the conversation; null if the runner gives its program one text.'),
    message: z.string().nullable().describe('The first message of the attempt; null if it goes on with the result of a tool.'),
    is_continued: z.boolean().describe('The attempt goes on after a wait. The transcript has the conversation between `system` and `message`.'),
    is_cut: z.boolean().describe('A text was longer than the 256 KiB that are kept of it.'),
    at: time(),
  }),
  {
    attempt: 1,
    system: 'You work on one task in the background …',
    message: 'List the public functions of src/ with one sentence each.',
    is_continued: false,
    is_cut: false,
    at: '2026-03-02T08:00:01.250Z',
  },
)

export const listPromptsEndpoint = endpoint({
  operationId: 'listSubtaskPrompts',
  method: 'GET',
  path: '/subtasks/{id}/prompts',
  tag: 'Subtasks',
  summary: 'Read the prompts',
  description:
    'What each attempt sent first to its model or program, without secrets of the operator, definitions of tools, and what a program adds itself. Empty for outside workers, whose prompt is the `brief` of the claim.',
  access: 'subtasks:read',
  params: idParams('subtask'),
  query: z.strictObject(pageQuery),
  answers: { 200: { description: 'A page of prompts, in the order of the attempts.', schema: listComponent('SentPromptList', sentPromptSchema) } },
  errors: ['not_found', 'cursor_invalid'],
  handle: ({ ctx, params, query }) => listPrompts(ctx, params.id, query),
  answer: ({ items, nextCursor }) => ({
    status: 200,
    body: {
      items: items.map(({ attempt, system, message, isContinued, isCut, at }) => ({
        attempt,
        system,
        message,
        is_continued: isContinued,
        is_cut: isCut,
        at: toTime(at),
      })),
      next_cursor: nextCursor,
    },
  }),
})
