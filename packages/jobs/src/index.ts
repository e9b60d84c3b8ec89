/**
 * The contract between the API and the worker: which queues there are, how jobs move with their rows, and how processes wake
 * each other. The only importer of pg-boss. It never decides what a job means.
 */

export { type BossOptions, createBoss } from './boss.ts'
export { createJudgeJobs, type HeldJudgeJob, type JudgeJob, type JudgeJobs } from './judge-jobs.ts'
export { type Loop, type LoopOptions, startLoop } from './loop.ts'
export { CHANNELS, type Channel, createNotifier, type Notifier } from './notifier.ts'
export { ensureRunQueues, installQueues, runQueue } from './queues.ts'
export { createRunJobs, type RunJobs } from './run-jobs.ts'
