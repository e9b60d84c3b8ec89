import { getProject } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { NOT_MODIFIED, TAG_HEADERS } from '../../http/entity-tag.ts'
import { idParams } from '../../http/schemas.ts'
import { projectAnswer, projectSchema } from './project-schema.ts'

export const getProjectEndpoint = endpoint({
  operationId: 'getProject',
  method: 'GET',
  path: '/projects/{id}',
  tag: 'Projects',
  summary: 'Read the project',
  description: 'The project of the credential, with its settings.',
  access: 'admin',
  params: idParams('project'),
  takesIfNoneMatch: true,
  answers: { 200: { description: 'The project.', schema: projectSchema, headers: TAG_HEADERS }, 304: NOT_MODIFIED },
  errors: ['not_found'],
  handle: ({ ctx, params }) => getProject(ctx, params.id),
  answer: projectAnswer,
})
