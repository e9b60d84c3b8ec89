import { isUnder, resolveBriefPath } from '@muster/domain'
import type { Deps } from '../core/ctx.ts'
import { openRoots, walkRoots } from './walk-roots.ts'

/**
 * The real path of a `client_cwd` where it is a folder in WORKSPACE_ROOTS now, after links are resolved; null otherwise. What lies outside is
 * not looked at.
 */
export async function findClientFolder({ settings }: Pick<Deps, 'settings'>, clientCwd: string): Promise<string | null> {
  const path = resolveBriefPath(clientCwd, null)
  if (path === null || !isUnder(path, settings.WORKSPACE_ROOTS)) return null
  const reached = await walkRoots(path, await openRoots(settings.WORKSPACE_ROOTS))
  return reached.kind === 'folder' ? reached.real : null
}
