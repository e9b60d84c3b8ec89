import { getProject } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { idParams } from '../../http/schemas.ts'
import { presentProject, projectSchema } from './project-schema.ts'

export const getProjectEndpoint = endpoint({
  operationId: 'getProject',
  method: 'GET',
  path: '/projects/{id}',
  tag: 'Projects',
  summary: 'Read the project',
  description: 'The project of the credential, with its settings.',
  access: 'admin',
  params: idParams('project'),
  answers: { 200: { description: 'The project.', schema: projectSchema } },
  errors: ['not_found'],
  handle: ({ ctx, params }) => getProject(ctx, params.id),
  answer: (project) => ({ status: 200, body: presentProject(project) }),
})
