import { DomainError, hasScope, notFound, requireScope, type Schedule, type Scope, type Subtask, type Task } from '@muster/domain'
import { type Ctx, getSchedule, getSubtask, getTask } from '@muster/usecases'
import { z } from 'zod'
import { shorten } from '../../http/shortened.ts'
import { presentSchedule } from '../../routes/schedules/schedule-schema.ts'
import { presentSubtask } from '../../routes/subtasks/subtask-schema.ts'
import { presentTask } from '../../routes/tasks/task-schema.ts'

/** What an id of a tool may be of. */
export const KINDS = ['task', 'subtask', 'schedule'] as const

/** Something that was found by its id, whatever it is. */
export type Found = { kind: 'task'; task: Task } | { kind: 'subtask'; subtask: Subtask } | { kind: 'schedule'; schedule: Schedule }

const LOOKUPS: Record<(typeof KINDS)[number], { scope: Scope; look: (ctx: Ctx, id: string) => Promise<Found> }> = {
  task: { scope: 'tasks:read', look: async (ctx, id) => ({ kind: 'task', task: await getTask(ctx, id) }) },
  subtask: { scope: 'subtasks:read', look: async (ctx, id) => ({ kind: 'subtask', subtask: await getSubtask(ctx, id) }) },
  schedule: { scope: 'schedules:read', look: async (ctx, id) => ({ kind: 'schedule', schedule: await getSchedule(ctx, id) }) },
}

export const LOOKUP_SCOPES = KINDS.map((kind) => LOOKUPS[kind].scope)

/**
 * Finds what an id is of, among the kinds that the caller may read.
 *
 * @throws DomainError `not_found`, `forbidden` for a caller that may read none of the kinds
 */
export async function findByAnyId<Kind extends Found['kind']>(ctx: Ctx, id: string, kinds: readonly Kind[]): Promise<Extract<Found, { kind: Kind }>> {
  const readable = kinds.filter((kind) => hasScope(ctx.actor, LOOKUPS[kind].scope))
  if (readable.length === 0) requireScope(ctx.actor, LOOKUPS[kinds[0] as Kind].scope)
  for (const kind of readable) {
    const found = await LOOKUPS[kind].look(ctx, id).catch(nullIfNotFound)
    if (found !== null) return found as Extract<Found, { kind: Kind }>
  }
  throw notFound(readable.join(' or '))
}

/** Null for `not_found`: the next kind is tried. */
export function nullIfNotFound(error: unknown): null {
  if (error instanceof DomainError && error.code === 'not_found') return null
  throw error
}

/** The longest text of one answer, in code points: a client cuts longer answers or refuses them. */
const TEXT_LENGTH_MAX = 30_000

export const offsetField = z.int().min(0).max(100_000_000).optional().describe('`next_offset` of the answer before, to read on in a long text.')

/** A part of a long text, and where the next one begins; null at the end. */
export function pageOfText(text: string, offset = 0): { part: string; next: number | null } {
  const points = [...text]
  const end = offset + TEXT_LENGTH_MAX
  return { part: points.slice(offset, end).join(''), next: end < points.length ? end : null }
}

/** Something found, as one answer holds it: its long text in parts, and without outputs that alone would fill it. Unless `whole`, long results are shortened. */
export function presentFound(found: Found, { offset, whole }: { offset: number | undefined; whole: boolean }) {
  const wholeAt = (id: string) => `get_task(task_id="${id}", request_full_payload=true)`
  switch (found.kind) {
    case 'task': {
      const read = presentTask(found.task)
      const task = whole ? read : shorten(read, ['completion_outputs'], wholeAt(read.id))
      const { part, next } = pageOfText(task.instructions, offset)
      return { kind: found.kind, task: withoutLongFields({ ...task, instructions: part }, ['completion_outputs', 'description']), next_offset: next }
    }
    case 'subtask': {
      const read = presentSubtask(found.subtask)
      const subtask = whole ? read : shorten(read, ['result', 'outputs'], wholeAt(read.id))
      const { part, next } = pageOfText(subtask.result ?? '', offset)
      const result = subtask.result === null ? null : part
      return { kind: found.kind, subtask: withoutLongFields({ ...subtask, result }, ['outputs', 'task']), next_offset: next }
    }
    case 'schedule':
      return { kind: found.kind, schedule: presentSchedule(found.schedule), next_offset: null }
  }
}

/** A field that is too long for the answer is null, and named in `left_out`. */
function withoutLongFields<Body extends object>(body: Body, fields: readonly (keyof Body & string)[]): Body & { left_out?: string[] } {
  const long = fields.filter((field) => JSON.stringify(body[field] ?? null).length > TEXT_LENGTH_MAX)
  return long.length === 0 ? body : { ...body, ...Object.fromEntries(long.map((field) => [field, null])), left_out: long }
}
