import { reviseTask } from '@muster/usecases'
import { endpoint } from '../../endpoint.ts'
import { entityTag, expectedRevision } from '../../if-match.ts'
import { idParams } from '../../schemas/fields.ts'
import { taskPatchSchema } from '../../schemas/new-task.ts'
import { TASK_HEADERS } from '../../schemas/task.ts'
import { presentRevisedTask, revisedTaskSchema } from '../../schemas/task-changes.ts'

export const reviseTaskEndpoint = endpoint({
  operationId: 'reviseTask',
  method: 'PATCH',
  path: '/tasks/{id}',
  tag: 'Tasks',
  summary: 'Revise a task',
  description:
    'Changes the brief and tells whoever holds it. Items of `acceptance_criteria` are texts or `{id, text}`: one keeps its id when that is sent or its text is unchanged. A change that changes nothing makes no revision.',
  access: 'tasks:write',
  params: idParams('task'),
  body: taskPatchSchema,
  takesIfMatch: true,
  answers: { 200: { description: 'The next revision.', schema: revisedTaskSchema, headers: TASK_HEADERS } },
  errors: ['not_found', 'invalid_transition', 'revision_stale', 'revision_required', 'dependency_cycle'],
  handle: ({ ctx, params, body, headers }) => reviseTask(ctx, params.id, body, expectedRevision(headers)),
  answer: (revised) => ({ status: 200, headers: { etag: entityTag(revised.task.revision) }, body: presentRevisedTask(revised) }),
})
