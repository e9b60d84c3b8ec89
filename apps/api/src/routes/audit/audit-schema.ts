import { AUDIT_DOORS, type AuditEntry } from '@muster/domain'
import { z } from 'zod'
import { component, listComponent, referenceSchema, text, time, toTime } from '../../http/schemas.ts'

const auditDoorSchema = component(
  'AuditDoor',
  z.enum(AUDIT_DOORS).describe('`http` for REST, `mcp` for a tool, `script` for a command on the machine, `telegram` for a person in the chat of the project.'),
)

export const auditEntrySchema = component(
  'AuditEntry',
  z.object({
    seq: z.int().describe('Its place in the log, in the order of the writes, with gaps.'),
    at: time(),
    actor: referenceSchema.describe(
      'Who wrote: `key`, `open`, `subtask`, `session` or `system`. `GET /api-keys` has the names of keys; `name` is the session that an open caller named.',
    ),
    door: auditDoorSchema,
    address: z.string().nullable().describe('Address of the caller, as the server saw it; null for a command.'),
    operation: z.string().describe('The `operationId`, the name of the tool, or the command.'),
    request_id: z.string().nullable().describe('The `X-Request-Id` of the answer, also in the logs.'),
    ids: z.record(z.string(), z.string()).describe('What the request names, and what it has made.'),
    fields: z.array(z.string()).describe('Names of the fields that the request sets; never their values.'),
  }),
  {
    seq: 4_711,
    at: '2026-03-02T08:00:00.000Z',
    actor: { kind: 'key', id: '0198c9a0-0000-7000-8000-00000000000a', name: null },
    door: 'http',
    address: '10.0.0.7',
    operation: 'updateProject',
    request_id: '3f8e0f3a-1c2b-4a5d-9e6f-7a8b9c0d1e2f',
    ids: { id: '00000000-0000-0000-0000-000000000001' },
    fields: ['settings.limits'],
  },
)

export const auditListSchema = listComponent('AuditList', auditEntrySchema)

const instant = (description: string) =>
  z.iso
    .datetime({ offset: true })
    .transform((value) => new Date(value))
    .optional()
    .describe(description)
    .meta({ examples: ['2026-03-01T00:00:00Z'] })

export const auditFilters = {
  actor: text(128)
    .optional()
    .describe('Only writes of this actor, by its id.')
    .meta({ examples: ['0198c9a0-0000-7000-8000-00000000000a'] }),
  operation: text(64)
    .optional()
    .describe('Only this operation, tool or command.')
    .meta({ examples: ['createApiKey'] }),
  subject: text(128)
    .optional()
    .describe('Only writes that name or have made what has this id.')
    .meta({ examples: ['0198c9a0-0000-7000-8000-00000000000a'] }),
  door: auditDoorSchema.optional(),
  since: instant('Only writes at this time or later.'),
  until: instant('Only writes before this time.'),
}

export function toAuditFilter({
  actor,
  operation,
  subject,
  door,
  since,
  until,
}: { [Name in keyof typeof auditFilters]?: z.output<(typeof auditFilters)[Name]> }) {
  return { actorId: actor, operation, subject, door, since, until }
}

export function presentAuditEntry({ seq, at, actor, origin }: AuditEntry): z.output<typeof auditEntrySchema> {
  const { door, address, operation, requestId, ids, fields } = origin
  return { seq, at: toTime(at), actor, door, address, operation, request_id: requestId, ids, fields: [...fields] }
}
