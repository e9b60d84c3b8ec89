import { type ImportedFile, importSubagents } from '@muster/usecases'
import { z } from 'zod'
import { endpoint } from '../../http/endpoint.ts'
import { filesBodySchema } from '../../http/files-body.ts'
import { component } from '../../http/schemas.ts'
import { presentProblem, problemSchema } from './subagent-schema.ts'

const outcomeSchema = component(
  'SubagentImportOutcome',
  z
    .enum(['imported', 'renamed', 'refused', 'ignored'])
    .describe(
      'imported: stored. renamed: stored under a valid form of its name; `title` keeps the original. refused: see `errors`. ignored: a Markdown file that defines no sub-agent.',
    ),
)

const rowSchema = component(
  'SubagentImportRow',
  z.object({
    path: z.string().describe('The path of the file in the collection.'),
    outcome: outcomeSchema,
    name: z.string().nullable().describe('The name of the sub-agent; null if the file has none.'),
    title: z.string().nullable().describe('The original name of a renamed definition.'),
    version: z.int().nullable().describe('The version that a run started now would use; null if the file was not imported.'),
    errors: z.array(problemSchema).describe('Why the file was refused.'),
    warnings: z.array(problemSchema).describe('Possible mistakes in the definition.'),
  }),
)

const countSchema = z.int()

const subagentImportSchema = component(
  'SubagentImport',
  z.object({
    items: z.array(rowSchema).describe('A row for each Markdown file, in the order of the collection.'),
    imported: countSchema.describe('The number of imported definitions, including renamed ones.'),
    renamed: countSchema,
    refused: countSchema,
    ignored: countSchema,
  }),
  {
    items: [
      { path: 'agents/reviewer.md', outcome: 'imported', name: 'reviewer', title: null, version: 1, errors: [], warnings: [] },
      {
        path: 'agents/powershell.md',
        outcome: 'renamed',
        name: 'powershell-5-1-expert',
        title: 'powershell-5.1-expert',
        version: 1,
        errors: [],
        warnings: [
          {
            line: 2,
            field: 'name',
            pointer: '/name',
            reason: 'is "powershell-5.1-expert", which is kept as its title: here it goes by the name powershell-5-1-expert',
          },
        ],
      },
    ],
    imported: 2,
    renamed: 1,
    refused: 0,
    ignored: 0,
  },
)

function presentImport(files: readonly ImportedFile[]): z.output<typeof subagentImportSchema> {
  const count = (...outcomes: ImportedFile['outcome'][]) => files.filter(({ outcome }) => outcomes.includes(outcome)).length
  return {
    items: files.map(({ problems, ...row }) => ({
      ...row,
      errors: row.outcome === 'refused' ? problems.map(presentProblem) : [],
      warnings: row.outcome === 'refused' ? [] : problems.map(presentProblem),
    })),
    imported: count('imported', 'renamed'),
    renamed: count('renamed'),
    refused: count('refused'),
    ignored: count('ignored'),
  }
}

export const importSubagentsEndpoint = endpoint({
  operationId: 'importSubagents',
  method: 'POST',
  path: '/subagents/import',
  tag: 'Sub-agents',
  summary: 'Import a collection of sub-agents',
  description:
    'Takes a zip, a tar (also gzipped) or a multipart form of Markdown files, including folders. Each definition is stored under its `name`, otherwise its file name. An unusable file does not stop the others.',
  access: 'subagents:write',
  body: filesBodySchema,
  takesFiles: true,
  bodyBytesMax: 8_388_608,
  deadlineMs: 30_000,
  answers: { 200: { description: 'The outcome of each file.', schema: subagentImportSchema } },
  errors: ['secrets_not_configured'],
  handle: ({ ctx, body }) => importSubagents(ctx, body.files),
  answer: (files) => ({ status: 200, body: presentImport(files) }),
})
