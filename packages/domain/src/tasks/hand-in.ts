import { headerText, unbracketed } from '../core/fenced-text.ts'
import type { NplBlock } from '../core/npl-blocks.ts'
import { shortened, toStorableJson } from '../core/text.ts'
import { isRecord } from './brief-report.ts'
import type { RequiredOutput } from './output-schema.ts'
import type { Task } from './task.ts'

/** How the holder of a task can hand in: by the tool, or also by a block in its final message where that is read (Stop and SubagentStop). */
export type HandInWays = 'call' | 'call_or_block'

/** How to hand in, as lines of Muster: the exact call with a place for each output, and the block that says the same. */
export function renderHandIn(task: HandInTask, ways: HandInWays): string {
  return renderWays('Hand in when the task is done, with a value for each output:', task, ways)
}

/** What to hand in, and for which task. */
type HandInTask = Pick<Task, 'id' | 'requiredOutputs'>

/** That a block of a final message has completed nothing, why, and how to hand in again. */
export function renderRefusedHandIn(task: HandInTask & Pick<Task, 'title'>, reason: string): string {
  return [
    `[Hand-in Refused: ${headerText(task.title)}]`,
    `Task id: ${task.id}`,
    renderReason(reason),
    renderWays('Correct it and hand in again, with a value for each output:', task, 'call_or_block'),
  ].join('\n')
}

/** The same of a block that names a task that there is not, or none of several. */
export function renderUnknownHandIn(named: string, heldIds: readonly string[]): string {
  const problem = named === '' ? 'The block has no task-id.' : `There is no task ${shortened(named, NAMED_LENGTH_MAX)}.`
  return `[Hand-in Refused]\n${renderReason(`${problem} This session holds: ${heldIds.join(', ')}.`)}`
}

const NAMED_LENGTH_MAX = 100

/** A schema's author chooses parts of it. */
const REASON_LENGTH_MAX = 1_000

function renderReason(reason: string): string {
  return `Reason: ${shortened(headerText(reason), REASON_LENGTH_MAX)}`
}

function renderWays(intro: string, { id, requiredOutputs }: HandInTask, ways: HandInWays): string {
  const form = outputsForm(requiredOutputs)
  return [
    intro,
    `mark_task_complete(task_id="${id}", outputs=${form})`,
    ...(ways === 'call'
      ? []
      : ['Without that tool, put this block with one JSON object into your final message instead, outside of code fences:', resultBlock(id, form)]),
  ].join('\n')
}

function resultBlock(taskId: string, outputs: string): string {
  return `<npl-block type="result" task-id="${taskId}">\n${outputs}\n</npl-block>`
}

/** More would leave too little room for the rest of a brief; the brief names all outputs elsewhere. */
const FORM_LENGTH_MAX = 1_000

/** No JSON as long as a place is not filled, so that a form that is sent back as it is hands nothing in. */
function outputsForm(required: readonly RequiredOutput[]): string {
  if (required.length === 0) return '{"result": …}'
  const places = required.map(({ name, schema }) => `${quoted(name)}: ${schema === null ? ANYTHING : placeFor(schema, 0)}`)
  const names = required.map(({ name }) => `${quoted(name)}: ${ANYTHING}`)
  const shown = places.join(', ').length > FORM_LENGTH_MAX ? names : places
  while (shown.length > 1 && shown.join(', ').length > FORM_LENGTH_MAX) shown.splice(-2, 2, ANYTHING)
  return `{${shown.join(', ')}}`
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

/** A hand-in that stands in a final message. */
export interface WrittenHandIn {
  /** As written, in lower case; without one, the only task of the session. Null where there are several. */
  taskId: string | null
  /** The revision that it names, if any. */
  revision: number | null
  /** Null where there is a problem. */
  outputs: Record<string, unknown> | null
  /** Why the block cannot be read. */
  problem: string | null
}

/** The hand-ins among the blocks of a text: of each task the last. */
export function readHandIns(blocks: readonly NplBlock[], heldIds: readonly string[]): WrittenHandIn[] {
  const [onlyId] = heldIds.length === 1 ? heldIds : []
  const handIns = blocks.filter(({ kind }) => kind === 'result').map((block) => readHandIn(block, onlyId ?? null))
  return [...new Map(handIns.map((handIn) => [handIn.taskId, handIn])).values()]
}

function readHandIn({ attributes, text }: NplBlock, onlyId: string | null): WrittenHandIn {
  const { 'task-id': taskId = '', revision = '' } = attributes
  return {
    taskId: taskId.trim().toLowerCase() || onlyId,
    revision: /^\s*\d{1,9}\s*$/.test(revision) ? Number(revision) : null,
    ...readOutputs(text),
  }
}

function readOutputs(text: string): Pick<WrittenHandIn, 'outputs' | 'problem'> {
  try {
    const outputs: unknown = toStorableJson(JSON.parse(withoutFence(text.trim())))
    return isRecord(outputs) ? { outputs, problem: null } : { outputs: null, problem: 'The block must have one JSON object, with the outputs by their names.' }
  } catch (error) {
    return { outputs: null, problem: `The block has no valid JSON: ${(error as Error).message}.` }
  }
}

function withoutFence(text: string): string {
  const inside = text.startsWith('```') ? text.slice(text.indexOf('\n') + 1) : text
  return inside.endsWith('```') ? inside.slice(0, -3) : inside
}
