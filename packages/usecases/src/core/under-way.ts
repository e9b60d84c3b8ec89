import { type Database, maintenance } from '@muster/db'
import type { Deps } from './ctx.ts'

/** How old a look may be that another task of the process has taken, in milliseconds: tasks with the same pace come at the same time. */
const LOOK_SHARED_MS = 250
const looks = new WeakMap<Database, { atMs: number; found: Promise<maintenance.UnderWay> }>()

/** What there is to look after: one look for all that ask in a process at about the same time. */
export function underWay({ dispatchDb, workerId }: Deps): Promise<maintenance.UnderWay> {
  const known = looks.get(dispatchDb)
  if (known !== undefined && performance.now() - known.atMs < LOOK_SHARED_MS) return known.found
  const found = maintenance.findUnderWay(dispatchDb, workerId ?? null)
  looks.set(dispatchDb, { atMs: performance.now(), found })
  // Whether it fails is for each to find out anew.
  found.catch(() => looks.delete(dispatchDb))
  return found
}
