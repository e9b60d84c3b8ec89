import { beginsWithFrontMatter, renderFrontMatter, splitFrontMatter } from './front-matter.ts'
import { DEFAULT_SUBAGENT_MODEL, isSubagentName, SUBAGENT_LIMITS, type SubagentDefinition, type SubagentReading, type SubagentSource } from './subagent.ts'
import { quote, type SubagentFields } from './subagent-fields.ts'
import { readFrontMatterForm } from './subagent-front-matter.ts'
import { SubagentProblems } from './subagent-problems.ts'
import { readSectionForm } from './subagent-sections.ts'
import { unstorableJsonReason, unstorableReason } from './text.ts'

/** Where a text comes from. */
export interface SubagentOrigin {
  /** The name by which it is known: of its file, or of its address. Without one, the text has to say it. */
  name?: string
  /** Of its file. */
  path?: string
  /** `file` where there is a path, else `api`. */
  source?: SubagentSource
  version?: number
}

/** A text of nothing but instructions, with front matter as large as it may be, is shorter. */
const TEXT_LENGTH_MAX = 2 * SUBAGENT_LIMITS.instructionsBytes

/**
 * Reads a definition in either form: with Claude Code's front matter, or in sections (`## Role`, `## Model`, `## Allowed Tools`, `## Protocol`) where
 * there is none. Whatever the text is, the answer says what is wrong with it. [S10] parse_agent_markdown
 */
export function parseSubagentMarkdown(text: string, origin: SubagentOrigin = {}): SubagentReading {
  const problems = new SubagentProblems()
  const fields = readFields(text, problems)
  const name = fields === null ? '' : chooseName(fields, origin.name, problems)
  if (fields !== null) checkKept(fields, problems)
  if (fields === null || problems.hasErrors) return { definition: null, problems: problems.all() }
  const { nameLine: _, ...withoutNameLine } = fields
  const { path, source = path === undefined ? 'api' : 'file', version = 1 } = origin
  return {
    definition: {
      ...withoutNameLine,
      name,
      description: fields.description ?? '',
      model: fields.model ?? DEFAULT_SUBAGENT_MODEL,
      definitionPath: path ?? null,
      version,
      source,
    },
    problems: problems.all(),
  }
}

/** A text that reads back as the same definition, given the same origin: whichever form it had, as front matter and instructions. */
export function renderSubagentMarkdown(definition: SubagentDefinition): string {
  const { name, description, model, tools, disallowedTools, maxTurns, background, mcpServers, skills, targetLatencyMs } = definition
  const frontMatter = {
    name,
    description,
    model,
    tools,
    ...(disallowedTools.length === 0 ? {} : { disallowedTools }),
    ...(maxTurns === null ? {} : { maxTurns }),
    ...(background ? { background } : {}),
    ...(mcpServers.length === 0 ? {} : { mcpServers }),
    ...(skills.length === 0 ? {} : { skills }),
    ...(targetLatencyMs === null ? {} : { target_latency_ms: targetLatencyMs }),
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

/** What the text says of its name and what it is known by have to agree: which of the two is meant would be a guess. */
function chooseName({ name: written, nameLine }: SubagentFields, known: string | undefined, problems: SubagentProblems): string {
  const name = known ?? written
  if (name === null) problems.error('/name', 1, 'is missing: say it in the front matter, as `name: …`')
  else if (!isSubagentName(name))
    problems.error('/name', nameLine, `is ${quote(name)}: must be lower-case letters, digits and dashes, begin with a letter and have at most 64`)
  else if (written !== null && written !== name)
    problems.error('/name', nameLine, `is ${quote(written)}, but must be ${name}, like its file or address, or absent`)
  return name ?? ''
}

/** What YAML can write with escapes, and what is too much to keep. */
function checkKept(fields: SubagentFields, problems: SubagentProblems): void {
  const reason = unstorableJsonReason(fields)
  if (reason !== null) problems.error('', 1, `has a value that ${reason}`)
  const bytes = Buffer.byteLength(fields.instructions)
  if (bytes > SUBAGENT_LIMITS.instructionsBytes)
    problems.error('/instructions', 1, `must be at most ${SUBAGENT_LIMITS.instructionsBytes} bytes, and are ${bytes}`)
}
