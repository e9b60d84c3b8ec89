import { clock, taskDependencies, tsgs } from '@muster/db'
import {
  type BriefFields,
  type BriefWarning,
  briefFiles,
  briefRefused,
  type CleanBrief,
  cleanBrief,
  type FieldProblem,
  fileWarning,
  requireScope,
  requireSpawnAllowed,
  withFileChecks,
  withWarnings,
} from '@muster/domain'
import { type Ctx, inProject, reading } from '../core/ctx.ts'
import { checkFiles } from './check-files.ts'

export interface ValidatedTask {
  cleaned: CleanBrief
  warnings: BriefWarning[]
  at: Date
}

/**
 * Validates a brief as `createTask` does, and stores nothing.
 *
 * @throws DomainError `validation_failed` with all problems and warnings
 */
export async function validateTask(ctx: Ctx, fields: BriefFields, problems: readonly FieldProblem[] = []): Promise<ValidatedTask> {
  requireSpawnAllowed(ctx.actor)
  requireScope(ctx.actor, 'tasks:write')
  const validated = await validateBrief(ctx, fields, problems)
  // Stores the answer alone, for callers that repeat a request with its idempotency key.
  return await inProject(ctx, async () => validated)
}

/**
 * Cleans a brief and checks what it names: its files, its guides and its dependencies. Creating, revising and validating all use it. [EN] 4 and 5
 *
 * @param known problems that the endpoint has found already; the error lists them with the others
 * @throws DomainError `validation_failed`
 */
export async function validateBrief(ctx: Ctx, fields: BriefFields, known: readonly FieldProblem[] = []): Promise<ValidatedTask> {
  const at = await clock.readClock(ctx.db)
  const { cleaned, problems, warnings } = cleanBrief(fields, at, Object.keys(ctx.settings.CHECKS))
  const all = [...known, ...problems, ...(problems.length === 0 ? await unknownRefs(ctx, cleaned) : [])]
  const checks = await checkFiles(briefFiles(cleaned.context, cleaned.clientCwd), ctx.settings.WORKSPACE_ROOTS)
  // A file that the server may not look for is no fault of the brief.
  const aboutFiles = checks.filter(({ status }) => status === 'not_found').map((check) => fileWarning(check, at))
  const allWarnings = [...warnings, ...aboutFiles]
  if (all.length > 0) throw briefRefused(all, allWarnings)
  return { cleaned: withWarnings(withFileChecks(cleaned, checks), aboutFiles), warnings: allWarnings, at }
}

/** The guides and dependencies that a brief names and that do not exist. */
async function unknownRefs(ctx: Ctx, { tsgIds, dependsOn }: CleanBrief): Promise<FieldProblem[]> {
  if (tsgIds.length + dependsOn.length === 0) return []
  const { projectId } = ctx.actor
  return await reading(ctx, async (tx) => {
    const [guides, tasks] = await Promise.all([tsgs.lockTsgs(tx, projectId, tsgIds), taskDependencies.findStatuses(tx, dependsOn)])
    return [
      ...unknownTsgs(
        tsgIds,
        guides.map((guide) => guide.tsgId),
      ),
      ...unknownTasks(
        dependsOn,
        tasks.map((task) => task.taskId),
      ),
    ]
  })
}

export function unknownTsgs(wanted: readonly string[], known: readonly string[]): FieldProblem[] {
  return unknown('tsgs', wanted, known, 'There is no such troubleshooting guide')
}

export function unknownTasks(wanted: readonly string[], known: readonly string[]): FieldProblem[] {
  return unknown('depends_on', wanted, known, 'There is no such task')
}

function unknown(field: string, wanted: readonly string[], known: readonly string[], reason: string): FieldProblem[] {
  return wanted.flatMap((value, index) => (known.includes(value) ? [] : [{ pointer: `/${field}/${index}`, field: `${field}[${index}]`, reason, value }]))
}
