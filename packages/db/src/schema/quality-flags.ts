import { FLAG_SUBJECTS, type FlagSubject, QUALITIES, type Quality } from '@muster/domain'
import { boolean, check, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import { instantNow, oneOf, projectId } from './columns.ts'

/** The quality of tasks and subtasks according to people and controllers. The last flag of each counts. [D2] flag_sequence_quality */
export const qualityFlags = pgTable(
  'quality_flags',
  {
    projectId: projectId(),
    subjectKind: text().$type<FlagSubject>().notNull(),
    subjectId: uuid().notNull(),
    /** The latest evaluation at the time of the flag. */
    evaluationId: uuid(),
    quality: text().$type<Quality>().notNull(),
    tags: text().array().notNull(),
    trainingCandidate: boolean().notNull().default(false),
    authorKind: text().notNull(),
    authorId: text().notNull(),
    createdAt: instantNow(),
    updatedAt: instantNow(),
  },
  (table) => [
    primaryKey({ columns: [table.projectId, table.subjectKind, table.subjectId] }),
    check('quality_flags_subject', oneOf('subject_kind', FLAG_SUBJECTS)),
    check('quality_flags_quality', oneOf('quality', QUALITIES)),
  ],
)
