import { toBriefFields } from '@muster/domain'
import { reviseTask } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { entityTag, expectedRevision } from '../../http/if-match.ts'
import { idParams } from '../../http/schemas.ts'
import { presentRevisedTask, revisedTaskSchema, taskPatchSchema } from './brief-schema.ts'
import { TASK_HEADERS } from './task-schema.ts'

export const reviseTaskEndpoint = endpoint({
  operationId: 'reviseTask',
  method: 'PATCH',
  path: '/tasks/{id}',
  tag: 'Tasks',
  summary: 'Revise a task',
  description:
    'Changes the brief and sends the assignee an update. Items of `acceptance_criteria` are texts or `{id, text}`: a criterion keeps its id if the id is sent or the text is unchanged. A request that changes nothing creates no revision.',
  access: 'tasks:write',
  params: idParams('task'),
  body: taskPatchSchema,
  takesIfMatch: 'required',
  answers: { 200: { description: 'The next revision.', schema: revisedTaskSchema, headers: TASK_HEADERS } },
  errors: ['not_found', 'invalid_transition', 'revision_stale', 'revision_required', 'dependency_cycle'],
  handle: ({ ctx, params, patched, headers }) => reviseTask(ctx, params.id, (task) => patched(toBriefFields(task)), expectedRevision(headers)),
  answer: (revised) => ({ status: 200, headers: { etag: entityTag(revised.task.revision) }, body: presentRevisedTask(revised) }),
})
