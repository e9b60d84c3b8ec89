import { getTsg } from '@muster/usecases'
import { z } from 'zod'
import { presentTsg, tsgId, tsgSchema } from '../../routes/guides/tsg-schema.ts'
import { mcpTool } from '../tool.ts'

export const readTsgTool = mcpTool({
  name: 'read_tsg',
  title: 'Read a troubleshooting guide',
  description:
    'What to do about a failure, in Markdown. Call it with the id of a [Troubleshooting Guide Available …] notice, and say afterwards with mark_tsg_helpful whether it helped.',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({ tsg_id: tsgId }),
  output: tsgSchema,
  handle: async ({ ctx, sessionId }, { tsg_id: id }) => presentTsg(await getTsg(ctx, id, { sessionId })),
})
