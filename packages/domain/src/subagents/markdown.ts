import { beginsWithFrontMatter, renderFrontMatter, splitFrontMatter } from '../core/front-matter.ts'
import { unstorableJsonReason, unstorableReason } from '../core/text.ts'
import { quote, type SubagentFields } from './fields.ts'
import { readFrontMatterForm } from './front-matter.ts'
import { SubagentProblems } from './problems.ts'
import { readSectionForm } from './sections.ts'
import {
  DEFAULT_SUBAGENT_MODEL,
  isSubagentName,
  SUBAGENT_LIMITS,
  type SubagentDefinition,
  type SubagentReading,
  type SubagentSource,
  toSubagentName,
} from './subagent.ts'

/** Where a text comes from. */
export interface SubagentOrigin {
  /** The name that it was asked to have, by its address: the text may not have another one. */
  name?: string
  /** Its file's name, without the ending: the name of a text that says none. */
  fileName?: string
  /** Of its file. */
  path?: string
  /** `file` where there is a path, else `api`. */
  source?: SubagentSource
  version?: number
}

/** The reading of a text, with its name. A definition that cannot be used may still have a name; null when it has none. */
export interface NamedReading extends SubagentReading {
  name: string | null
  /** Signs the requests to the callback of the definition, which does not contain it. Undefined: nothing is written of it; null: there is none. */
  callbackSecret: string | null | undefined
}

/** A text of nothing but instructions, with front matter as large as it may be, is shorter. */
const TEXT_LENGTH_MAX = 2 * SUBAGENT_LIMITS.instructionsBytes

/**
 * Reads a definition in either form: with Claude Code's front matter, or in sections (`## Role`, `## Model`, `## Allowed Tools`, `## Protocol`) where
 * there is none. Whatever the text is, the answer says what is wrong with it. [S10] parse_agent_markdown
 */
export function parseSubagentMarkdown(text: string, origin: SubagentOrigin = {}): NamedReading {
  const problems = new SubagentProblems()
  const fields = readFields(text, problems)
  const name = chooseName(fields, origin, problems)
  const { path, source = path === undefined ? 'api' : 'file', version = 1 } = origin
  if (fields !== null) checkKept(fields, problems)
  if (source === 'file' && fields?.callback?.secret != null)
    problems.error('/callback/secret', fields.callback.line, 'must not be in a file, where it would not be encrypted: put the definition by the API')
  if (fields === null || name === null || problems.hasErrors) return { name, callbackSecret: undefined, definition: null, problems: problems.all() }
  const { nameLine: _, name: written, callback, ...withoutName } = fields
  return {
    name,
    definition: {
      ...withoutName,
      ...(callback === undefined ? {} : { callback: { url: callback.url } }),
      name,
      title: written === null || written === name ? null : written,
      description: fields.description ?? '',
      model: fields.model ?? DEFAULT_SUBAGENT_MODEL,
      definitionPath: path ?? null,
      version,
      source,
    },
    callbackSecret: callback?.secret,
    problems: problems.all(),
  }
}

/**
 * Whether a Markdown text is meant to define a sub-agent, well or badly: front matter that says its name or what it is for, or a section `## Role`. Collections
 * hold other texts beside their definitions.
 */
export function looksLikeSubagent(text: string): boolean {
  const start = text.slice(0, LOOKED_AT).replace(/^\uFEFF/, '')
  return beginsWithFrontMatter(start) ? /^(?:name|description)[ \t]*:/im.test(start) : /^## +Role[ \t]*$/im.test(start)
}

/** The characters of a text that decide whether it defines a sub-agent. */
const LOOKED_AT = 65_536

/** A text that reads back as the same definition, given the same origin: whichever form it had, as front matter and instructions. Without its secret. */
export function renderSubagentMarkdown(definition: SubagentDefinition): string {
  const { name, title, description, model, tools, disallowedTools, ask = [], maxTurns, background, mcpServers, skills, targetLatencyMs, callback } = definition
  const frontMatter = {
    name: title ?? name,
    description,
    model,
    tools,
    ...(disallowedTools.length === 0 ? {} : { disallowedTools }),
    ...(ask.length === 0 ? {} : { ask }),
    ...(maxTurns === null ? {} : { maxTurns }),
    ...(background ? { background } : {}),
    ...(mcpServers.length === 0 ? {} : { mcpServers }),
    ...(skills.length === 0 ? {} : { skills }),
    ...(targetLatencyMs === null ? {} : { target_latency_ms: targetLatencyMs }),
    ...(callback === undefined ? {} : { callback }),
    ...Object.fromEntries(definition.unknownKeys.map((key) => [key, definition.unknownValues[key]])),
  }
  return renderFrontMatter(frontMatter, definition.instructions)
}

function readFields(given: string, problems: SubagentProblems): SubagentFields | null {
  if (given.length > TEXT_LENGTH_MAX) {
    problems.error('', 1, `is longer than ${TEXT_LENGTH_MAX} characters: instructions may have ${SUBAGENT_LIMITS.instructionsBytes} bytes`)
    return null
  }
  const text = given.replace(/^\uFEFF/, '').replaceAll(/\r\n?/g, '\n')
  const reason = unstorableReason(text)
  if (reason !== null) {
    problems.error('', lineAt(text, text.search(UNSTORABLE)), reason)
    return null
  }
  const parts = splitFrontMatter(text)
  if (parts !== null) return readFrontMatterForm(parts.frontMatter, parts.content, problems)
  if (beginsWithFrontMatter(text)) {
    problems.error('', 1, 'has front matter that does not end: close it with a line that is ---')
    return null
  }
  return readSectionForm(text, problems)
}

const UNSTORABLE = /\0|[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/

function lineAt(text: string, offset: number): number {
  let line = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line += 1
  return line
}

/** A definition goes by the name that its text says, else by its address or its file. */
function chooseName(fields: SubagentFields | null, { name: asked, fileName }: SubagentOrigin, problems: SubagentProblems): string | null {
  const stated = fields?.name ?? asked ?? fileName ?? null
  const line = fields?.nameLine ?? 1
  const name = stated === null ? null : toSubagentName(stated)
  if (asked !== undefined && !isSubagentName(asked)) {
    problems.error('/name', line, `is ${quote(asked)}: must be lower-case letters, digits and dashes, begin with a letter and have at most 64`)
    return null
  }
  if (stated === null) problems.error('/name', 1, 'is missing: say it in the front matter, as `name: …`')
  else if (name === null) problems.error('/name', line, `is ${quote(stated)}: must have a letter or a digit`)
  else if (asked !== undefined && name !== asked) problems.error('/name', line, `is ${quote(stated)}, but must be ${asked}, like its address, or absent`)
  else if (name !== stated) problems.warn('/name', line, `is ${quote(stated)}, which is kept as its title: here it goes by the name ${name}`)
  return asked ?? name
}

/** What YAML can write with escapes, and what is too much to keep. */
function checkKept(fields: SubagentFields, problems: SubagentProblems): void {
  const reason = unstorableJsonReason(fields)
  if (reason !== null) problems.error('', 1, `has a value that ${reason}`)
  const bytes = Buffer.byteLength(fields.instructions)
  if (bytes > SUBAGENT_LIMITS.instructionsBytes)
    problems.error('/instructions', 1, `must be at most ${SUBAGENT_LIMITS.instructionsBytes} bytes, and are ${bytes}`)
}
