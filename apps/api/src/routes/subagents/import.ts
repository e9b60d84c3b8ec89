import { importSubagents } from '@muster/usecases'
import { endpoint } from '../../http/endpoint.ts'
import { filesBodySchema } from '../../http/files-body.ts'
import { presentImport, subagentImportSchema } from './subagent-import-schema.ts'

export const importSubagentsEndpoint = endpoint({
  operationId: 'importSubagents',
  method: 'POST',
  path: '/subagents/import',
  tag: 'Sub-agents',
  summary: 'Import a collection of sub-agents',
  description:
    'Takes a zip, a tar (also gzipped) or a multipart form of Markdown files, including folders. Each definition is stored under its `name`, otherwise under its file name. The answer has one row for each Markdown file; an unusable file does not stop the others.',
  access: 'subagents:write',
  body: filesBodySchema,
  takesFiles: true,
  bodyBytesMax: 8_388_608,
  deadlineMs: 30_000,
  answers: { 200: { description: 'The outcome of each file.', schema: subagentImportSchema } },
  handle: ({ ctx, body }) => importSubagents(ctx, body.files),
  answer: (files) => ({ status: 200, body: presentImport(files) }),
})
