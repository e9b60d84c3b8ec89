import { RECEIVER_KINDS, RECEIVER_STATUSES, type ReceiverKind, type ReceiverStatus } from '@muster/domain'
import { sql } from 'drizzle-orm'
import { boolean, check, index, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import { instant, instantNow, oneOf, projectId } from './columns.ts'

/** What events are delivered to. The relay compares each event with those of its project. */
export const receivers = pgTable(
  'receivers',
  {
    projectId: projectId(),
    id: uuid().primaryKey(),
    kind: text().$type<ReceiverKind>().notNull(),
    status: text().$type<ReceiverStatus>().notNull().default('enabled'),
    /** Whose failures and concurrent deliveries count together: the receiver itself, the host of callbacks, or the bot of chats. */
    destinationId: uuid().notNull(),
    url: text(),
    description: text(),
    /** Patterns of the types that it receives. */
    events: text().array().notNull(),
    /** Only events of this subject; of a guide, derived from its name. */
    subjectId: uuid(),
    subjectName: text(),
    agentId: text(),
    sessionId: text(),
    /** Events of one subject are delivered one after the other. */
    isOrdered: boolean().notNull().default(false),
    /** Sealed with a key of SECRETS_KEYS, as is the one before, which is used beside it until its time. */
    secret: text(),
    previousSecret: text(),
    previousUntil: instant(),
    /** Of a channel for people: where it goes and when. */
    options: jsonb().$type<Record<string, unknown>>().notNull().default({}),
    disabledReason: text(),
    disabledAt: instant(),
    createdAt: instantNow(),
  },
  (table) => [
    check('receivers_kind', oneOf('kind', RECEIVER_KINDS)),
    check('receivers_status', oneOf('status', RECEIVER_STATUSES)),
    check('receivers_callback', sql`(kind = 'callback') <= (subject_id is not null)`),
    index('receivers_by_project').on(table.projectId, table.id).where(sql`kind <> 'callback'`),
    index('receivers_chats').on(table.id).where(sql`kind = 'telegram'`),
    index('receivers_callbacks').on(table.projectId, table.subjectId).where(sql`kind = 'callback'`),
  ],
)
