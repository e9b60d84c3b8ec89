import { updateProject } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { TAG_HEADERS } from '../../http/entity-tag.ts'
import { expectedTag } from '../../http/if-match.ts'
import { idParams } from '../../http/schemas.ts'
import { projectAnswer, projectPatchSchema, projectSchema, projectTag } from './project-schema.ts'

export const updateProjectEndpoint = endpoint({
  operationId: 'updateProject',
  method: 'PATCH',
  path: '/projects/{id}',
  tag: 'Projects',
  summary: 'Change the project',
  description: 'Changes the name or the settings. New limits apply from the next subtask.',
  access: 'admin',
  needsNoRoom: 'it sets the limits',
  params: idParams('project'),
  body: projectPatchSchema,
  takesIfMatch: 'optional',
  answers: { 200: { description: 'The project as it is now.', schema: projectSchema, headers: TAG_HEADERS } },
  errors: ['not_found', 'revision_stale'],
  handle: ({ ctx, params, patched, headers }) => updateProject(ctx, params.id, patched, expectedTag(headers, projectTag)),
  answer: projectAnswer,
})
