import { type BodyOf, type CallOptions, ifMatch, Noun, type QueryOf } from './noun.ts'

/** Tasks: briefs with an owner, their revisions, and who works on them. */
export class Tasks extends Noun {
  create = (task: BodyOf<'createTask'>, options?: CallOptions) => this.call('createTask', { body: task }, options)
  /** What Muster would make of a brief, without storing it. */
  validate = (task: BodyOf<'validateTask'>, options?: CallOptions) => this.call('validateTask', { body: task }, options)
  get = (id: string, options?: CallOptions) => this.call('getTask', { path: { id } }, options)
  list = (query?: QueryOf<'listTasks'>, options?: CallOptions) => this.pages('listTasks', undefined, query, options)
  /** Changes the brief that has this revision. @throws MusterError `revision_stale` if it has a newer one */
  revise = (id: string, revision: number | string, patch: BodyOf<'reviseTask'>, options?: CallOptions) =>
    this.call('reviseTask', { path: { id }, body: patch }, ifMatch(revision, options))
  revisions = (id: string, query?: QueryOf<'listTaskRevisions'>, options?: CallOptions) => this.pages('listTaskRevisions', { id }, query, options)
  /** Sends a note to the assignee. */
  note = (id: string, note: string | BodyOf<'noteTask'>, options?: CallOptions) =>
    this.call('noteTask', { path: { id }, body: typeof note === 'string' ? { content: note } : note }, options)
  /** The updates of a task, each with its receipt. */
  updates = (id: string, query?: QueryOf<'listTaskUpdates'>, options?: CallOptions) => this.pages('listTaskUpdates', { id }, query, options)
  /** Whether Muster sent an update, and what it says: for an agent that doubts it. */
  confirmUpdate = (updateId: string, options?: CallOptions) => this.call('confirmUpdate', { path: { update_id: updateId } }, options)
  assign = (id: string, assignment: BodyOf<'assignTask'>, options?: CallOptions) => this.call('assignTask', { path: { id }, body: assignment }, options)
  /** Runs the task as a subtask. */
  dispatch = (id: string, how?: BodyOf<'dispatchTask'>, options?: CallOptions) =>
    this.call('dispatchTask', { path: { id }, ...(how === undefined ? {} : { body: how }) }, options)
  checkIn = (id: string, checkIn: BodyOf<'checkIn'>, options?: CallOptions) =>
    this.call('checkIn', { path: { id }, body: checkIn }, typeof checkIn === 'string' ? { contentType: 'text/markdown', ...options } : options)
  /** What assignees have reported, newest first. */
  checkIns = (id: string, query?: QueryOf<'listTaskCheckIns'>, options?: CallOptions) => this.pages('listTaskCheckIns', { id }, query, options)
  complete = (id: string, completion: BodyOf<'completeTask'>, options?: CallOptions) => this.call('completeTask', { path: { id }, body: completion }, options)
  /** Has the checks of a task executed again. */
  check = (id: string, options?: CallOptions) => this.call('requestTaskChecks', { path: { id } }, options)
  checks = (id: string, query?: QueryOf<'listTaskChecks'>, options?: CallOptions) => this.pages('listTaskChecks', { id }, query, options)
  review = (id: string, review: BodyOf<'reviewTask'>, options?: CallOptions) => this.call('reviewTask', { path: { id }, body: review }, options)
  fail = (id: string, reason: BodyOf<'failTask'>, options?: CallOptions) => this.call('failTask', { path: { id }, body: reason }, options)
  cancel = (id: string, reason: BodyOf<'cancelTask'>, options?: CallOptions) => this.call('cancelTask', { path: { id }, body: reason }, options)
  linkGuide = (id: string, guideId: string, options?: CallOptions) => this.call('linkTsg', { path: { id, tsg_id: guideId } }, options)
  unlinkGuide = (id: string, guideId: string, options?: CallOptions) => this.call('unlinkTsg', { path: { id, tsg_id: guideId } }, options)
  /** The context of a task as text for a prompt. */
  context = (id: string, options?: CallOptions) => this.call('getTaskContext', { path: { id } }, options)
  /** The whole of what was delivered, where lists and inbox shorten it. */
  payload = (id: string, options?: CallOptions) => this.call('getTaskPayload', { path: { id } }, options)
  flagQuality = (id: string, flag: BodyOf<'flagTaskQuality'>, options?: CallOptions) => this.call('flagTaskQuality', { path: { id }, body: flag }, options)
  ask = (id: string, question: BodyOf<'askAboutTask'>, options?: CallOptions) => this.call('askAboutTask', { path: { id }, body: question }, options)
  stats = (options?: CallOptions) => this.call('getStats', {}, options)
}
