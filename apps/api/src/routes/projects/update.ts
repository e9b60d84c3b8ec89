import { updateProject } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/schemas.ts'
import { presentProject, projectPatchSchema, projectSchema } from './project-schema.ts'

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
  answers: { 200: { description: 'The project as it is now.', schema: projectSchema } },
  errors: ['not_found'],
  handle: ({ ctx, params, body }) => updateProject(ctx, params.id, body),
  answer: (project) => ({ status: 200, body: presentProject(project) }),
})
