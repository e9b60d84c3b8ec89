import { SCOPES } from '@muster/domain'
import type { ApiKey } from '@muster/usecases'
import { z } from 'zod'
import { component, listComponent, printableId, requestComponent, text, time, toTime, toTimeOrNull } from '../../http/schemas.ts'

const scopeSchema = component('Scope', z.enum(SCOPES).describe('What a credential may do. `admin` may do everything in its project.'))

const apiKeyShape = {
  id: z.uuid(),
  project_id: z.uuid().describe('The project that it opens.'),
  name: z.string(),
  key_prefix: z.string().describe('The first characters, to identify the key.'),
  scopes: z.array(scopeSchema),
  agent_id: z.string().nullable().describe('The agent that the key is bound to, if any.'),
  created_at: time(),
  expires_at: time('When it stops working.').nullable(),
  revoked_at: time().nullable(),
}

const EXAMPLE: z.output<typeof apiKeySchema> = {
  id: '0198c9a0-0000-7000-8000-00000000000a',
  project_id: '00000000-0000-7000-8000-000000000001',
  name: 'controller',
  key_prefix: 'mst_4Zk8',
  scopes: ['subtasks:read', 'subtasks:write'],
  agent_id: null,
  created_at: '2026-03-02T07:59:00.000Z',
  expires_at: null,
  revoked_at: null,
}

const apiKeySchema = component('ApiKey', z.object(apiKeyShape))

export const apiKeyListSchema = listComponent('ApiKeyList', apiKeySchema)

export const createdApiKeySchema = component(
  'CreatedApiKey',
  z.object({
    ...apiKeyShape,
    key: z.string().nullable().describe('Shown once; null when the answer is repeated.'),
  }),
  { ...EXAMPLE, key: 'mst_4Zk8…' },
)

export const newApiKeySchema = requestComponent(
  'NewApiKey',
  z.strictObject({
    name: text(128),
    scopes: z
      .array(scopeSchema)
      .min(1)
      .max(SCOPES.length)
      .transform((scopes) => [...new Set(scopes)]),
    agent_id: printableId('Binds the key to one agent: it overrides what requests say.', 'docs-writer').nullish(),
    expires_at: z.iso
      .datetime({ offset: true })
      .transform((value) => new Date(value))
      .nullish()
      .describe('When the key expires, in the future. Default: never.'),
  }),
  { name: 'controller', scopes: ['subtasks:read', 'subtasks:write', 'sessions:write'] },
)

export function presentApiKey(key: ApiKey): z.output<typeof apiKeySchema> {
  return {
    id: key.id,
    project_id: key.projectId,
    name: key.name,
    key_prefix: key.keyPrefix,
    // The column holds only what was checked when the key was made.
    scopes: [...key.scopes] as z.output<typeof scopeSchema>[],
    agent_id: key.agentId,
    created_at: toTime(key.createdAt),
    expires_at: toTimeOrNull(key.expiresAt),
    revoked_at: toTimeOrNull(key.revokedAt),
  }
}
