import { tsgs } from '@muster/db'
import {
  cutToCodePoints,
  DomainError,
  type FieldProblem,
  requireFound,
  requireScope,
  slugTsgId,
  suffixTsgId,
  type Tsg,
  type TsgMatch,
  type TsgSeverity,
  tsgPatternProblem,
} from '@muster/domain'
import { type Ctx, inProject } from '../core/ctx.ts'
import { type ChangeOf, type Precondition, toChange } from '../core/precondition.ts'

/** The content of a guide. */
export interface TsgContent {
  title: string
  /** Markdown. */
  content: string
  patterns: string[]
  match?: TsgMatch | undefined
  applicability?: { technologies: string[] } | undefined
  severity?: TsgSeverity | undefined
}

/** Ids that are tried one after the other for guides whose titles are alike; the next one gets a random ending. */
const NUMBERED_IDS = 9
const SHOWN_PATTERN_MAX = 100

/**
 * Stores a guide. Without an id it gets one from its title, with a number where that is taken. [B5] create_tsg
 *
 * @throws DomainError `validation_failed` for a pattern that cannot be one, `conflict` where the id is taken
 */
export async function createTsg(ctx: Ctx, input: TsgContent & { tsgId?: string | undefined }): Promise<Tsg> {
  requireScope(ctx.actor, 'tsgs:write')
  const content = checkTsgContent(input)
  const { projectId } = ctx.actor
  return await inProject(ctx, async (tx) => {
    await tsgs.announceTsgChange(tx, projectId)
    for (const tsgId of input.tsgId === undefined ? idsFor(input.title, ctx.newId()) : [input.tsgId]) {
      const inserted = await tsgs.insertTsg(tx, projectId, { tsgId, ...content })
      if (inserted !== null) return inserted
    }
    throw new DomainError('conflict', `There is already a guide ${input.tsgId}. Change it, or choose another tsg_id.`, { tsg_id: input.tsgId })
  })
}

function idsFor(title: string, newId: string): string[] {
  const slug = slugTsgId(title)
  const numbered = Array.from({ length: NUMBERED_IDS - 1 }, (_, place) => suffixTsgId(slug, String(place + 2)))
  return [slug, ...numbered, suffixTsgId(slug, newId.slice(-12))]
}

/**
 * Fills in what was left out, and leaves out what is there twice.
 *
 * @throws DomainError `validation_failed`, naming every pattern that cannot be one
 */
function checkTsgContent(input: TsgContent): Required<{ [Field in keyof TsgContent]: NonNullable<TsgContent[Field]> }> {
  const { title, content, match = 'substring', severity = 'medium' } = input
  const patterns = [...new Set(input.patterns)]
  const technologies = [...new Map((input.applicability?.technologies ?? []).map((technology) => [technology.toLowerCase(), technology])).values()]
  const problems = input.patterns.flatMap((pattern, place): FieldProblem[] => {
    const reason = tsgPatternProblem(match, pattern)
    return reason === null ? [] : [{ pointer: `/patterns/${place}`, field: `patterns.${place}`, reason, value: cutToCodePoints(pattern, SHOWN_PATTERN_MAX) }]
  })
  if (problems.length > 0) {
    const reasons = problems.map(({ field, reason }) => `${field} ${reason}`)
    throw new DomainError('validation_failed', `The request has a problem with its patterns: ${reasons.slice(0, 5).join('; ')}.`, { errors: problems })
  }
  return { title, content, match, severity, patterns, applicability: { technologies } }
}

/**
 * Changes what is given of a guide and leaves the rest; without a precondition the last write wins. [B5] update_tsg
 *
 * @throws DomainError `not_found`, `validation_failed` for a pattern that cannot be one, also where only `match` changes
 */
export async function updateTsg(
  ctx: Ctx,
  tsgId: string,
  change: ChangeOf<{ [Field in keyof TsgContent]?: TsgContent[Field] | undefined }, Tsg>,
  precondition?: Precondition<Tsg>,
): Promise<Tsg> {
  requireScope(ctx.actor, 'tsgs:write')
  const { projectId } = ctx.actor
  return await inProject(ctx, async (tx) => {
    await tsgs.announceTsgChange(tx, projectId)
    const before = requireFound(await tsgs.findTsg(tx, projectId, tsgId), 'guide')
    precondition?.(before)
    const given = Object.fromEntries(Object.entries(toChange(change, before)).filter(([, value]) => value !== undefined))
    if (Object.keys(given).length === 0) return before
    return await tsgs.replaceTsg(tx, projectId, { tsgId, ...checkTsgContent({ ...before, ...given }) })
  })
}

/**
 * Creates or replaces the guide with this id, as when an export is imported.
 *
 * @throws DomainError `validation_failed` for a pattern that cannot be one
 */
export async function putTsg(ctx: Ctx, tsgId: string, input: TsgContent, precondition?: Precondition<Tsg>): Promise<{ tsg: Tsg; created: boolean }> {
  requireScope(ctx.actor, 'tsgs:write')
  const content = checkTsgContent(input)
  const { projectId } = ctx.actor
  return await inProject(ctx, async (tx) => {
    await tsgs.announceTsgChange(tx, projectId)
    if (precondition !== undefined) precondition(await tsgs.findTsg(tx, projectId, tsgId))
    const inserted = await tsgs.insertTsg(tx, projectId, { tsgId, ...content })
    if (inserted !== null) return { tsg: inserted, created: true }
    return { tsg: await tsgs.replaceTsg(tx, projectId, { tsgId, ...content }), created: false }
  })
}

const SHOWN_TASKS_MAX = 10

/**
 * Deletes a guide. `force` first unlinks it from its tasks, without a revision of their briefs, because an assignee could no longer read
 * the guide. Its usage counts stay, in case a guide of that id is created again.
 *
 * @throws DomainError `not_found`, `tsg_in_use` while tasks have it
 */
export async function deleteTsg(ctx: Ctx, tsgId: string, { force }: { force: boolean }, precondition?: Precondition<Tsg>): Promise<void> {
  requireScope(ctx.actor, 'tsgs:write')
  const { projectId } = ctx.actor
  await inProject(ctx, async (tx) => {
    await tsgs.announceTsgChange(tx, projectId)
    // Waits for transactions that are linking the guide, and keeps new ones from it.
    const locked = requireFound(await tsgs.lockTsg(tx, projectId, tsgId), 'guide')
    precondition?.(locked)
    if (force) await tsgs.unlinkTsgEverywhere(tx, projectId, tsgId)
    const taskIds = await tsgs.listTasksOfTsg(tx, projectId, tsgId, SHOWN_TASKS_MAX)
    if (taskIds.length > 0) {
      throw new DomainError('tsg_in_use', 'The guide is linked to tasks. Unlink it from them, or delete it with force=true, which does that.', {
        task_ids: taskIds,
      })
    }
    await tsgs.deleteTsg(tx, projectId, tsgId)
  })
}
