import { mkdir, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { DomainError } from '@muster/domain'
import type { Deps } from '../core/ctx.ts'
import { isDiskFailure } from '../core/disk-failure.ts'

/** A task's own folder, which lasts as long as the task: its dispatched subtasks find there what earlier ones have left. */
export function taskWorkspacePath({ settings }: Pick<Deps, 'settings'>, taskId: string): string {
  return resolve(join(settings.DATA_DIR, 'tasks', taskId))
}

/**
 * Makes it. On another machine than the one that runs the task, that one makes it anew.
 *
 * @throws DomainError `unavailable` while the disk is full
 */
export async function makeTaskWorkspace(path: string): Promise<void> {
  await mkdir(path, { recursive: true }).catch((error: unknown) => {
    if (!isDiskFailure(error)) throw error
    throw new DomainError('unavailable', 'The server cannot make the folder of the task: the disk of its DATA_DIR is full or fails. Try again shortly.')
  })
}

/** Removes the folder of a task that did not come about. */
export async function removeTaskWorkspace(deps: Pick<Deps, 'log'>, path: string): Promise<void> {
  await rm(path, { recursive: true, force: true }).catch((error) => deps.log.warn({ err: error, path }, 'could not remove a workspace'))
}
