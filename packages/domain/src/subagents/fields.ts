import { codePointLength, cutToCodePoints } from '../core/text.ts'
import { ASK_RULES_MAX, isAskRule } from '../tools/ask-rules.ts'
import { isKnownTool, isMcpTool, knownToolLike, readToolRule } from '../tools/tool-rules.ts'
import type { SubagentProblems } from './problems.ts'
import { SUBAGENT_LIMITS, toModelName } from './subagent.ts'

/** Something that a definition says, and the line in which it does. */
export interface Written {
  text: string
  line: number
}

/** What both forms of a definition say, before what they leave out is filled in. */
export interface SubagentFields {
  name: string | null
  /** Where it is, or would be. */
  nameLine: number
  description: string | null
  model: string | null
  tools: string[]
  disallowedTools: string[]
  ask?: string[]
  instructions: string
  targetLatencyMs: number | null
  maxTurns: number | null
  background: boolean
  mcpServers: string[]
  skills: string[]
  callback?: { url: string; secret: string | null | undefined; line: number }
  unknownKeys: string[]
  unknownValues: Record<string, unknown>
}

/** The rules of a list, each once. Unknown tools are kept: another runner or server may provide them. */
export function toTools(pointer: '/tools' | '/disallowed_tools', entries: Iterable<Written>, problems: SubagentProblems): string[] {
  const tools = new Set<string>()
  let place = -1
  for (const { text, line } of entries) {
    place += 1
    if (place >= SUBAGENT_LIMITS.tools) {
      problems.error(pointer, line, `must name at most ${SUBAGENT_LIMITS.tools} tools`)
      break
    }
    const rule = readToolRule(text)
    if (rule === null)
      problems.error(`${pointer}/${place}`, line, `is ${quote(text)}, which names no tool: name one an entry, such as Read, Bash(git:*) or mcp__server__tool`)
    else if (!isKnownTool(rule.name)) {
      const meant = knownToolLike(rule.name)
      problems.warn(`${pointer}/${place}`, line, `is ${quote(text)}, which is unknown${meant === undefined ? '; it is kept' : `: did you mean ${meant}?`}`)
    } else if (isMcpTool(rule.name) && rule.specifier !== null)
      problems.warn(`${pointer}/${place}`, line, `is ${quote(text)}: rules for MCP tools cannot have parentheses`)
    tools.add(text)
  }
  return [...tools]
}

/** The rules about uses that ask, each once. */
export function toAskRules(entries: Iterable<Written>, problems: SubagentProblems): string[] {
  const rules = new Set<string>()
  for (const { text, line } of entries) {
    if (isAskRule(text)) rules.add(text)
    else problems.error('/ask', line, `is ${quote(text)}, which names no tool: name one an entry, such as Bash(git push:*) or mcp__*__delete_*`)
  }
  if (rules.size > ASK_RULES_MAX) problems.error('/ask', 1, `must have at most ${ASK_RULES_MAX} rules`)
  return [...rules]
}

/** Null with a problem, too. */
export function toModel({ text, line }: Written, problems: SubagentProblems): string | null {
  const model = toModelName(text)
  if (model === null) problems.error('/model', line, `is ${quote(text)}: must be haiku, sonnet, opus, inherit or the name of a provider's model, in one word`)
  return model
}

const LATENCY = /^(?:<=|[<≤~])? ?(\d{1,9}(?:\.\d{1,3})?) ?(ms|milliseconds?|s|secs?|seconds?)?$/
const NO_LATENCY = new Set(['', '-', '–', '—', 'none'])

/** `<500ms`, `1.5 s` or a number of milliseconds. */
export function toTargetLatencyMs({ text, line }: Written, problems: SubagentProblems): number | null {
  const written = text.trim().toLowerCase()
  if (NO_LATENCY.has(written)) return null
  const [, amount = '', unit = 'ms'] = LATENCY.exec(written) ?? []
  const milliseconds = amount === '' ? Number.NaN : Math.round(Number(amount) * (unit.startsWith('m') ? 1 : 1000))
  if (milliseconds >= 1 && milliseconds <= SUBAGENT_LIMITS.targetLatencyMs) return milliseconds
  problems.error(
    '/target_latency_ms',
    line,
    `is ${quote(text)}: must be milliseconds from 1 to ${SUBAGENT_LIMITS.targetLatencyMs}, such as 500, <500ms or 1.5 s`,
  )
  return null
}

export function isTooLongDescription(text: string): boolean {
  return codePointLength(text) > SUBAGENT_LIMITS.description
}

/** Enough of a text to find it again. */
export function quote(text: string): string {
  return JSON.stringify(cutToCodePoints(text, 60))
}
