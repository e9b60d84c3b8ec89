import { type SubagentSummary, subagents } from '@muster/db'
import { checkTool, isSubagentName, requireScope, type SubagentDefinition, type SubagentProblem, type ToolAnswer } from '@muster/domain'
import { type Ctx, reading } from '../core/ctx.ts'
import { cursorInvalid, type Page, page } from '../core/page.ts'
import { builtinSubagentFiles, numbered, requireSubagent } from './find-subagent.ts'
import { listSubagentFiles } from './subagent-files.ts'

/** @throws DomainError `subagent_not_found`, `subagent_invalid` for a file that cannot be used */
export async function getSubagent(ctx: Ctx, name: string): Promise<SubagentDefinition> {
  requireScope(ctx.actor, 'subagents:read')
  return await reading(ctx, (tx) => requireSubagent(ctx, tx, ctx.actor.projectId, name))
}

/** A file that defines no usable sub-agent. */
export interface BrokenSubagent {
  name: string
  problems: SubagentProblem[]
}

export interface SubagentList extends Page<SubagentSummary> {
  /** On every page all of them: those that the API has put something in the place of are not among them. */
  broken: BrokenSubagent[]
}

/** What there is, each name once, by name: those of the API, of files, and the built-in ones. */
export async function listSubagents(ctx: Ctx, query: { limit: number; cursor?: string | undefined }): Promise<SubagentList> {
  requireScope(ctx.actor, 'subagents:read')
  const after = query.cursor ?? ''
  if (query.cursor !== undefined && !isSubagentName(after)) throw cursorInvalid()
  const { projectId } = ctx.actor
  const inFolders = await listSubagentFiles(ctx)
  const files = new Map([...builtinSubagentFiles(), ...inFolders.files].map((file) => [file.name, file]))
  const [put, newest] = await reading(ctx, (tx) =>
    Promise.all([subagents.listPutSubagents(tx, projectId, after, query.limit + 1), subagents.listNewestVersions(tx, projectId, [...files.keys()])]),
  )
  const own = [...files.values()].filter(({ name }) => newest.get(name)?.isPut !== true)
  const usable = own.flatMap((file) => {
    const { definition } = numbered(file, newest.get(file.name) ?? null).reading
    return definition === null || file.name <= after ? [] : [toSummary(definition)]
  })
  const items = [...put, ...usable].sort((one, other) => (one.name < other.name ? -1 : 1)).slice(0, query.limit + 1)
  const broken = [...own, ...inFolders.shadowed].flatMap(({ name, reading: { definition, problems } }) =>
    definition === null ? [{ name, problems: problems.filter(({ severity }) => severity === 'error') }] : [],
  )
  return { ...page(items, query.limit, (last) => last.name), broken }
}

function toSummary({ instructions: _, unknownValues: __, ...summary }: SubagentDefinition): SubagentSummary {
  return summary
}

/**
 * Whether a run of a sub-agent could use a tool, and why. One whose definition says `background` always runs in the background.
 *
 * @throws DomainError `subagent_not_found`, `subagent_invalid`
 */
export async function checkSubagentTool(ctx: Ctx, name: string, question: { toolName: string; background: boolean }): Promise<ToolAnswer> {
  const definition = await getSubagent(ctx, name)
  return checkTool(definition, { toolName: question.toolName, background: question.background || definition.background })
}
