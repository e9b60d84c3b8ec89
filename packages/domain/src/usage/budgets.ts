import { z } from 'zod'
import { DomainError } from '../core/errors.ts'

const COST_USD_MAX = 1_000_000_000
const TOKENS_MAX = 1_000_000_000_000_000

/** What may be used in one window. */
export const budgetAmountsSchema = z.strictObject({
  cost_usd: z.number().min(0).max(COST_USD_MAX).optional(),
  tokens: z.int().min(0).max(TOKENS_MAX).describe('Read and written').optional(),
})

const windows = {
  day: budgetAmountsSchema.describe('For each day, in UTC').optional(),
  total: budgetAmountsSchema.describe('For all time').optional(),
}

/** What one agent may use. */
export const agentBudgetSchema = z.strictObject(windows)

/** What a project may use, and each of its agents that has no budget of its own. */
export const projectBudgetSchema = z.strictObject({ ...windows, per_agent: agentBudgetSchema.describe('For each agent that has none of its own').optional() })

/** The part of the limits of a project that budgets are in. */
export interface BudgetLimits {
  budget?: z.infer<typeof projectBudgetSchema> | undefined
  agents?: Record<string, { budget?: z.infer<typeof agentBudgetSchema> | undefined }> | undefined
}

/** Tokens, and millionths of a US dollar. */
export interface BudgetAmounts {
  tokens: number
  costMicros: number
}

/** What a project, an agent or a task has used, and what is reserved for its subtasks that have not ended. */
export interface BudgetUse {
  day: BudgetAmounts
  total: BudgetAmounts
  reserved: BudgetAmounts
}

export const NO_USE: BudgetUse = {
  day: { tokens: 0, costMicros: 0 },
  total: { tokens: 0, costMicros: 0 },
  reserved: { tokens: 0, costMicros: 0 },
}

type Unit = keyof BudgetAmounts
export type BudgetScope = 'project' | 'agent' | 'task'

/** One limit, and how much of it is taken. */
export interface BudgetRoom {
  scope: BudgetScope
  /** The agent or the task; null for the project. */
  subject: string | null
  window: 'day' | 'total'
  unit: Unit
  limit: number
  used: number
  reserved: number
}

/** The most that a subtask may use over all its attempts; null for any amount. */
export interface SubtaskBudget {
  maxTokens: number | null
  maxCostUsdMicros: number | null
}

/** The limits of a project that a subtask of an agent meets. */
export function budgetRooms(limits: BudgetLimits, agentId: string, use: { project: BudgetUse; agent: BudgetUse }): BudgetRoom[] {
  const agents = limits.agents ?? {}
  const ofAgent = (Object.hasOwn(agents, agentId) ? agents[agentId]?.budget : undefined) ?? limits.budget?.per_agent
  return [...roomsOf('agent', agentId, ofAgent, use.agent), ...roomsOf('project', null, limits.budget, use.project)]
}

/** The limit of a task, which covers all of its subtasks and judgements. */
export function taskRooms(taskId: string, budget: SubtaskBudget, use: BudgetUse): BudgetRoom[] {
  const total = {
    ...(budget.maxTokens === null ? {} : { tokens: budget.maxTokens }),
    ...(budget.maxCostUsdMicros === null ? {} : { cost_usd: budget.maxCostUsdMicros / 1_000_000 }),
  }
  return roomsOf('task', taskId, { total }, use)
}

function roomsOf(scope: BudgetScope, subject: string | null, budget: z.infer<typeof agentBudgetSchema> | undefined, use: BudgetUse): BudgetRoom[] {
  return (['day', 'total'] as const).flatMap((window) => {
    const { tokens, cost_usd: costUsd } = budget?.[window] ?? {}
    const room = (unit: Unit, limit: number): BudgetRoom => ({ scope, subject, window, unit, limit, used: use[window][unit], reserved: use.reserved[unit] })
    return [...(tokens === undefined ? [] : [room('tokens', tokens)]), ...(costUsd === undefined ? [] : [room('costMicros', Math.round(costUsd * 1_000_000))])]
  })
}

/** A subtask without a budget of its own gets this part of the smallest limit that it meets. */
const SHARE = 10

/**
 * Reserves room for one subtask: what it asks for; without that, a tenth of the smallest limit of the project and the agent; for a task, no more than
 * what is left of its budget. The reservation becomes the budget of the subtask, so that the run cannot use more than was reserved for it.
 *
 * @returns the budget of the subtask, or the limit that has too little room, with what was asked of it
 */
export function reserveBudget(rooms: readonly BudgetRoom[], asked: SubtaskBudget): { granted: SubtaskBudget } | { refused: BudgetRoom; requested: number } {
  const tokens = reserveUnit(rooms, 'tokens', asked.maxTokens)
  if ('refused' in tokens) return tokens
  const costMicros = reserveUnit(rooms, 'costMicros', asked.maxCostUsdMicros)
  if ('refused' in costMicros) return costMicros
  return { granted: { maxTokens: tokens.granted, maxCostUsdMicros: costMicros.granted } }
}

function reserveUnit(rooms: readonly BudgetRoom[], unit: Unit, asked: number | null): { granted: number | null } | { refused: BudgetRoom; requested: number } {
  const met = rooms.filter((room) => room.unit === unit)
  if (met.length === 0) return { granted: asked }
  const left = ({ limit, used, reserved }: BudgetRoom) => limit - used - reserved
  const ofTask = met.filter(({ scope }) => scope === 'task')
  const shared = met.filter(({ scope }) => scope !== 'task').map(({ limit }) => Math.max(1, Math.floor(limit / SHARE)))
  const wanted = asked ?? (shared.length > 0 ? Math.min(...shared) : Number.POSITIVE_INFINITY)
  const requested = Math.min(wanted, ...ofTask.map((room) => Math.max(1, left(room))))
  const full = met.find((room) => left(room) < requested || left(room) <= 0)
  return full === undefined ? { granted: requested } : { refused: full, requested }
}

const WHOSE: Record<BudgetScope, (subject: string | null) => string> = {
  project: () => 'The project',
  agent: (agentId) => `Agent ${agentId}`,
  task: (taskId) => `Task ${taskId}`,
}

function amountOf({ unit }: BudgetRoom, amount: number): string {
  return unit === 'tokens' ? `${amount} tokens` : `$${amount / 1_000_000}`
}

function describeLack(room: BudgetRoom, need: string): string {
  const [limit, used, reserved] = [room.limit, room.used, room.reserved].map((amount) => amountOf(room, amount))
  return `${WHOSE[room.scope](room.subject)} may use ${limit} ${room.window === 'day' ? 'today' : 'in all'}: ${used} are used and ${reserved} reserved, and ${need}.`
}

/**
 * Why there is no room for a judgement, in a sentence; null if each limit has room for the most that it may use.
 *
 * @returns `isPermanent` where no room would help, because the cost cannot be bounded
 */
export function refuseJudgement(
  rooms: readonly BudgetRoom[],
  most: { tokens: number; costUsdMicros: number | null },
): { reason: string; isPermanent: boolean } | null {
  for (const room of rooms) {
    const needed = room.unit === 'tokens' ? most.tokens : most.costUsdMicros
    if (needed === null) {
      const reason = describeLack(room, 'the price of the model that judges is not known. Set it in MODEL_PRICES')
      return { reason, isPermanent: true }
    }
    if (room.limit - room.used - room.reserved < needed) {
      return { reason: describeLack(room, `this judgement may need ${amountOf(room, needed)}`), isPermanent: room.limit < needed }
    }
  }
  return null
}

/** @param resetsAt when the next day begins @param now for `Retry-After` */
export function budgetExhausted({ refused, requested }: { refused: BudgetRoom; requested: number }, resetsAt: Date, now: Date): DomainError {
  const { scope, subject, window, unit, limit, used, reserved } = refused
  const shown = (amount: number) => (unit === 'tokens' ? amount : amount / 1_000_000)
  // Room comes back when running subtasks end below their reservations, or with the next day.
  const isFreedByEnds = reserved > 0 && limit - used >= requested
  const untilReset = Math.ceil((resetsAt.getTime() - now.getTime()) / 1_000)
  const retryAfterSeconds = isFreedByEnds || window === 'total' ? 60 : Math.max(1, untilReset)
  return new DomainError('budget_exhausted', describeLack(refused, `this subtask needs ${amountOf(refused, requested)}`), {
    retryAfterSeconds,
    budget: {
      scope,
      window,
      unit: unit === 'tokens' ? 'tokens' : 'cost_usd',
      ...(scope === 'agent' ? { agent_id: subject } : {}),
      ...(scope === 'task' ? { task_id: subject } : {}),
    },
    limit: shown(limit),
    used: shown(used),
    reserved: shown(reserved),
    requested: shown(requested),
    resets_at: window === 'day' ? resetsAt.toISOString() : null,
  })
}

/** What a revision round may use of the budget that it shares with the rounds before it; null if nothing is left of it. */
export function restOfBudget({ maxTokens, maxCostUsdMicros }: SubtaskBudget, spent: BudgetAmounts): SubtaskBudget | null {
  const rest = {
    maxTokens: maxTokens === null ? null : maxTokens - spent.tokens,
    maxCostUsdMicros: maxCostUsdMicros === null ? null : maxCostUsdMicros - spent.costMicros,
  }
  return Object.values(rest).some((amount) => amount !== null && amount <= 0) ? null : rest
}

/** The amounts by which a budget is raised. They are the arguments of the approval that asks for it. */
export type BudgetRaise = { max_tokens?: number; max_cost_usd?: number }

/** What to ask for when a run has used up its budget: as much again of what is used up. Null if there is nothing of that kind: steps are not raised. */
export function raiseOf({ maxTokens, maxCostUsdMicros }: SubtaskBudget, spent: BudgetAmounts): BudgetRaise | null {
  const raise = {
    ...(maxTokens !== null && spent.tokens >= maxTokens ? { max_tokens: Math.max(1, maxTokens) } : {}),
    ...(maxCostUsdMicros !== null && spent.costMicros >= maxCostUsdMicros ? { max_cost_usd: Math.max(1, maxCostUsdMicros) / 1_000_000 } : {}),
  }
  return Object.keys(raise).length === 0 ? null : raise
}

const budgetRaiseSchema = z
  .strictObject({ max_tokens: z.int().min(1).max(TOKENS_MAX).optional(), max_cost_usd: z.number().min(0.000_001).max(COST_USD_MAX).optional() })
  .refine((raise) => Object.keys(raise).length > 0)

/** The amounts of an approval, which may be edited; null if they are no amounts. */
export function readRaise(given: unknown): SubtaskBudget | null {
  const { data } = budgetRaiseSchema.safeParse(given)
  if (data === undefined) return null
  return { maxTokens: data.max_tokens ?? null, maxCostUsdMicros: data.max_cost_usd === undefined ? null : Math.round(data.max_cost_usd * 1_000_000) }
}

/** Whether these limits have room for a raise; the limit that has not, with what was asked of it. */
export function refuseRaise(rooms: readonly BudgetRoom[], raise: SubtaskBudget): { refused: BudgetRoom; requested: number } | null {
  const raised = rooms.filter(({ unit }) => (unit === 'tokens' ? raise.maxTokens : raise.maxCostUsdMicros) !== null)
  const answer = reserveBudget(raised, raise)
  return 'refused' in answer ? answer : null
}
