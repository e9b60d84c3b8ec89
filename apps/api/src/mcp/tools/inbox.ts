import { claimInbox } from '@muster/usecases'
import { z } from 'zod'
import { printableId } from '../../http/schemas.ts'
import { fieldProblem, validationFailed } from '../../http/validation.ts'
import { presentClaimedInbox } from '../../routes/sessions/inbox-schema.ts'
import { mcpTool } from '../tool.ts'
import { presentResult } from './any-work.ts'

export const claimInboxTool = mcpTool({
  name: 'claim_inbox',
  title: 'Claim results',
  description: 'Takes the waiting results out of the inbox of a session, each exactly once. get_task with request_full_payload has a long result in full.',
  effect: 'adds',
  isTraffic: true,
  tier: 'core',
  scopes: ['sessions:write'],
  input: z.strictObject({
    session_id: printableId('Default: your own.', 'research-1').optional(),
    limit: z.int().min(1).max(50).default(10),
  }),
  output: z.object({ items: z.array(z.looseObject({ inbox_id: z.string(), kind: z.string(), status: z.string() })), has_more: z.boolean() }),
  async handle({ ctx, sessionId }, { session_id = sessionId, limit }) {
    if (session_id === undefined) throw validationFailed([fieldProblem('/session_id', 'is required, because this connection names no session')])
    const { items, has_more } = presentClaimedInbox(await claimInbox(ctx, session_id, { limit, ack: 'auto' }))
    return {
      items: items.map(({ result, truncated, ...item }) => {
        const shown = presentResult(result)
        return { ...item, result: shown.result, truncated: truncated || shown.truncated }
      }),
      has_more,
    }
  },
})
