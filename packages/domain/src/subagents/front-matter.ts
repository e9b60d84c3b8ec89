import { parseFrontMatter } from '../core/front-matter.ts'
import { readSections } from '../core/markdown-sections.ts'
import { outboundUrlProblem } from '../core/outbound-allow.ts'
import { isWebhookSecret, WEBHOOK_URL_LENGTH_MAX } from '../core/webhook-secret.ts'
import { ALL_TOOLS, splitToolList } from '../tools/tool-rules.ts'
import { isTooLongDescription, quote, type SubagentFields, toAskRules, toModel, toTargetLatencyMs, toTools, type Written } from './fields.ts'
import type { SubagentProblems } from './problems.ts'
import { SUBAGENT_LIMITS } from './subagent.ts'

/**
 * The keys that mean something, without case, dashes and underscores: `disallowed-tools` left unread would allow everything. `allowedTools` and
 * `allowed-tools` are how skills and the SDK call what is `tools` here.
 */
const KEYS = {
  name: '/name',
  description: '/description',
  tools: '/tools',
  allowedtools: '/tools',
  disallowedtools: '/disallowed_tools',
  ask: '/ask',
  model: '/model',
  maxturns: '/max_turns',
  background: '/background',
  mcpservers: '/mcp_servers',
  skills: '/skills',
  targetlatencyms: '/target_latency_ms',
  targetlatency: '/target_latency_ms',
  callback: '/callback',
} as const
type Pointer = (typeof KEYS)[keyof typeof KEYS]

/** The value of a key, and where it is. */
interface Entry {
  key: string
  value: unknown
  line: number
  /** The line of an entry of a list. */
  lineOf(place: number): number
}

type Entries = Map<Pointer, Entry>

/**
 * Claude Code's form. Without the key `tools` everything is allowed, as there; with one that names none, nothing is. What follows the front matter
 * is the instructions, whatever headings it has.
 */
export function readFrontMatterForm(frontMatter: string, content: string, problems: SubagentProblems): SubagentFields | null {
  const read = parseLeniently(frontMatter, problems)
  if (read === null) return null
  const { entries, unknown } = sortEntries(read, problems)
  const instructions = content.trim()
  if (instructions === '') problems.warn('/instructions', 1, 'are empty: write the instructions of the sub-agent after the front matter')
  const tools = entries.get('/tools')
  if (tools === undefined) refuseHiddenTools(content, frontMatter.split('\n').length + 1, problems)
  return {
    name: textOf('/name', entries, problems),
    nameLine: entries.get('/name')?.line ?? 1,
    description: descriptionOf(entries, problems),
    model: modelOf(entries, problems),
    tools: tools === undefined ? [ALL_TOOLS] : toolsOf('/tools', tools, problems),
    disallowedTools: toolsOf('/disallowed_tools', entries.get('/disallowed_tools'), problems),
    ...askOf(entries.get('/ask'), problems),
    instructions,
    targetLatencyMs: latencyOf(entries, problems),
    maxTurns: maxTurnsOf(entries, problems),
    background: backgroundOf(entries, problems),
    mcpServers: serversOf(entries.get('/mcp_servers'), problems),
    skills: namesOf('/skills', entries.get('/skills'), problems).map(({ text }) => text),
    ...callbackOf(entries.get('/callback'), problems),
    unknownKeys: unknown.map(([key]) => key),
    unknownValues: Object.fromEntries(unknown),
  }
}

type ReadFrontMatter = Exclude<ReturnType<typeof parseFrontMatter>, { problem: string }>

/** Claude Code takes texts that are not YAML for want of quotes: `description: Use it when: …` and `tools: *`. With a warning, so does this. */
function parseLeniently(frontMatter: string, problems: SubagentProblems): ReadFrontMatter | null {
  const read = parseFrontMatter(frontMatter)
  if (!('problem' in read)) return read
  const quoted: number[] = []
  const lines = frontMatter.split('\n').map((line, place) => {
    const withQuotes = quoteValue(line)
    if (withQuotes !== line) quoted.push(place + 2)
    return withQuotes
  })
  const again = quoted.length === 0 ? read : parseFrontMatter(lines.join('\n'))
  if ('problem' in again) {
    const hint = read.problem.includes('not YAML') ? '. A value with a colon in it, or one that begins with *, needs quotes' : ''
    problems.error('', read.line, `${read.problem}${hint}`)
    return null
  }
  for (const line of quoted) problems.warn('', line, 'has a value that should stand between quotes: it was read as if it did')
  return again
}

const KEY_AND_VALUE = /^([A-Za-z][\w-]{0,63}:[ \t]+)(?![[{"'|>])([^\n]+)$/

function quoteValue(line: string): string {
  const [, key, value] = KEY_AND_VALUE.exec(line) ?? []
  if (key === undefined || value === undefined || !(/^[*@`%]/.test(value) || value.includes(': ') || value.trimEnd().endsWith(':'))) return line
  return `${key}'${value.trim().replaceAll("'", "''")}'`
}

function sortEntries({ fields, lineOf }: ReadFrontMatter, problems: SubagentProblems): { entries: Entries; unknown: [string, unknown][] } {
  const entries: Entries = new Map()
  const unknown: [string, unknown][] = []
  for (const [key, value] of Object.entries(fields)) {
    const folded = key.toLowerCase().replaceAll(/[-_]/g, '')
    const pointer = Object.hasOwn(KEYS, folded) ? KEYS[folded as keyof typeof KEYS] : null
    const before = pointer === null ? undefined : entries.get(pointer)
    if (before !== undefined) problems.error(pointer ?? '', lineOf(key), `is said twice, by ${quote(before.key)} and ${quote(key)}: keep one`)
    else if (pointer !== null) entries.set(pointer, { key, value, line: lineOf(key), lineOf: (place) => lineOf(key, place) })
    else if (unknown.length >= SUBAGENT_LIMITS.unknownKeys) {
      problems.error('/unknown_keys', lineOf(key), `must be at most ${SUBAGENT_LIMITS.unknownKeys}: remove those that mean nothing`)
      break
    } else if (isDeeper(value, SUBAGENT_LIMITS.unknownDepth)) problems.error('/unknown_keys', lineOf(key), `have ${quote(key)}, which is nested too deeply`)
    else {
      problems.warn('/unknown_keys', lineOf(key), `have ${quote(key)}, which means nothing here and is kept`)
      // As it is when it has been stored.
      unknown.push([key, JSON.parse(JSON.stringify(value ?? null))])
    }
  }
  return { entries, unknown }
}

function isDeeper(value: unknown, levels: number): boolean {
  if (value === null || typeof value !== 'object') return false
  return levels === 0 || Object.values(value).some((each) => isDeeper(each, levels - 1))
}

/** A list of tools in the wrong place would allow everything. */
function refuseHiddenTools(content: string, linesBefore: number, problems: SubagentProblems): void {
  const section = readSections(content, ['allowed tools']).get('allowed tools')
  if (section !== undefined)
    problems.error('/tools', linesBefore + section.line, 'must be named in the front matter, as `tools: Read, Grep`: sections are not read where there is one')
}

/** Empty and absent are one. */
function textOf(pointer: Pointer, entries: Entries, problems: SubagentProblems): string | null {
  const entry = entries.get(pointer)
  if (entry === undefined || entry.value === null) return null
  if (typeof entry.value === 'string') return entry.value.trim() === '' ? null : entry.value.trim()
  problems.error(pointer, entry.line, `must be text: write ${entry.key}: "…"`)
  return null
}

function descriptionOf(entries: Entries, problems: SubagentProblems): string | null {
  const line = entries.get('/description')?.line ?? 1
  const isText = typeof (entries.get('/description')?.value ?? '') === 'string'
  const description = textOf('/description', entries, problems)
  if (description === null && isText) problems.error('/description', line, 'is missing: say what the sub-agent is for, as `description: …`')
  if (description === null || !isTooLongDescription(description)) return description
  problems.error('/description', line, `must be at most ${SUBAGENT_LIMITS.description} characters: the rest belongs after the front matter`)
  return null
}

function modelOf(entries: Entries, problems: SubagentProblems): string | null {
  const text = textOf('/model', entries, problems)
  return text === null ? null : toModel({ text, line: entries.get('/model')?.line ?? 1 }, problems)
}

function latencyOf(entries: Entries, problems: SubagentProblems): number | null {
  const entry = entries.get('/target_latency_ms')
  if (entry === undefined || entry.value === null) return null
  return toTargetLatencyMs({ text: typeof entry.value === 'object' ? JSON.stringify(entry.value) : String(entry.value), line: entry.line }, problems)
}

function maxTurnsOf(entries: Entries, problems: SubagentProblems): number | null {
  const entry = entries.get('/max_turns')
  if (entry === undefined || entry.value === null) return null
  const turns = typeof entry.value === 'string' && /^\d{1,9}$/.test(entry.value) ? Number(entry.value) : entry.value
  if (typeof turns === 'number' && Number.isInteger(turns) && turns >= 1 && turns <= SUBAGENT_LIMITS.maxTurns) return turns
  problems.error('/max_turns', entry.line, `must be a whole number from 1 to ${SUBAGENT_LIMITS.maxTurns}`)
  return null
}

function backgroundOf(entries: Entries, problems: SubagentProblems): boolean {
  const entry = entries.get('/background')
  const value = entry?.value ?? false
  if (value === true || value === 'true') return true
  if (value !== false && value !== 'false') problems.error('/background', entry?.line ?? 1, 'must be true or false')
  return false
}

function toolsOf(pointer: '/tools' | '/disallowed_tools', entry: Entry | undefined, problems: SubagentProblems): string[] {
  if (entry === undefined) return []
  const tools = toTools(pointer, listOf(pointer, entry, problems), problems)
  if (pointer === '/tools' && tools.length === 0) problems.warn(pointer, entry.line, 'name none, so none is allowed: leave the key out to allow all')
  return tools
}

function askOf(entry: Entry | undefined, problems: SubagentProblems): { ask?: string[] } {
  const ask = entry === undefined ? [] : toAskRules(listOf('/ask', entry, problems), problems)
  return ask.length === 0 ? {} : { ask }
}

/** A list of YAML, or one in a line. */
function listOf(pointer: Pointer, { key, value, line, lineOf }: Entry, problems: SubagentProblems): Written[] {
  if (value === null) return []
  const given: unknown[] = Array.isArray(value) ? value : [value]
  return given.flatMap((entry, place) => {
    const at = Array.isArray(value) ? lineOf(place) : line
    if (typeof entry === 'string') return splitToolList(entry, ', ').map((text) => ({ text, line: at }))
    problems.error(pointer, at, `must be a list of names, as \`${key}: A, B\``)
    return []
  })
}

function namesOf(pointer: Pointer, entry: Entry | undefined, problems: SubagentProblems): Written[] {
  if (entry === undefined) return []
  const names = listOf(pointer, entry, problems)
  const distinct = [...new Map(names.map((each) => [each.text, each])).values()]
  if (distinct.length > SUBAGENT_LIMITS.names) problems.error(pointer, entry.line, `must be at most ${SUBAGENT_LIMITS.names}`)
  return distinct
}

const SERVER_NAME = /^[A-Za-z0-9][\w.-]{0,63}$/

/** Claude Code also accepts inline server configurations. A definition may come from any author, so only server names are kept here. */
function serversOf(entry: Entry | undefined, problems: SubagentProblems): string[] {
  if (entry === undefined || entry.value === null) return []
  const given: unknown[] = Array.isArray(entry.value) ? entry.value : [entry.value]
  const isInPlace = given.some((each) => each !== null && typeof each === 'object')
  if (isInPlace) problems.warn('/mcp_servers', entry.line, 'are taken by their names alone: the operator sets them up')
  const named = given.flatMap((each) => (each !== null && typeof each === 'object' && !Array.isArray(each) ? Object.keys(each) : [each]))
  const names = namesOf('/mcp_servers', { ...entry, value: named, lineOf: () => entry.line }, problems)
  const wrong = names.find(({ text }) => !SERVER_NAME.test(text))
  if (wrong !== undefined) problems.error('/mcp_servers', wrong.line, `must be names of MCP servers, which ${quote(wrong.text)} is not`)
  return names.map(({ text }) => text)
}

/** No reason quotes what was written: it may contain a secret. */
function callbackOf(entry: Entry | undefined, problems: SubagentProblems): Pick<SubagentFields, 'callback'> {
  if (entry === undefined || entry.value === null) return {}
  const { value, line } = entry
  const { url, secret, ...others } = (typeof value === 'object' ? value : {}) as Record<string, unknown>
  if (typeof url !== 'string' || url.length > WEBHOOK_URL_LENGTH_MAX || outboundUrlProblem(URL.parse(url), url) !== null) {
    problems.error('/callback/url', line, 'must be a URL of http or https without a user name, as `callback: {url: https://example.com/done}`')
    return {}
  }
  if (Object.keys(others).length > 0) problems.error('/callback', line, 'may have a url and a secret, and nothing else')
  if (secret != null && (typeof secret !== 'string' || !isWebhookSecret(secret))) {
    problems.error('/callback/secret', line, 'must be whsec_ and 24 to 64 bytes in base64')
    return {}
  }
  return { callback: { url, secret, line } }
}
