import { ERROR_CODES, type ErrorCode, PROBLEMS_SHOWN } from '@muster/domain'
import { z } from 'zod'
import { component } from './components-schemas.ts'

const errorCodeSchema = component(
  'ErrorCode',
  z.enum(Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]]).describe('What to decide by; each has its section in the error reference.'),
)

const fieldProblemSchema = component(
  'FieldProblem',
  z.object({
    pointer: z.string().describe('JSON pointer into the body, `?name` for a query parameter, `{name}` for a path parameter, `name:` for a header.'),
    field: z.string(),
    reason: z.string(),
    value: z.unknown().optional().describe('What was sent, cut to 100 characters.'),
    line: z.int().optional().describe('Of a text of lines, from 1.'),
  }),
)

export const problemSchema = component(
  'Problem',
  z
    .looseObject({
      type: z.string().describe('URL of the page about this code.'),
      title: z.string(),
      status: z.int(),
      detail: z.string().describe('What went wrong and what to do, for people.'),
      instance: z.string().describe('Path of the request.'),
      code: errorCodeSchema,
      request_id: z.string().describe('Quote it when you report a problem: it is in the log of the server.'),
      retryable: z.boolean().describe('Whether the same request may succeed later without being changed.'),
      errors: z.array(fieldProblemSchema).max(PROBLEMS_SHOWN).optional().describe('The problems of the input, the first 50 of them.'),
      errors_omitted: z.int().optional().describe('How many more problems there are than `errors` has.'),
    })
    .describe('RFC 9457 problem details.'),
)
