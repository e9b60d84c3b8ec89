import type { CallToolResult, Tool, ToolAnnotations } from '@modelcontextprotocol/server'
import { DomainError, type FieldProblem, type Scope } from '@muster/domain'
import type { Ctx } from '@muster/usecases'
import { z } from 'zod'
import type { ApiDeps } from '../api-deps.ts'
import { removeAbsentNulls } from '../http/absent-nulls.ts'
import { check, validationFailed } from '../http/validation.ts'

/** Who calls a tool, and how progress is reported to it. */
export interface McpCaller {
  ctx: Ctx
  deps: ApiDeps
  /** The session that it is called in, where the caller says so; a sub-agent's own credential always stands for its own. */
  sessionId: string | undefined
  /** The agent that the caller acts for, where it says so. */
  agentId: string | undefined
  /** Aborted when the caller no longer waits. */
  gone: AbortSignal
  /** Checks the credential again after a wait. @throws DomainError `unauthenticated` */
  authorizeAgain(): Promise<void>
  /** Tells the caller how far a wait has come, if it asked for that. */
  report(ended: number, total: number): void
}

/** How many tools a client lists: each tier contains the ones before it. */
export const TIERS = ['core', 'standard', 'all'] as const
export type Tier = (typeof TIERS)[number]

/** A tool with its types closed over, as the server sees it. */
export interface McpTool {
  /** The description for clients. */
  description: Tool
  tier: Tier
  /** The caller needs one or more of these scopes; it does not see the tool otherwise. */
  scopes: readonly Scope[]
  /** Whether a sub-agent sees it with its own credential, and which sub-agents. */
  forSubagents: 'all' | 'assigned' | 'none'
  /** Longest time that it may take, in milliseconds. */
  deadlineMs: number
  /** Whether its writes belong in the audit log. */
  isAudited: boolean
  /** Whether what it takes needs room in what the project and the run may store. */
  needsRoom: boolean
  /** @throws DomainError */
  call(caller: McpCaller, input: unknown): Promise<Record<string, unknown>>
}

const DEADLINE_MS = 5_000
/** For a tool that waits for work to end. */
export const WAIT_DEADLINE_MS = 70_000

/** What a tool does to what there is: it reads, adds, or changes it, the last with or without effect when it is repeated. */
const EFFECTS = {
  reads: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  adds: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
  sets: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  ends: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
} as const satisfies Record<string, ToolAnnotations>

interface McpToolSpec<Input, Output> {
  name: string
  title: string
  description: string
  effect: keyof typeof EFFECTS
  tier: Tier
  scopes: readonly Scope[]
  forSubagents?: McpTool['forSubagents']
  /** True where its writes leave no entry in the audit log: they are the traffic of a session, at each of its steps. */
  isTraffic?: boolean
  /** True where it is taken from a project or a run that has stored as much as it may: it ends work, or lets accepted work go on. */
  needsNoRoom?: boolean
  /** Default: 5 seconds. */
  deadlineMs?: number
  input: Input
  output: Output
  /** Where a parameter has another name than the field of the use-case: `{field: parameter}`, for the errors. */
  names?: Record<string, string>
  handle(caller: McpCaller, input: z.output<Input>): Promise<z.output<Output>>
}

/** Defines a tool: what it takes, what it calls, and what it answers with. */
export function mcpTool<Input extends z.ZodObject, Output extends z.ZodObject>(spec: McpToolSpec<Input, Output>): McpTool {
  const {
    name,
    title,
    description,
    effect,
    tier,
    scopes,
    forSubagents = 'none',
    deadlineMs = DEADLINE_MS,
    isTraffic = false,
    needsNoRoom = false,
    input,
    output,
    names = {},
  } = spec
  return {
    description: {
      name,
      title,
      description,
      annotations: EFFECTS[effect],
      inputSchema: toSlimSchema(input, 'input') as Tool['inputSchema'],
      outputSchema: toSlimSchema(output, 'output') as Tool['inputSchema'],
    },
    tier,
    scopes,
    forSubagents,
    deadlineMs,
    isAudited: effect !== 'reads' && !isTraffic,
    needsRoom: effect !== 'reads' && effect !== 'ends' && !isTraffic && !needsNoRoom,
    async call(caller, given) {
      try {
        return await spec.handle(caller, parse(input, given ?? {}))
      } catch (error) {
        throw error instanceof DomainError ? withParameterNames(error, names) : error
      }
    },
  }
}

/** @throws DomainError `validation_failed`, naming everything that is wrong */
export function parse<Schema extends z.ZodType>(schema: Schema, given: unknown): z.output<Schema> {
  const problems: FieldProblem[] = []
  removeAbsentNulls(schema, given)
  const parsed = check(schema, given, 'body', problems)
  if (problems.length > 0) throw validationFailed(problems)
  return parsed as z.output<Schema>
}

/** The error in the words of the tool: its parameters, where those of REST are called otherwise. */
function withParameterNames(error: DomainError, names: Record<string, string>): DomainError {
  const { errors } = error.details
  if (errors === undefined || Object.keys(names).length === 0) return error
  const fields = Object.keys(names).join('|')
  const rename = (path: string) => path.replace(new RegExp(`^(/?)(${fields})(?=[./[]|$)`), (_, slash: string, field: string) => slash + names[field])
  const renamed = errors.map((problem) => ({ ...problem, field: rename(problem.field), pointer: rename(problem.pointer) }))
  return error.code === 'validation_failed'
    ? new DomainError(error.code, validationFailed(renamed).message, { ...error.details, errors: renamed })
    : new DomainError(error.code, error.message, { ...error.details, errors: renamed })
}

/** A JSON Schema without what a model does not need: each token of it is in the context of every client. */
function toSlimSchema(schema: z.ZodType, io: 'input' | 'output'): unknown {
  const { $schema: _, ...slim } = z.toJSONSchema(schema, {
    io,
    override: ({ jsonSchema }) => {
      // The format says the same as its pattern.
      if (jsonSchema.format === 'uuid') delete jsonSchema.pattern
      delete jsonSchema.examples
      delete jsonSchema.minLength
      // Any other field may come, which is so without a word.
      if (io === 'output') delete jsonSchema.additionalProperties
    },
  })
  return slim
}

/** A result as text, for clients that read nothing else. */
export function toolText(value: unknown): CallToolResult['content'] {
  return [{ type: 'text', text: JSON.stringify(value) }]
}
