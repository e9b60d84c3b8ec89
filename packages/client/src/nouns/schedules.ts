import { type BodyOf, type CallOptions, Noun, type QueryOf } from './noun.ts'

/** Schedules: rules in words or cron that create a subtask at each slot. */
export class Schedules extends Noun {
  create = (schedule: BodyOf<'createSchedule'>, options?: CallOptions) => this.call('createSchedule', { body: schedule }, options)
  /** How Muster reads a rule, and when it would fire, without storing it. */
  preview = (rule: BodyOf<'previewSchedule'>, options?: CallOptions) => this.call('previewSchedule', { body: rule }, options)
  get = (id: string, options?: CallOptions) => this.call('getSchedule', { path: { id } }, options)
  list = (query?: QueryOf<'listSchedules'>, options?: CallOptions) => this.pages('listSchedules', undefined, query, options)
  revise = (id: string, patch: BodyOf<'reviseSchedule'>, options?: CallOptions) => this.call('reviseSchedule', { path: { id }, body: patch }, options)
  deactivate = (id: string, options?: CallOptions) => this.call('deactivateSchedule', { path: { id } }, options)
  pause = (id: string, options?: CallOptions) => this.call('pauseSchedule', { path: { id } }, options)
  resume = (id: string, options?: CallOptions) => this.call('resumeSchedule', { path: { id } }, options)
  /** Starts a subtask now, beside the slots. */
  trigger = (id: string, options?: CallOptions) => this.call('triggerSchedule', { path: { id } }, options)
  /** The times at which it fires next, up to a time. */
  firings = (id: string, query: QueryOf<'listScheduleFirings'>, options?: CallOptions) => this.call('listScheduleFirings', { path: { id }, query }, options)
  runs = (id: string, query?: QueryOf<'listScheduleRuns'>, options?: CallOptions) => this.pages('listScheduleRuns', { id }, query, options)
}
