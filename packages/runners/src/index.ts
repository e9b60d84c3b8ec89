/**
 * `@muster/runners` owns the port between the worker and whatever executes a subtask, the adapters behind it, and the guard
 * that keeps their processes from outliving the worker.
 *
 * It never touches the database, never decides what an outcome means for a subtask (the use-cases do), never reads
 * `process.env`, and starts nothing when it is imported.
 */
export { PREPARED_FOLDERS } from './claude-code/left-folders.ts'
export { createChecker } from './command/checker.ts'
export { startGuard } from './command/guard.ts'
export { findLocalCaller, type LocalCaller } from './command/local-caller.ts'
export { createJudge, missingForJudge } from './judge/judge.ts'
export type { Brief, Run, RunAnswer, RunBudget, Runner, RunOutcome, RunQuestion, RunStep, RunUpdate, SentPrompt, StopReason, UsageDelta } from './port.ts'
export { createRunners, describeRunners, type RunnerDescription } from './registry.ts'
export { findSandbox, requireSandbox } from './sandbox/sandbox.ts'
