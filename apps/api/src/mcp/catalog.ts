import type { Tool } from '@modelcontextprotocol/server'
import { type Actor, hasScope, isSpawningTool, requireScope, requireSpawnAllowed } from '@muster/domain'
import { z } from 'zod'
import { didYouMean } from '../http/did-you-mean.ts'
import { withRoom } from '../http/room.ts'
import { text } from '../http/schemas.ts'
import { fieldProblem, validationFailed } from '../http/validation.ts'
import { type McpCaller, type McpTool, mcpTool, TIERS, type Tier, WAIT_DEADLINE_MS } from './tool.ts'
import { cancelTaskTool, flagSequenceQualityTool, getTaskTool, listTasksTool, requestFullPayloadTool, steerTaskTool, waitForTool } from './tools/any-work.ts'
import { evaluateOutputTool } from './tools/evaluations.ts'
import { createTsgTool, listTsgsTool, markTsgHelpfulTool, readTsgTool, scanForTsgTool, updateTsgTool } from './tools/guides.ts'
import { claimInboxTool } from './tools/inbox.ts'
import { learnFactTool, recallDeepTool, recallTool } from './tools/memory.ts'
import { answerQuestionTool, askTool, listQuestionsTool } from './tools/questions.ts'
import { readTranscriptTool, spawnSubagentTool, spawnTaskTool } from './tools/runs.ts'
import { scheduleTaskTool } from './tools/schedules.ts'
import {
  assignTaskTool,
  attachTsgTool,
  checkInTool,
  confirmUpdateTool,
  createRealTaskTool,
  createTaskTool,
  markTaskCompleteTool,
  reviewTaskTool,
  updateTaskTool,
} from './tools/tasks.ts'

/** Every tool, in the order in which clients see them. */
export const TOOLS: readonly McpTool[] = [
  createTaskTool,
  updateTaskTool,
  getTaskTool,
  listTasksTool,
  assignTaskTool,
  markTaskCompleteTool,
  spawnTaskTool,
  scheduleTaskTool,
  cancelTaskTool,
  claimInboxTool,
  checkInTool,
  confirmUpdateTool,
  readTsgTool,
  scanForTsgTool,
  markTsgHelpfulTool,
  waitForTool,
  steerTaskTool,
  readTranscriptTool,
  reviewTaskTool,
  spawnSubagentTool,
  evaluateOutputTool,
  requestFullPayloadTool,
  recallTool,
  askTool,
  listQuestionsTool,
  answerQuestionTool,
  recallDeepTool,
  learnFactTool,
  createRealTaskTool,
  attachTsgTool,
  flagSequenceQualityTool,
  listTsgsTool,
  createTsgTool,
  updateTsgTool,
]

/** The tools that a caller may use: those of its scopes, and for a sub-agent those that report on its own work. */
function usableTools(actor: Actor): McpTool[] {
  const { lineage } = actor
  return TOOLS.filter(
    ({ scopes, forSubagents }) =>
      scopes.some((scope) => hasScope(actor, scope)) &&
      (lineage === null || forSubagents === 'all' || (forSubagents === 'assigned' && lineage.subtaskId === null)),
  )
}

/** A sub-agent sees all of its few tools. Any other caller sees those of its tier, and the two that lead to the others. */
export function listedTools(actor: Actor, tier: Tier): McpTool[] {
  const usable = usableTools(actor)
  if (actor.lineage !== null) return usable
  const listed = usable.filter((tool) => TIERS.indexOf(tool.tier) <= TIERS.indexOf(tier))
  return listed.length === usable.length ? listed : [...listed, searchToolsTool, callToolTool]
}

/** A tool by its name, whether the caller sees it or not. */
export function findTool(name: string): McpTool | undefined {
  return [...TOOLS, searchToolsTool, callToolTool].find(({ description }) => description.name === name)
}

/** The tool that a call is for in the end: `call_tool` names another one. */
export function toolMeant(tool: McpTool, input: Record<string, unknown>): McpTool {
  return (tool === callToolTool ? TOOLS.find(({ description }) => description.name === input.name) : undefined) ?? tool
}

/** @throws DomainError also what the caller may not do, before anything is said about the input */
export async function callTool(caller: McpCaller, { scopes, call, description, needsRoom }: McpTool, input: unknown): Promise<Record<string, unknown>> {
  const { actor } = caller.ctx
  if (isSpawningTool(description.name)) requireSpawnAllowed(actor)
  const [scope] = scopes
  if (scope !== undefined && !scopes.some((each) => hasScope(actor, each))) requireScope(actor, scope)
  if (!needsRoom) return await call(caller, input)
  return await withRoom(caller.ctx, Buffer.byteLength(JSON.stringify(input ?? null)), () => call(caller, input))
}

/** Tools in one answer: more would cost what the tiers save. */
const FOUND_MAX = 5

const searchToolsTool = mcpTool({
  name: 'search_tools',
  title: 'Find further tools',
  description: 'Finds tools that are not in your list: guides, memory, evaluation, review, transcripts. Use one with call_tool.',
  effect: 'reads',
  tier: 'core',
  scopes: [],
  input: z.strictObject({ query: text(200) }),
  output: z.object({ tools: z.array(z.looseObject({ name: z.string() })) }),
  async handle({ ctx }, { query }) {
    return { tools: matchingTools(usableTools(ctx.actor), query).map(({ name, description, inputSchema }) => ({ name, description, inputSchema })) }
  },
})

/** The tools that share words with a query, best first. A word counts more the fewer tools have it, and more in a name than in a description. */
function matchingTools(tools: McpTool[], query: string): Tool[] {
  const texts = tools.map(({ description: { name, title, description } }) => ({ named: wordsOf(`${name} ${title}`), described: wordsOf(`${description}`) }))
  const scores = tools.map(() => 0)
  for (const word of wordsOf(query)) {
    const hits = texts.map(({ named, described }) => (named.has(word) ? 3 : 0) + (described.has(word) ? 1 : 0))
    const rarity = Math.log((1 + tools.length) / (1 + hits.filter((hit) => hit > 0).length))
    for (const [index, hit] of hits.entries()) scores[index] = (scores[index] ?? 0) + hit * rarity
  }
  return tools
    .map(({ description }, index) => ({ description, score: scores[index] ?? 0 }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, FOUND_MAX)
    .map(({ description }) => description)
}

/** The words of a text, without the ending of a plural. */
function wordsOf(text: string): Set<string> {
  const words = text.toLowerCase().split(/[^\p{L}\p{N}]+/u)
  return new Set(words.filter((word) => word.length > 1).map((word) => word.replace(/s$/, '')))
}

const callToolTool = mcpTool({
  name: 'call_tool',
  title: 'Call a found tool',
  description: 'Calls a tool that search_tools has found.',
  effect: 'ends',
  tier: 'core',
  scopes: [],
  deadlineMs: WAIT_DEADLINE_MS,
  input: z.strictObject({ name: text(100), arguments: z.looseObject({}).optional() }),
  output: z.looseObject({}),
  async handle(caller, { name, arguments: input }) {
    const tool = TOOLS.find(({ description }) => description.name === name)
    if (tool !== undefined) return await callTool(caller, tool, input)
    const meant = didYouMean(
      name,
      usableTools(caller.ctx.actor).map(({ description }) => description.name),
    )
    const hint = meant.length === 0 ? 'search_tools finds those that there are' : `did you mean ${meant.join(' or ')}?`
    throw validationFailed([fieldProblem('/name', `names no tool; ${hint}`, name)])
  },
})
