import { createHash } from 'node:crypto'
import { subagents } from '@muster/db'
import {
  DomainError,
  looksLikeSubagent,
  type OutboundLists,
  parseSubagentMarkdown,
  requireController,
  requireScope,
  SUBAGENT_LIMITS,
  type SubagentDefinition,
  type SubagentProblem,
  storedUrlProblem,
} from '@muster/domain'
import { type Ctx, inProject, reading } from '../core/ctx.ts'
import { outboundListsOf } from '../deliveries/change-webhooks.ts'
import { putVersion } from './change-subagents.ts'
import { isForeign } from './subagent-files.ts'

/** A file of a collection. */
export interface GivenFile {
  /** Where it lies in the collection. */
  path: string
  bytes: Uint8Array
}

/** The outcome of one Markdown file. */
export interface ImportedFile {
  path: string
  /** `renamed`: imported under a name other than the written one. `ignored`: not a definition. */
  outcome: 'imported' | 'renamed' | 'refused' | 'ignored'
  /** Null for what has none. */
  name: string | null
  /** The written name of a renamed one. */
  title: string | null
  /** Null for what was not imported. */
  version: number | null
  /** Errors of a refused file, warnings of an imported one. */
  problems: SubagentProblem[]
}

/** Instructions may have half of it. */
const FILE_BYTES_MAX = 2 * SUBAGENT_LIMITS.instructionsBytes

/**
 * Puts every definition of a collection under the name in its text, else under that of its file, as `putSubagent` does for one. A file that cannot be
 * used is refused alone; the others are imported in one transaction.
 *
 * @returns a row for each Markdown file, in the order given
 * @throws DomainError `validation_failed` when no file is Markdown
 */
export async function importSubagents(ctx: Ctx, files: readonly GivenFile[]): Promise<ImportedFile[]> {
  requireScope(ctx.actor, 'subagents:write')
  requireController(ctx.actor)
  const { projectId } = ctx.actor
  const lists = await reading(ctx, (tx) => outboundListsOf(ctx, tx, projectId))
  const pathByName = new Map<string, string>()
  const read = files.filter(({ path }) => path.toLowerCase().endsWith('.md')).map((file) => readFile(file, { pathByName, lists }))
  if (read.length === 0) {
    throw new DomainError(
      'validation_failed',
      'No Markdown file was sent: send definitions whose names end in .md, in a tar, a zip or as parts of multipart/form-data.',
    )
  }
  return await inProject(ctx, async (tx) => {
    const versions = new Map<string, number>()
    // By name, so that two imports at once wait for each other instead of for ever.
    const usable = read.flatMap(({ definition, ...more }) => (definition === null ? [] : [{ definition, ...more }]))
    usable.sort((one, other) => (one.definition.name < other.definition.name ? -1 : 1))
    for (const each of usable) {
      const { name } = each.definition
      const newest = await subagents.lockSubagent(tx, projectId, name, 'api')
      versions.set(name, (await putVersion(ctx, tx, each, newest)).version)
    }
    return read.map(({ row, definition }) => ({ ...row, version: definition === null ? null : (versions.get(definition.name) ?? null) }))
  })
}

interface ReadFile {
  row: Omit<ImportedFile, 'version'>
  /** Null for what is not imported. */
  definition: SubagentDefinition | null
  callbackSecret: string | null | undefined
  contentHash: Buffer
}

function readFile({ path, bytes }: GivenFile, { pathByName, lists }: { pathByName: Map<string, string>; lists: OutboundLists }): ReadFile {
  const fileName = path.split('/').at(-1) ?? path
  const contentHash = createHash('sha256').update(bytes).digest()
  const withoutDefinition = (outcome: 'refused' | 'ignored', name: string | null, problems: SubagentProblem[]): ReadFile => ({
    row: { path, outcome, name, title: null, problems },
    definition: null,
    callbackSecret: undefined,
    contentHash,
  })
  const refusal = (reason: string, name: string | null = null): ReadFile =>
    withoutDefinition('refused', name, [{ pointer: '', field: 'definition', reason, line: 1, severity: 'error' }])

  if (bytes.length > FILE_BYTES_MAX) return refusal(`is larger than ${FILE_BYTES_MAX} bytes`)
  const text = decode(bytes)
  if (text === null) return refusal('is not valid UTF-8')
  if (isForeign(path) || !looksLikeSubagent(text)) return withoutDefinition('ignored', null, [])
  const { name, definition, callbackSecret, problems } = parseSubagentMarkdown(text, { fileName: fileName.slice(0, -'.md'.length), source: 'api' })
  if (definition === null)
    return withoutDefinition(
      'refused',
      name,
      problems.filter(({ severity }) => severity === 'error'),
    )
  const other = pathByName.get(definition.name)
  if (other !== undefined) return refusal(`goes by the name ${definition.name}, which ${other} has already: give one of them another name`, definition.name)
  const { callback } = definition
  const unreachable = callback === undefined ? null : storedUrlProblem(callback.url, lists)
  if (unreachable !== null) return refusal(`has a callback that deliveries cannot go to: ${unreachable}`, definition.name)
  pathByName.set(definition.name, path)
  const outcome = definition.title === null ? 'imported' : 'renamed'
  const row: ReadFile['row'] = { path, outcome, name: definition.name, title: definition.title, problems: [...problems, ...notices(callback)] }
  return { row, definition, callbackSecret, contentHash }
}

/** A collection may have any author: its importer learns where results would go. */
function notices(callback: SubagentDefinition['callback']): SubagentProblem[] {
  if (callback === undefined) return []
  const reason = `sends the ends of its runs to ${new URL(callback.url).host}`
  return [{ pointer: '/callback', field: 'callback', reason, line: 1, severity: 'warning' }]
}

function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}
