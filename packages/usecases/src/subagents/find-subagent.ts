import { createHash } from 'node:crypto'
import { type StoredSubagent, subagents, type Tx } from '@muster/db'
import {
  type BackgroundMcpPolicy,
  BUILTIN_SUBAGENTS,
  isSubagentName,
  renderSubagentMarkdown,
  requireDefinition,
  type SubagentDefinition,
  type SubagentReading,
  type SubagentSource,
  subagentNotFound,
} from '@muster/domain'
import type { Deps } from '../core/ctx.ts'
import { readSubagentFile, type SubagentFile } from './subagent-files.ts'

/** What counts under a name at the moment. */
export interface Subagent {
  name: string
  source: SubagentSource
  /** Its definition has the number that a run of it would name. */
  reading: SubagentReading
  contentHash: Buffer
  /** Whether that version is stored; else the first run stores it. */
  isStored: boolean
}

/**
 * Looks for a sub-agent: what the API has put there counts before a file, and that before what Muster brings itself. Looks at the disk of
 * this machine, and at nothing else that a transaction would have to wait for.
 */
export async function findSubagent(
  deps: Pick<Deps, 'settings' | 'log'>,
  tx: Tx,
  projectId: string,
  name: string,
): Promise<{ found: Subagent | null; policy: BackgroundMcpPolicy }> {
  const { BACKGROUND_MCP } = deps.settings
  if (!isSubagentName(name)) return { found: null, policy: BACKGROUND_MCP }
  const { stored, policy } = await subagents.findSubagent(tx, projectId, name)
  if (stored !== null && stored.put !== null) return { found: ofApi(name, stored, stored.put), policy: policy ?? BACKGROUND_MCP }
  const own = (await readSubagentFile(deps, name)) ?? builtinOf(name)
  return { found: own === null ? null : numbered(own, stored), policy: policy ?? BACKGROUND_MCP }
}

/**
 * The definition that counts under a name.
 *
 * @throws DomainError `subagent_not_found`, `subagent_invalid`
 */
export async function requireSubagent(deps: Pick<Deps, 'settings' | 'log'>, tx: Tx, projectId: string, name: string): Promise<SubagentDefinition> {
  const { found } = await findSubagent(deps, tx, projectId, name)
  if (found === null) throw subagentNotFound(name)
  return requireDefinition(found.reading)
}

function ofApi(name: string, { contentHash }: StoredSubagent, definition: SubagentDefinition): Subagent {
  return { name, source: 'api', reading: { definition, problems: [] }, contentHash, isStored: true }
}

/** A file, or what stands for one, with the number of its version: that of the newest stored one, if it is that, else the next. */
export function numbered({ name, reading, contentHash }: SubagentFile, newest: Omit<StoredSubagent, 'put'> | null): Subagent {
  const source = reading.definition?.source ?? 'file'
  const isStored = newest !== null && isSameVersion(newest, { source, contentHash })
  const version = (newest?.version ?? 0) + (isStored ? 0 : 1)
  const definition = reading.definition === null ? null : { ...reading.definition, version }
  return { name, source, reading: { ...reading, definition }, contentHash, isStored }
}

export function isSameVersion(stored: Omit<StoredSubagent, 'put'>, { source, contentHash }: Pick<Subagent, 'source' | 'contentHash'>): boolean {
  return stored.source === source && stored.contentHash.equals(contentHash)
}

/** What Muster brings itself, as if each were a file. */
export function builtinSubagentFiles(): SubagentFile[] {
  return BUILTIN_SUBAGENTS.map((definition) => ({
    name: definition.name,
    reading: { definition, problems: [] },
    contentHash: createHash('sha256').update(renderSubagentMarkdown(definition)).digest(),
  }))
}

function builtinOf(name: string): SubagentFile | null {
  return builtinSubagentFiles().find((file) => file.name === name) ?? null
}
