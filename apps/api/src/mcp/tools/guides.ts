import { createTsg, getTsg, listTsgs, recordTsgFeedback, scanTsgs, updateTsg } from '@muster/usecases'
import { z } from 'zod'
import { text } from '../../http/schemas.ts'
import { newTsgSchema, presentScannedTsg, presentTsg, presentTsgSummary, presentTsgUsage, tsgId, tsgPatchSchema } from '../../routes/guides/tsg-schema.ts'
import { mcpTool } from '../tool.ts'

const { title, content, patterns, applicability } = newTsgSchema.shape
const named = z.object({ tsg_id: z.string() })

export const createTsgTool = mcpTool({
  name: 'create_tsg',
  title: 'Write a guide',
  description: 'Stores a troubleshooting guide. Agents are pointed to it whenever one of its patterns occurs in a failure.',
  effect: 'adds',
  tier: 'all',
  scopes: ['tsgs:write'],
  input: z.strictObject({ title, content, patterns, applicability }),
  output: named,
  handle: async ({ ctx }, guide) => ({ tsg_id: (await createTsg(ctx, guide)).tsgId }),
})

export const updateTsgTool = mcpTool({
  name: 'update_tsg',
  title: 'Change a guide',
  description: 'Changes the content or the patterns of a troubleshooting guide.',
  effect: 'sets',
  tier: 'all',
  scopes: ['tsgs:write'],
  input: z.strictObject({ tsg_id: tsgId, content: tsgPatchSchema.shape.content, patterns: tsgPatchSchema.shape.patterns }),
  output: named,
  handle: async ({ ctx }, { tsg_id, ...change }) => ({ tsg_id: (await updateTsg(ctx, tsg_id, change)).tsgId }),
})

export const listTsgsTool = mcpTool({
  name: 'list_tsgs',
  title: 'List guides',
  description: 'Lists the newest troubleshooting guides, without their contents.',
  effect: 'reads',
  tier: 'all',
  scopes: ['tsgs:read'],
  input: z.strictObject({ limit: z.int().min(1).max(200).default(20) }),
  output: z.object({ tsgs: z.array(z.looseObject({ tsg_id: z.string(), title: z.string() })), has_more: z.boolean() }),
  async handle({ ctx }, { limit }) {
    const { items, nextCursor } = await listTsgs(ctx, { limit })
    return { tsgs: items.map(presentTsgSummary), has_more: nextCursor !== null }
  },
})

export const readTsgTool = mcpTool({
  name: 'read_tsg',
  title: 'Read a troubleshooting guide',
  description:
    'What to do about a failure, in Markdown. Call it with the id of a [Troubleshooting Guide Available …] notice, and say afterwards with mark_tsg_helpful whether it helped.',
  effect: 'reads',
  tier: 'standard',
  scopes: ['tsgs:read'],
  forSubagents: 'all',
  input: z.strictObject({ tsg_id: tsgId }),
  output: z.looseObject({ tsg_id: z.string(), title: z.string(), content: z.string() }),
  handle: async ({ ctx, sessionId }, { tsg_id: id }) => presentTsg(await getTsg(ctx, id, { sessionId, isAgent: true })),
})

export const scanForTsgTool = mcpTool({
  name: 'scan_for_tsg',
  title: 'Find guides for an error',
  description: 'Finds troubleshooting guides that match an error message, best first.',
  effect: 'adds',
  isTraffic: true,
  tier: 'standard',
  scopes: ['tsgs:read'],
  forSubagents: 'all',
  input: z.strictObject({ error_message: text(100_000), context: text(100_000).optional().describe('What happened around it.') }),
  output: z.object({ items: z.array(z.looseObject({ tsg_id: z.string(), title: z.string(), matched_pattern: z.string() })) }),
  async handle({ ctx, sessionId }, { error_message: errorMessage, context }) {
    return { items: (await scanTsgs(ctx, { errorMessage, context, sessionId })).map(presentScannedTsg) }
  },
})

export const markTsgHelpfulTool = mcpTool({
  name: 'mark_tsg_helpful',
  title: 'Say whether a guide helped',
  description: 'Call it once after following a troubleshooting guide: it is the reader who knows.',
  effect: 'adds',
  tier: 'standard',
  scopes: ['tsgs:read'],
  forSubagents: 'all',
  input: z.strictObject({ tsg_id: tsgId, resolved: z.boolean().describe('Whether the failure is gone.') }),
  output: z.looseObject({ tsg_id: z.string(), resolved: z.number() }),
  async handle({ ctx, sessionId }, { tsg_id, resolved }) {
    const { tsgId, usage } = await recordTsgFeedback(ctx, tsg_id, { resolved, sessionId })
    return presentTsgUsage(tsgId, usage)
  },
})
