import { recordTsgFeedback } from '@muster/usecases'
import { z } from 'zod'
import { presentTsgUsage, tsgId, tsgUsageSchema } from '../../routes/guides/tsg-schema.ts'
import { mcpTool } from '../tool.ts'

export const markTsgHelpfulTool = mcpTool({
  name: 'mark_tsg_helpful',
  title: 'Say whether a guide helped',
  description: 'Call it once after following a troubleshooting guide: it is the reader who knows.',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  input: z.strictObject({ tsg_id: tsgId, resolved: z.boolean().describe('Whether the failure is gone.') }),
  output: tsgUsageSchema,
  handle: async ({ ctx, sessionId }, { tsg_id, resolved }) => {
    const { tsgId, usage } = await recordTsgFeedback(ctx, tsg_id, { resolved, sessionId })
    return presentTsgUsage(tsgId, usage)
  },
})
