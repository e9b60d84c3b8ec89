import type { Event, Question, Step } from '@muster/client'
import type { Output } from '../output/output.ts'
import { clean, oneLine, textOf } from '../output/text.ts'

/** Longer parts of a transcript are cut on the screen; `--json` has all of them. In characters. */
const SHOWN_MAX = 2_000

/** One step of a transcript. */
export function describeStep(out: Output, { kind, content }: Step): string {
  const { cyan, dim, red, magenta } = out.colours
  const { name, input, output, text } = (typeof content === 'object' && content !== null ? content : {}) as Record<string, unknown>
  if (kind === 'tool_call' && typeof name === 'string') return `${cyan(`→ ${oneLine(name)}`)} ${dim(cut(oneLine(input)))}`
  if (kind === 'tool_result') return dim(`← ${cut(clean(textOf(output ?? content)))}`)
  const words = cut(clean(typeof text === 'string' ? text : textOf(content)))
  if (kind === 'error') return red(`✗ ${words}`)
  return kind === 'update' ? magenta(`» ${words}`) : words
}

/** What an event says, or nothing where a step or a question says it better. */
export function describeEvent(out: Output, { type, data }: Event): string {
  const { dim, yellow } = out.colours
  const of = (name: string) => oneLine(data[name])
  switch (type) {
    case 'subtask.started':
      return dim(`started, attempt ${of('attempt')}`)
    case 'subtask.retrying':
      return yellow(`The attempt failed${data.error === undefined ? '' : `: ${of('error')}`}. It will be tried again.`)
    case 'subtask.released':
      return yellow('The worker gave it back. Another attempt follows.')
    case 'subtask.waiting':
      return yellow('It waits without a process.')
    case 'subtask.resumed':
      return dim('It goes on.')
    case 'subtask.cancel_requested':
      return yellow('Its end was asked for.')
    case 'update.delivered':
      return dim('An update reached it.')
    case 'update.acknowledged':
      return dim('It has acknowledged an update.')
    case 'tsg.surfaced':
      return yellow(`It was shown a guide: ${of('tsg_id')}`)
    default:
      return ''
  }
}

/** A question with the ways to answer it. */
export function describeQuestion(out: Output, question: Question): string {
  const { yellow, dim, bold } = out.colours
  const options = (question.options ?? []).map(({ id, label, description }, index) => {
    const more = description === null ? '' : dim(` ${oneLine(description)}`)
    return `  ${bold(String(index + 1))} ${oneLine(label)}${oneLine(label) === id ? '' : dim(` (${oneLine(id)})`)}${more}`
  })
  const details =
    question.kind === 'approval' && question.arguments !== null ? [`  ${clean(JSON.stringify(question.arguments, null, 2)).replaceAll('\n', '\n  ')}`] : []
  const schema = question.schema === null ? [] : [dim(`  an answer of this form: ${oneLine(question.schema)}`)]
  const how = question.kind === 'approval' ? 'yes, always (for the rest of this run), or no with a reason' : options.length > 0 ? 'a number or a name' : 'words'
  return [`${yellow('?')} ${bold(clean(question.prompt))}`, ...details, ...options, ...schema, dim(`  Answer with ${how}.`)].join('\n')
}

function cut(text: string): string {
  return text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX)} … (${text.length - SHOWN_MAX} more characters)`
}
