import { fenced, headerText, quotedName } from '../core/fenced-text.ts'
import { cutToLength } from '../core/text.ts'
import { type BriefDiff, renderDiff } from './brief-diff.ts'
import { renderCheckInTemplate, renderShortCheckInTemplate } from './check-in.ts'
import type { Task, UpdateType } from './task.ts'

/** Who sent an update. */
export interface Sender {
  kind: string
  id: string
  /** Of the key, or the session that a caller without a key named. */
  name?: string | null
}

/** One update as its holder reads it. */
export interface TaskUpdateText {
  updateId: string
  updateType: UpdateType
  /** What it is about. */
  subject: { kind: 'task' | 'subtask'; id: string; title: string }
  /** Of the task after the change; of a note, the revision when it was sent. */
  revision: number | null
  sender: Sender
  createdAt: Date
  content: string
  diff: BriefDiff | null
  /** The task to report on from now on, where criteria have changed. */
  reportOn?: Pick<Task, 'id' | 'revision' | 'criteria'> | null
}

const UPDATE_HEADINGS: Record<UpdateType, string> = {
  instructions: 'Instructions Modified',
  acceptance_criteria: 'Acceptance Criteria Modified',
  context: 'Context Modified',
  note: 'Note',
  revision_request: 'Revision Requested',
}

/**
 * One update: lines of ours that say what it is, which task it is about, how to confirm it, and who sent it when; its content in a block;
 * and a fresh form where criteria have changed. [B5]
 *
 * @param lengthMax in UTF-16 units; of a longer one the content is cut and comes last
 */
export function renderTaskUpdate(update: TaskUpdateText, fence: string, lengthMax = Number.POSITIVE_INFINITY): string {
  const whole = renderWholeUpdate(update, fence)
  return whole.length <= lengthMax ? whole : renderShortUpdate(update, fence, lengthMax)
}

/** More than a fence and the lines around it take. */
const FENCE_LENGTH_MAX = 80

function renderShortUpdate(update: TaskUpdateText, fence: string, lengthMax: number): string {
  const { updateId, reportOn = null } = update
  const head = [...updateHead(update), ...(reportOn === null ? [] : [reportLine(reportOn), renderShortCheckInTemplate(reportOn)])].join('\n')
  const content = updateBody(update)
  const lastLine = (length: number) =>
    `The block has the first ${length} of ${content.length} characters. confirm_update("${updateId}") has its content in full.`
  const shown = cutToLength(content, lengthMax - head.length - lastLine(content.length).length - FENCE_LENGTH_MAX)
  return [head, fenced(shown, fence), lastLine(shown.length)].join('\n')
}

function renderWholeUpdate(update: TaskUpdateText, fence: string): string {
  const { reportOn = null } = update
  return [...updateHead(update), fenced(updateBody(update), fence), ...(reportOn === null ? [] : [reportLine(reportOn), renderCheckInTemplate(reportOn)])].join(
    '\n',
  )
}

function reportLine({ revision }: Pick<Task, 'revision'>): string {
  return `Report on revision ${revision} with this block, one line a criterion:`
}

function updateBody({ content, diff }: TaskUpdateText): string {
  const changes = diff === null ? '' : renderDiff(diff)
  return changes === '' ? content : `${content}\nChanges:\n${changes}`
}

function updateHead(update: TaskUpdateText): string[] {
  const { updateId, updateType, subject, revision, sender, createdAt } = update
  return [
    `[Task Update: ${UPDATE_HEADINGS[updateType]}]`,
    `${subject.kind === 'task' ? 'Task' : 'Subtask'}: ${headerText(subject.title)} (${subject.id})`,
    `Update id: ${updateId}`,
    ...(revision === null ? [] : [`Revision: ${revision}`]),
    `Sender: ${renderSender(sender)}`,
    `Time: ${createdAt.toISOString()}`,
    `Confirm: confirm_update("${updateId}")`,
  ]
}

/** A sender by the name that people know it by. */
function renderSender({ kind, id, name = null }: Sender): string {
  switch (kind) {
    case 'key':
      return `API key ${name === null ? headerText(id) : quotedName(name)}`
    case 'open':
      return name === null ? 'a caller on this machine, without an API key' : `session ${quotedName(name)}, without an API key`
    case 'system':
      return `Muster (${headerText(id)})`
    default:
      return `${headerText(kind)} ${quotedName(name ?? id)}`
  }
}
