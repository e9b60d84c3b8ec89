import { isTerminal } from '@muster/domain'
import { type Ctx, getChangedSubtask } from '@muster/usecases'
import { z } from 'zod'
import type { ApiDeps } from '../../api-deps.ts'
import type { CachedDocument } from '../../http/document-cache.ts'
import { endpoint } from '../../http/endpoint.ts'
import { contentTag, NOT_MODIFIED, TAG_HEADERS } from '../../http/entity-tag.ts'
import { idParams, queryNumber } from '../../http/schemas.ts'
import { presentSubtask, subtaskSchema } from './subtask-schema.ts'
import { inTimeForLook, WAIT_DEADLINE_MS, WAIT_SECONDS_MAX, waitForEnd } from './wait-for-end.ts'

/** A subtask that ended hardly changes any more: its document is made once, and kept as long as the database has the same version. */
async function readDocument(ctx: Ctx, { subtaskDocuments }: ApiDeps, id: string): Promise<CachedDocument> {
  const key = `${ctx.actor.projectId} ${id}`
  const known = subtaskDocuments.get(key)
  const read = await getChangedSubtask(ctx, id, known?.version ?? null)
  if (read === null) return known as CachedDocument
  const { status } = read.subtask
  const text = JSON.stringify(presentSubtask(read.subtask))
  const document = { status, version: read.version, text, tag: contentTag(text) }
  if (isTerminal(status)) subtaskDocuments.set(key, document)
  return document
}

export const getSubtaskEndpoint = endpoint({
  operationId: 'getSubtask',
  method: 'GET',
  path: '/subtasks/{id}',
  tag: 'Subtasks',
  summary: 'Read a subtask',
  description: 'With `wait_seconds`, answers when the subtask ends, at the latest when the time is over.',
  access: 'subtasks:read',
  params: idParams('subtask'),
  query: z.strictObject({
    wait_seconds: queryNumber(0, WAIT_SECONDS_MAX).default(0).describe('Seconds to wait for the end.'),
  }),
  takesIfNoneMatch: true,
  answers: {
    200: { description: 'The subtask.', schema: subtaskSchema, headers: TAG_HEADERS },
    304: NOT_MODIFIED,
  },
  errors: ['not_found'],
  deadlineMs: WAIT_DEADLINE_MS,
  async handle({ ctx, deps, params, query, gone, elapsedMs, authorizeAgain }) {
    let spentMs = elapsedMs()
    const look = () => {
      const looking = inTimeForLook(readDocument(ctx, deps, params.id), spentMs)
      spentMs = 0
      return looking
    }
    if (query.wait_seconds === 0) return await look()
    return await waitForEnd(deps, params.id, look, { ms: query.wait_seconds * 1000, gone: gone(), authorizeAgain })
  },
  answer: ({ text, tag }) => ({ status: 200, headers: { 'content-type': 'application/json; charset=utf-8', etag: tag }, body: text }),
})
