import { headerText, unbracketed } from '../core/fenced-text.ts'
import { cutToCodePoints } from '../core/text.ts'
import type { Task } from './task.ts'

/** A criterion is cut in the form: its id says which is meant, the text is there to be recognised. */
const CRITERION_SHOWN_MAX = 200

/**
 * The form of a check-in for this revision, filled as far as it can be. Every line says "unclear", so that a form sent back as it is
 * claims nothing. [D2] Check-in Convention
 */
export function renderCheckInTemplate(task: Pick<Task, 'id' | 'revision' | 'criteria'>): string {
  const lines = task.criteria.map(({ id, text }) => `  - ❓ ${cutToCodePoints(unbracketed(headerText(text)), CRITERION_SHOWN_MAX)} (${id})`)
  return [
    `<npl-block type="check-in" task-id="${task.id}" revision="${task.revision}">`,
    ...(lines.length === 0 ? [] : ['acceptance_criteria:', ...lines]),
    'status: in_progress',
    'next_steps:',
    '  -',
    '</npl-block>',
  ].join('\n')
}
