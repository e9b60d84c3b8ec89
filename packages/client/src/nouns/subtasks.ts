import { type BodyOf, type CallOptions, Noun, type QueryOf } from './noun.ts'
import { Spawning, SubtaskHandle } from './subtask-handle.ts'

/** Subtasks: units of background work. */
export class Subtasks extends Noun {
  /** Starts background work. What it returns can be awaited, or followed at once: `await muster.subtasks.spawn({ task }).result()`. */
  spawn = (subtask: BodyOf<'createSubtask'>, options?: CallOptions): Spawning =>
    Spawning.begin(this.call('createSubtask', { body: subtask }, options).then((created) => new SubtaskHandle(this.transport, created.id, created)))
  /** A handle on a subtask that exists, without a call. */
  handle = (id: string): SubtaskHandle => new SubtaskHandle(this.transport, id)
  get = (id: string, query?: QueryOf<'getSubtask'>, options?: CallOptions) =>
    this.call('getSubtask', { path: { id }, ...(query === undefined ? {} : { query }) }, options)
  list = (query?: QueryOf<'listSubtasks'>, options?: CallOptions) => this.pages('listSubtasks', undefined, query, options)
  /** The agents with subtasks that run or are pending, and their limits. */
  agents = (query?: QueryOf<'listAgents'>, options?: CallOptions) => this.pages('listAgents', undefined, query, options)
  /** Asks for its end. A pending subtask is cancelled at once, a running one as soon as its worker stops it. */
  cancel = (id: string, options?: CallOptions) => this.call('cancelSubtask', { path: { id } }, options)
  /** Sends an update to the run. */
  steer = (id: string, update: string | BodyOf<'steerSubtask'>, options?: CallOptions) => this.handle(id).steer(update, options)
  /** The updates of a subtask, each with its receipt. */
  updates = (id: string, query?: QueryOf<'listSubtaskUpdates'>, options?: CallOptions) => this.pages('listSubtaskUpdates', { id }, query, options)
  /** The transcript. */
  steps = (id: string, query?: QueryOf<'listSubtaskSteps'>, options?: CallOptions) => this.pages('listSubtaskSteps', { id }, query, options)
  /** What each attempt sent first to its model or program. */
  prompts = (id: string, query?: QueryOf<'listSubtaskPrompts'>, options?: CallOptions) => this.pages('listSubtaskPrompts', { id }, query, options)
  /** The whole result, where lists and inbox shorten it. */
  payload = (id: string, options?: CallOptions) => this.call('getSubtaskPayload', { path: { id } }, options)
  flagQuality = (id: string, flag: BodyOf<'flagSubtaskQuality'>, options?: CallOptions) =>
    this.call('flagSubtaskQuality', { path: { id }, body: flag }, options)
  ask = (id: string, question: BodyOf<'askAboutSubtask'>, options?: CallOptions) => this.call('askAboutSubtask', { path: { id }, body: question }, options)
}
