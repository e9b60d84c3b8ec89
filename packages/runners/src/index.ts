/**
 * `@muster/runners` owns the port between the worker and whatever executes a subtask, the adapters behind it, and the guard
 * that keeps their processes from outliving the worker.
 *
 * It never touches the database, never decides what an outcome means for a subtask (the use-cases do), never reads
 * `process.env`, and starts nothing when it is imported.
 */
export { type Guard, type GuardOptions, startGuard } from './command/guard.ts'
export { findLocalCaller, type LocalCaller } from './command/local-caller.ts'
export type { RunnerLog } from './command/log.ts'
export type { Environment } from './command/program.ts'
export { type CommandRunnerOptions, createCommandRunner } from './command/runner.ts'
export { createJudge, type JudgeOptions, type JudgeSettings, missingForJudge } from './judge/judge.ts'
export type { Brief, Criterion, Run, RunBudget, Runner, RunOutcome, RunStep, RunUpdate, StopReason, UsageDelta } from './port.ts'
export { createRunners, describeRunners, type RunnerDeps, type RunnerDescription, type RunnerSettings, type RunnerSurroundings } from './registry.ts'
