/**
 * What the processes of the API and the worker share: queues, jobs that move with their rows, notifications between processes, loops, and how a process
 * starts and stops. The only importer of pg-boss. It never decides what a job means.
 */

export { type Boss, createBoss } from './boss.ts'
export { createJudgeJobs, type HeldJudgeJob, type JudgeJob, type JudgeJobs } from './judge-jobs.ts'
export { type Loop, startLoop } from './loop.ts'
export { type Channel, createNotifier, type Notifier } from './notifier.ts'
export { type ProcessContext, runProcess } from './process.ts'
export { ensureRunQueues, findMissingQueues, installQueues, readRunCall, runCall, runQueue } from './queues.ts'
export { createRunJobs, type RunJobs } from './run-jobs.ts'
export { startTracing, wantsTracing } from './tracing.ts'
