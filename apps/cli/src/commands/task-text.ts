import type { BriefDiff, Task } from '@muster/client'
import type { Output } from '../output/output.ts'
import { clean, oneLine, relativeTime, textOf } from '../output/text.ts'

/** A task for a person: the brief, where it stands, what it has delivered. */
export function describeTask(out: Output, task: Task): string {
  const criteria = task.acceptance_criteria.map(({ text, required }) => `- ${clean(text)}${required ? '' : out.colours.dim(' (optional)')}`)
  const outputs = task.required_outputs.map(({ name }) => `- ${clean(name)}`)
  const warnings = task.validation.warnings.map(({ field, message }) => out.colours.yellow(`- ${field}: ${clean(message)}`))
  const delivered = Object.entries(task.completion_outputs ?? {}).map(([name, value]) => `${out.heading(oneLine(name))}\n${clean(textOf(value))}`)
  const parts = [
    out.fields([
      ['Task', task.id],
      ['Title', task.title],
      ['Status', task.status],
      ['Revision', task.revision],
      ['Priority', task.priority],
      ['Assigned to', task.subagent_session_id],
      ['Asked for by', task.parent_session_id],
      ['Blocked by', task.blocked_by.join(', ')],
      ['Created', relativeTime(task.created_at)],
      ['Error', task.last_error],
    ]),
    clean(task.instructions),
    section(out, 'Acceptance criteria', criteria),
    section(out, 'Required outputs', outputs),
    section(out, 'Warnings', warnings),
    task.summary === null ? '' : clean(task.summary),
    delivered.join('\n\n'),
  ]
  return parts.filter((part) => part !== '').join('\n\n')
}

/** What changed between two revisions, in the manner of a diff. */
export function describeDiff(out: Output, diff: BriefDiff): string {
  const { green, red, dim } = out.colours
  return Object.entries(diff)
    .map(([field, parts]) => {
      const lines = parts.flatMap(({ op, text }) => {
        const [sign, paint] = op === 'add' ? (['+', green] as const) : op === 'remove' ? (['-', red] as const) : ([' ', dim] as const)
        return clean(text)
          .split('\n')
          .map((line) => paint(`${sign} ${line}`))
      })
      return `${out.heading(field)}\n${lines.join('\n')}`
    })
    .join('\n\n')
}

function section(out: Output, title: string, lines: string[]): string {
  return lines.length === 0 ? '' : `${out.heading(title)}\n${lines.join('\n')}`
}
