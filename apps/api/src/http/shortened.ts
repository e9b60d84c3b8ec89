import { codePointLength } from '@muster/domain'
import { SHOWN_POINTS_MAX } from '@muster/usecases'
import { z } from 'zod'
import { component } from './schemas.ts'

const shortenedFieldSchema = component(
  'ShortenedField',
  z.object({
    field: z.string().describe('The field. It is null in this answer.'),
    beginning: z.string().describe('The first 2,000 characters of the value; of an object, as JSON.'),
    bytes: z.int().describe('Length of the whole value, in bytes of UTF-8.'),
    whole_at: z.string().describe('The request or the tool call that returns the whole value.'),
  }),
  { field: 'result', beginning: 'There are 40 functions. The first', bytes: 48_210, whole_at: 'GET /subtasks/0198c9a2-6a1e-7cc3-9f0e-3b1d8a5f2c47' },
)

export const shortenedSchema = z.array(shortenedFieldSchema)

type ShortenedField = z.output<typeof shortenedFieldSchema>

export function shortenedField(field: string, { text, bytes }: { text: string; bytes: number }, wholeAt: string): ShortenedField {
  // A code point is at most two units of UTF-16.
  const points = [...text.slice(0, 2 * SHOWN_POINTS_MAX)]
  return { field, beginning: points.slice(0, SHOWN_POINTS_MAX).join(''), bytes, whole_at: wholeAt }
}

/** A body whose long fields are null, and described in `shortened`. */
export function shorten<Body extends object>(body: Body, fields: readonly (keyof Body & string)[], wholeAt: string): Body & { shortened: ShortenedField[] } {
  const shortened = fields.flatMap((field) => {
    const value: unknown = body[field] ?? ''
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    return codePointLength(text) <= SHOWN_POINTS_MAX ? [] : [shortenedField(field, { text, bytes: Buffer.byteLength(text) }, wholeAt)]
  })
  return { ...body, ...Object.fromEntries(shortened.map(({ field }) => [field, null])), shortened }
}
