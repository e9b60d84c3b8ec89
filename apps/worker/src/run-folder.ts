import { renderRunFolder } from '@muster/domain'
import { type ClaimedRun, findClientFolder, KEPT, type RunPrompt, taskWorkspacePath } from '@muster/usecases'
import type { WorkerDeps } from './deps.ts'
import { keepWorkspace, makeWorkspace, removeWorkspace, workspacePath } from './workspaces.ts'

/** Where a run works. */
export interface RunFolder {
  path: string
  /** Whether it is a folder of the client. */
  isClients: boolean
  /** What the prompt says of it; empty for a run without a task. */
  note: string
  /**
   * Removes the folder of an attempt. That of a task stays, and that of the client. The folder of a run that may go on becomes that of every later
   * attempt, and the sweep of folders removes it after the subtask has ended, also if no attempt went on.
   */
  close(end: { goesOn: boolean }): Promise<void>
}

/**
 * The folder for a runner that uses one: the client's, that of the dispatched task, where an attempt finds what earlier ones have left, or one for
 * this attempt.
 */
export async function openRunFolder(deps: WorkerDeps, run: ClaimedRun, prompt: RunPrompt): Promise<RunFolder> {
  // Links may have changed since the task was created, so it is resolved now. The run gets the real path.
  const clientFolder = prompt.clientCwd === null ? null : await findClientFolder(deps, prompt.clientCwd)
  const path = clientFolder ?? ownFolder(deps, run, prompt)
  if (clientFolder === null) await makeWorkspace(path)
  return {
    path,
    isClients: clientFolder !== null,
    note: prompt.runsTask ? `\n\n${renderRunFolder(prompt.clientCwd, clientFolder !== null)}` : '',
    async close({ goesOn }) {
      if (prompt.runsTask || prompt.hasWaited) return
      if (goesOn) await keepWorkspace(deps, path, run.id)
      else await removeWorkspace(deps, path)
    },
  }
}

/** The name of the folder for a runner that uses none. */
export function unusedFolder(deps: WorkerDeps, run: ClaimedRun, prompt: RunPrompt): RunFolder {
  return { path: ownFolder(deps, run, prompt), isClients: false, note: '', close: async () => {} }
}

function ownFolder(deps: WorkerDeps, { id, attempt, taskId }: ClaimedRun, { runsTask, hasWaited }: RunPrompt): string {
  // The folder of a run that waited is found on the machine where it ran. On another one, the run begins with an empty folder.
  return runsTask && taskId !== null ? taskWorkspacePath(deps, taskId) : workspacePath(deps, id, hasWaited ? KEPT : attempt)
}
