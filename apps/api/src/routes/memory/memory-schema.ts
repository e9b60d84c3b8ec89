import { type Episode, type Fact, MEMORY_KINDS, MEMORY_LIMITS, MEMORY_SHOWN, type Memory } from '@muster/domain'
import { z } from 'zod'
import { component, requestComponent, text, time, toTime } from '../../http/schemas.ts'
import { finalOutcomeSchema } from '../subtasks/subtask-schema.ts'
import { authorSchema } from '../tasks/task-changes-schema.ts'

export const memoryKindSchema = component(
  'MemoryKind',
  z.enum(MEMORY_KINDS).describe('fact: a stored statement. episode: the instructions and the result of an ended subtask.'),
)

const SUBTASK_ID = '01990000-0000-7000-8000-000000000002'
const EXAMPLE = {
  id: '01990000-0000-7000-8000-000000000001',
  agent_id: 'default',
  source_subtask_id: SUBTASK_ID,
  created_at: '2026-03-02T08:00:00.000Z',
}
const CONTENT = 'The staging database listens on port 6543.'

export const newFactSchema = requestComponent(
  'NewFact',
  z.strictObject({
    content: text(MEMORY_LIMITS.content).describe('The fact, ideally one sentence that can be understood on its own.'),
    tags: z.array(text(MEMORY_LIMITS.tag)).max(MEMORY_LIMITS.tags).default([]).describe('Stored with the fact. Searches use the content only.'),
    source_subtask_id: z.uuid().nullish().describe('A subtask’s own credential always means itself.'),
  }),
  { content: CONTENT, tags: ['staging'] },
)

const agentId = z.string().nullable().describe('The agent of the credential, otherwise of the source subtask.')

export const factSchema = component(
  'Fact',
  z.object({
    id: z.uuid(),
    content: z.string(),
    tags: z.array(z.string()),
    agent_id: agentId,
    source_subtask_id: z.uuid().nullable(),
    author: authorSchema,
    created_at: time(),
  }),
  { ...EXAMPLE, content: CONTENT, tags: ['staging'], author: { kind: 'subtask', id: SUBTASK_ID } },
)

export const episodeSchema = component(
  'Episode',
  z.object({
    id: z.uuid().describe('Id of the subtask.'),
    agent_id: z.string(),
    task: z.string().describe('The instructions of the subtask.'),
    outcome: finalOutcomeSchema,
    summary: z.string().nullable(),
    result: z.string().nullable().describe('Null if the subtask ended without a result.'),
    result_truncated: z.boolean().describe('Whether the stored result was cut.'),
    completed_at: time(),
  }),
  {
    id: SUBTASK_ID,
    agent_id: 'default',
    task: 'Find out where the staging database listens.',
    outcome: 'completed',
    summary: null,
    result: 'On port 6543.',
    result_truncated: false,
    completed_at: EXAMPLE.created_at,
  },
)

const memorySchema = component(
  'Memory',
  z.object({
    kind: memoryKindSchema,
    id: z.uuid().describe('Id for `/memory/facts/{id}` or `/memory/episodes/{id}`.'),
    score: z.number().min(0).max(1).describe('How well the item matches. Comparable within one answer only.'),
    content: z.string().nullable().describe(`For a fact: its first ${MEMORY_SHOWN.content} characters.`),
    tags: z.array(z.string()),
    task: z.string().nullable().describe(`For an episode: the first ${MEMORY_SHOWN.task} characters of the instructions.`),
    outcome: finalOutcomeSchema.nullable().describe('For an episode.'),
    summary: z.string().nullable().describe(`For an episode: the first ${MEMORY_SHOWN.summary} characters of the summary.`),
    result: z.string().nullable().describe(`For an episode: the first ${MEMORY_SHOWN.result} characters of the result.`),
    truncated: z.boolean().describe('Whether texts were cut in this answer.'),
    agent_id: agentId,
    source_subtask_id: z.uuid().nullable().describe('The source subtask; for an episode, the subtask itself.'),
    created_at: time('When it was learnt, or when the subtask ended.'),
  }),
)

export const memorySearchSchema = component('MemorySearch', z.object({ items: z.array(memorySchema).describe('Best first; equal scores newest first.') }), {
  items: [
    { ...EXAMPLE, kind: 'fact', score: 0.09, content: CONTENT, tags: ['staging'], task: null, outcome: null, summary: null, result: null, truncated: false },
  ],
})

export function presentFact(fact: Fact): z.output<typeof factSchema> {
  return {
    id: fact.id,
    content: fact.content,
    tags: fact.tags,
    agent_id: fact.agentId,
    source_subtask_id: fact.sourceSubtaskId,
    author: fact.author,
    created_at: toTime(fact.createdAt),
  }
}

export function presentEpisode(episode: Episode): z.output<typeof episodeSchema> {
  return {
    id: episode.id,
    agent_id: episode.agentId,
    task: episode.task,
    outcome: episode.outcome,
    summary: episode.summary,
    result: episode.result,
    result_truncated: episode.resultTruncated,
    completed_at: toTime(episode.completedAt),
  }
}

export function presentMemory(memory: Memory): z.output<typeof memorySchema> {
  const { kind, score, truncated } = memory
  if (memory.kind === 'fact') {
    const { author: _, ...fact } = presentFact(memory.fact)
    return { kind, score, truncated, ...fact, task: null, outcome: null, summary: null, result: null }
  }
  const { completed_at, result_truncated: _, ...episode } = presentEpisode(memory.episode)
  return { kind, score, truncated, ...episode, content: null, tags: [], source_subtask_id: episode.id, created_at: completed_at }
}
