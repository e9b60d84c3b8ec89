import { putTsg } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { TAG_HEADERS, tagged } from '../../http/entity-tag.ts'
import { expectedTag } from '../../http/if-match.ts'
import { fieldProblem, validationFailed } from '../../http/validation.ts'
import { presentTsg, tsgMarkdownSchema, tsgParams, tsgSchema, tsgTag } from './tsg-schema.ts'

export const putTsgEndpoint = endpoint({
  operationId: 'putTsg',
  method: 'PUT',
  path: '/tsgs/{tsg_id}',
  tag: 'Troubleshooting guides',
  summary: 'Import a guide',
  description: 'Creates or replaces a guide, as Markdown with front matter. Fields that the front matter omits get their defaults.',
  access: 'tsgs:write',
  params: tsgParams,
  markdown: tsgMarkdownSchema,
  takesIfMatch: 'optional',
  answers: {
    200: { description: 'Replaced the existing guide.', schema: tsgSchema, headers: TAG_HEADERS },
    201: { description: 'Created.', schema: tsgSchema, headers: ['Location', 'ETag'] },
  },
  errors: ['revision_stale'],
  async handle({ ctx, params, headers, body: { id, tsg_id, ...content } }) {
    for (const [name, given] of Object.entries({ id, tsg_id })) {
      if (given === undefined || given === params.tsg_id) continue
      throw validationFailed([fieldProblem(`/${name}`, `must be ${params.tsg_id}, as the path has it, or absent`, given)])
    }
    return putTsg(ctx, params.tsg_id, content, expectedTag(headers, tsgTag))
  },
  answer: ({ tsg, created }) => (created ? tagged(presentTsg(tsg), 201, { location: `/tsgs/${tsg.tsgId}` }) : tagged(presentTsg(tsg))),
})
