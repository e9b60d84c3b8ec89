import { ERROR_CODES, type ErrorCode, type ErrorDetails, PROBLEMS_SHOWN } from '@muster/domain'
import { z } from 'zod'
import { component, referenceSchema } from './schemas.ts'

const errorCodeSchema = component(
  'ErrorCode',
  z.enum(Object.keys(ERROR_CODES) as [ErrorCode, ...ErrorCode[]]).describe('What to decide by. `x-error-codes` has the status of each.'),
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

const problemWarningSchema = component(
  'ProblemWarning',
  z.object({ field: z.string(), message: z.string(), timestamp: z.string() }).describe('What was changed or ignored in an input that has problems as well.'),
)

const exhaustedBudgetSchema = component(
  'ExhaustedBudget',
  z.object({
    scope: z.string().describe('`project`, `agent` or `task`.'),
    window: z.string().describe('`day` or `total`.'),
    unit: z.string().describe('`tokens` or `cost_usd`.'),
    agent_id: z.string().nullable().optional(),
    task_id: z.string().nullable().optional(),
  }),
)

const phraseCandidateSchema = component(
  'PhraseCandidate',
  z.object({ phrase: z.string(), reading: z.string(), next_fire_at: z.string() }).describe('An unambiguous phrase, and what it means.'),
)

const texts = z.array(z.string()).optional()

/** What errors have beside the members of RFC 9457. A new field of `ErrorDetails` does not compile until it is described here. */
const extensions = {
  errors: z
    .array(fieldProblemSchema)
    .max(PROBLEMS_SHOWN)
    .optional()
    .describe('`validation_failed` and others: the problems of the input, the first 50 of them.'),
  errors_omitted: z.int().optional().describe('How many more problems there are than `errors` has.'),
  warnings: z.array(problemWarningSchema).max(PROBLEMS_SHOWN).optional().describe('What else was noticed in an invalid brief.'),
  warnings_omitted: z.int().optional(),
  revision: z.int().optional().describe('`revision_required`, `revision_stale`: the current revision.'),
  candidates: z.array(phraseCandidateSchema).optional().describe('`schedule_ambiguous`: what the phrase may mean.'),
  tools: texts.describe('`background_mcp_blocked`: the tools that are not available.'),
  tool: z.string().optional().describe('The first of `tools`.'),
  subagent_type: z.string().optional(),
  missing: texts.describe('`runner_unavailable`: what the runner lacks.'),
  available: texts.describe('`runner_unavailable`: the runners that are available.'),
  path: texts.describe('`dependency_cycle`: the ids of the cycle.'),
  task_ids: texts.describe('`tsg_in_use`: some of the tasks that link the guide.'),
  tsg_id: z.string().optional(),
  id: z.string().optional().describe('`spawn_blocked`: the session of the caller.'),
  subtask_id: z.string().nullable().optional().describe('The subtask that stands in the way.'),
  status_now: z.string().optional().describe('The status that does not allow the request.'),
  blocked_by: texts.describe('The tasks that this one waits for.'),
  answered_by: referenceSchema.optional().describe('Who answered the question before.'),
  answered_at: z.string().optional(),
  arguments_digest: z.string().nullable().optional().describe('Of the arguments that the approval is about.'),
  required_scope: z.string().optional().describe('`forbidden`: the scope that the credential lacks.'),
  oldest: z.int().optional().describe('`cursor_pruned`: the id of the oldest event that is kept.'),
  limit: z.number().optional().describe('`pending_limit_reached`, `budget_exhausted`, `quota_exceeded`: the limit.'),
  limited_by: z.string().optional().describe('`pending_limit_reached`, `quota_exceeded`: what sets the limit.'),
  agent_id: z.string().optional(),
  budget: exhaustedBudgetSchema.optional().describe('`budget_exhausted`: which budget.'),
  used: z.number().optional(),
  reserved: z.number().optional().describe('What accepted work may still use.'),
  requested: z.number().optional(),
  resets_at: z.string().nullable().optional().describe('When the budget of a day begins again.'),
} satisfies Record<Exclude<keyof ErrorDetails, 'retryAfterSeconds'>, z.ZodType>

export const problemSchema = component(
  'Problem',
  z
    .object({
      type: z.string().describe('URL of the page about this code.'),
      title: z.string(),
      status: z.int(),
      detail: z.string().describe('What went wrong and what to do, for people.'),
      instance: z.string().describe('Path of the request.'),
      code: errorCodeSchema,
      request_id: z.string().describe('It is in the log of the server.'),
      retryable: z.boolean().describe('Whether the same request may succeed later.'),
      ...extensions,
    })
    .describe('RFC 9457 problem details. Its extensions depend on `code`.'),
)
