/**
 * Proof by check: a program that the operator configured, executed in the folder of a task. Its exit code is the verdict on a criterion,
 * whatever the agent says of it.
 */

export const CHECK_STATUSES = ['pending', 'running', 'met', 'unmet', 'could_not_run'] as const
export type CheckStatus = (typeof CHECK_STATUSES)[number]
export type EndedCheckStatus = Exclude<CheckStatus, 'pending' | 'running'>

/** How a check ended. */
export interface CheckEnd {
  /** `met` for exit code 0. `could_not_run`: nothing was proved, for want of the folder or of a worker. */
  status: EndedCheckStatus
  /** Null unless the program exited by itself. */
  exitCode: number | null
  /** In a sentence; null if it is met. */
  reason: string | null
  /** The last part of what the program printed. */
  output: string
  /** Null if nothing was started. */
  durationMs: number | null
}

export interface CheckRequest {
  /** Of the check run: it marks the processes. */
  id: string
  /** Number of the try. */
  tries: number
  /** The configured name. */
  name: string
  /** Where it is executed. */
  folder: string
}

/** Executes checks. It answers within the timeout of the check, and never throws for a failure of the program. */
export interface Checker {
  /** @returns null after the signal */
  check(request: CheckRequest, signal: AbortSignal): Promise<CheckEnd | null>
}

/** How often a check is started: once more after its worker was lost. */
export const CHECK_TRIES_MAX = 2

export function couldNotRun(reason: string): CheckEnd {
  return { status: 'could_not_run', exitCode: null, reason, output: '', durationMs: null }
}

/** Whether a criterion is decided by a check. */
export function isChecked({ check }: { check?: string }): boolean {
  return check !== undefined
}
