import { headerText, unbracketed } from '../core/fenced-text.ts'
import { isRecord } from './brief-report.ts'
import type { RequiredOutput } from './output-schema.ts'
import type { Task } from './task.ts'

/** How the holder of a task can hand in: by the tool, or also by a block in its final message where that is read (Stop and SubagentStop). */
export type HandInWays = 'call' | 'call_or_block'

/** How to hand in, as lines of Muster: the exact call with a place for each output, and the block that says the same. */
export function renderHandIn({ id, requiredOutputs }: Pick<Task, 'id' | 'requiredOutputs'>, ways: HandInWays): string {
  const form = outputsForm(requiredOutputs)
  return [
    'Hand in when the task is done, with a value for each output:',
    `mark_task_complete(task_id="${id}", outputs=${form})`,
    ...(ways === 'call'
      ? []
      : ['Without that tool, put this block with one JSON object into your final message instead, outside of code fences:', resultBlock(id, form)]),
  ].join('\n')
}

function resultBlock(taskId: string, outputs: string): string {
  return `<npl-block type="result" task-id="${taskId}">\n${outputs}\n</npl-block>`
}

/** No JSON as long as a place is not filled, so that a form that is sent back as it is hands nothing in. */
function outputsForm(required: readonly RequiredOutput[]): string {
  if (required.length === 0) return '{"result": …}'
  return `{${required.map(({ name, schema }) => `${quoted(name)}: ${schema === null ? ANYTHING : placeFor(schema, 0)}`).join(', ')}}`
}

const ANYTHING = '…'
/** A longer place says less than the schema, which the brief shows as well. */
const PLACE_LENGTH_MAX = 300
const DEPTH_MAX = 2

/** What a value looks like by the parts of its schema that say so at a glance. */
function placeFor(schema: unknown, depth: number): string {
  if (!isRecord(schema)) return ANYTHING
  const { type, enum: choices, const: constant, items, properties } = schema
  const types = (Array.isArray(type) ? type : [type]).filter((each) => typeof each === 'string')
  const named = types.length === 0 ? null : `<${types.map(plain).join(' or ')}>`
  const place =
    constant !== undefined
      ? quoted(constant)
      : Array.isArray(choices) && choices.length > 0
        ? `<${choices.map(quoted).join(' or ')}>`
        : isRecord(properties)
          ? placeForObject(properties, depth)
          : isRecord(items) && depth < DEPTH_MAX
            ? `[${placeFor(items, depth + 1)}, …]`
            : null
  return place === null || place.length > PLACE_LENGTH_MAX ? (named ?? ANYTHING) : place
}

function placeForObject(properties: Record<string, unknown>, depth: number): string {
  if (depth >= DEPTH_MAX) return '<object>'
  const fields = Object.entries(properties).map(([name, schema]) => `${quoted(name)}: ${placeFor(schema, depth + 1)}`)
  return `{${fields.join(', ')}}`
}

/** As JSON on a line of ours. */
function quoted(value: unknown): string {
  return plain(JSON.stringify(value))
}

function plain(text: string): string {
  return unbracketed(headerText(text))
}
