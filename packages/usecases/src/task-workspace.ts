import { mkdir, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Deps } from './ctx.ts'

/** A task's own folder, which lasts as long as the task: its dispatched subtasks find there what earlier ones have left. */
export function taskWorkspacePath({ settings }: Pick<Deps, 'settings'>, taskId: string): string {
  return resolve(join(settings.DATA_DIR, 'tasks', taskId))
}

/** Makes it. On another machine than the one that runs the task, that one makes it anew. */
export async function makeTaskWorkspace(path: string): Promise<void> {
  await mkdir(path, { recursive: true })
}

/** Removes the folder of a task that did not come about. */
export async function removeTaskWorkspace(deps: Pick<Deps, 'log'>, path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch((error) => deps.log.warn({ err: error, path }, 'could not remove a workspace'))
}
