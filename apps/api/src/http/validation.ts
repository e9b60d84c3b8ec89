import { cutToCodePoints, DomainError, type FieldProblem } from '@muster/domain'
import { z } from 'zod'
import { didYouMean } from './did-you-mean.ts'

/** The longest value that a problem quotes, in characters. */
const VALUE_LENGTH_MAX = 100

/** Where a value came from, and so how a problem points at it. */
export type InputPart = 'body' | 'query' | 'path'

/** Unknown fields of one object that get a hint: to compare each of very many would take long. */
const HINTS_MAX = 20

type Issue = z.core.$ZodIssue

/**
 * Checks one part of a request. Problems are collected, so that a caller learns of all of them at once.
 *
 * @returns the parsed value, or undefined when `problems` has grown
 */
export function check<Schema extends z.ZodType>(schema: Schema, value: unknown, part: InputPart, problems: FieldProblem[]): z.output<Schema> | undefined {
  const parsed = schema.safeParse(value, { reportInput: true })
  if (parsed.success) return parsed.data
  for (const issue of parsed.error.issues) {
    // One by one: as the arguments of a single call, tens of thousands would not fit on the stack.
    for (const problem of toProblems(issue, part, [], schema)) problems.push(problem)
  }
  return undefined
}

/** The one error for everything that is wrong with an input. */
export function validationFailed(problems: FieldProblem[]): DomainError {
  const listed = problems.slice(0, 5).map((problem) => `${problem.field} ${problem.reason}`)
  const more = problems.length > listed.length ? `, and ${problems.length - listed.length} more` : ''
  const count = problems.length === 1 ? 'a problem' : `${problems.length} problems`
  return new DomainError('validation_failed', `The request has ${count}: ${listed.join('; ')}${more}.`, { errors: problems })
}

/** A single problem that only shows when a value is put beside the settings. */
export function fieldProblem(pointer: string, reason: string, value?: unknown): FieldProblem {
  const field = pointer.replace(/^[?/{]|[}:]$/g, '').replaceAll('/', '.')
  return { pointer, field: field === '' ? 'body' : field, reason, ...(value === undefined ? {} : { value: cutValue(value) }) }
}

/** The fields of a body that its schema does not know, at any depth. */
export function unknownFields(schema: z.ZodObject, body: object): FieldProblem[] {
  const { error } = schema.safeParse(body, { reportInput: true })
  return (error?.issues ?? []).flatMap((issue) => onlyUnknown(issue, []).flatMap(({ path, ...found }) => toProblems({ ...found, path }, 'body', [], schema)))
}

type UnknownKeys = Extract<Issue, { code: 'unrecognized_keys' }>

/** What an issue says of unknown fields, with the whole path to them. */
function onlyUnknown(issue: Issue, parent: PropertyKey[]): UnknownKeys[] {
  const path = [...parent, ...issue.path]
  if (issue.code === 'unrecognized_keys') return [{ ...issue, path }]
  if (issue.code !== 'invalid_union') return []
  return (closestBranch(issue.errors, issue.input) ?? []).flatMap((inner) => onlyUnknown(inner, path))
}

/** The fields that a schema knows at a path; none where it takes any. */
function knownAt(schema: unknown, path: readonly PropertyKey[]): string[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault) return knownAt(schema.unwrap(), path)
  if (schema instanceof z.ZodPipe) return knownAt(schema.in, path)
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((option) => knownAt(option, path))
  const [step, ...rest] = path
  if (schema instanceof z.ZodObject) return step === undefined ? Object.keys(schema.shape) : knownAt(schema.shape[String(step)], rest)
  return schema instanceof z.ZodArray && step !== undefined ? knownAt(schema.element, rest) : []
}

/** @param schema of the whole part, to name the fields there are to a caller that sent another */
function toProblems(issue: Issue, part: InputPart, parent: PropertyKey[], schema: z.ZodType): FieldProblem[] {
  const path = [...parent, ...issue.path]
  if (issue.code === 'unrecognized_keys') {
    const what = part === 'query' ? 'parameter' : 'field'
    const known = knownAt(schema, path)
    const takes = known.length === 0 ? (path.length > 0 ? '' : 'it takes none') : `it takes ${known.join(', ')}`
    return issue.keys.map((key, place) => {
      const meant = place < HINTS_MAX ? didYouMean(key, known) : []
      const hint = meant.length === 0 ? '' : `did you mean ${meant.map((name) => `\`${name}\``).join(' or ')}?`
      const more = [hint, takes].filter((text) => text !== '').join(' ')
      return fieldProblem(pointerTo([...path, key], part), `is not a ${what} of this request${more === '' ? '' : `; ${more}`}`)
    })
  }
  if (issue.code === 'invalid_union') {
    const branch = closestBranch(issue.errors, issue.input)
    if (branch !== undefined) return branch.flatMap((inner) => toProblems(inner, part, path, schema))
  }
  return [fieldProblem(pointerTo(path, part), reasonOf(issue), issue.input)]
}

function pointerTo(path: PropertyKey[], part: InputPart): string {
  const names = path.map(String)
  if (part === 'query') return `?${names.join('.')}`
  if (part === 'path') return `{${names.join('.')}}`
  return names.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** Of several shapes a value may have, the one it was meant to be: the one whose problems lie inside of it. */
function closestBranch(branches: Issue[][], input: unknown): Issue[] | undefined {
  const fitting = branches.filter((issues) => !issues.some((issue) => issue.code === 'invalid_type' && issue.path.length === 0))
  return input === undefined || fitting.length !== 1 ? undefined : fitting[0]
}

const KINDS: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  record: 'an object',
  array: 'a list',
}

function reasonOf(issue: Issue): string {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is required'
      return `must be ${KINDS[issue.expected] ?? issue.expected}`
    case 'invalid_value':
      if (issue.input === undefined) return 'is required'
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`
    case 'too_small':
      return `must ${issue.origin === 'array' ? 'have' : 'be'} at least ${issue.minimum}${issue.origin === 'array' ? ' items' : ''}`
    case 'too_big':
      return `must ${issue.origin === 'array' ? 'have' : 'be'} at most ${issue.maximum}${issue.origin === 'array' ? ' items' : ''}`
    case 'invalid_format':
      if (issue.format === 'uuid') return 'must be a UUID'
      if (issue.format === 'datetime') return 'must be an RFC 3339 time such as 2026-03-02T08:00:00.000Z'
      return issue.message
    case 'invalid_union':
      return issue.input === undefined ? 'is required' : 'must be a text or an object'
    default:
      return issue.message
  }
}

function cutValue(value: unknown): unknown {
  if (value === null || typeof value === 'boolean' || (typeof value === 'number' && Number.isFinite(value))) return value
  const written = typeof value === 'string' ? value : (JSON.stringify(value) ?? String(value))
  return cutToCodePoints(written.slice(0, 2 * VALUE_LENGTH_MAX + 10).toWellFormed(), VALUE_LENGTH_MAX)
}
