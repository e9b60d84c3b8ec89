import { type MarkdownSection, readSections } from '../core/markdown-sections.ts'
import { cutToCodePoints } from '../core/text.ts'
import { splitToolList } from '../tools/tool-rules.ts'
import { isTooLongDescription, type SubagentFields, toModel, toTargetLatencyMs, toTools, type Written } from './fields.ts'
import type { SubagentProblems } from './problems.ts'
import { SUBAGENT_LIMITS } from './subagent.ts'

const TITLES = ['role', 'model', 'allowed tools', 'disallowed tools', 'target latency'] as const
type Title = (typeof TITLES)[number]
const POINTERS = {
  role: '/description',
  model: '/model',
  'allowed tools': '/tools',
  'disallowed tools': '/disallowed_tools',
  'target latency': '/target_latency_ms',
} as const satisfies Record<Title, string>

/**
 * The form of [S10]. The whole text is the instructions, sections that mean nothing here included. Nothing is allowed but what `## Allowed Tools` says:
 * authors of sections mean a list.
 */
export function readSectionForm(text: string, problems: SubagentProblems): SubagentFields {
  const sections = readSections(text, TITLES)
  for (const [title, { line, repeatedAt }] of sections) {
    if (repeatedAt !== null) problems.error(POINTERS[title], repeatedAt, `is said twice, by ## sections in the lines ${line} and ${repeatedAt}: keep one`)
  }
  return {
    name: null,
    nameLine: 1,
    description: roleOf(sections.get('role'), text, problems),
    model: modelOf(sections.get('model'), problems),
    tools: allowedToolsOf(sections.get('allowed tools'), problems),
    disallowedTools: toTools('/disallowed_tools', toolLines(sections.get('disallowed tools')), problems),
    instructions: text.trim(),
    targetLatencyMs: latencyOf(sections.get('target latency'), problems),
    maxTurns: null,
    background: false,
    mcpServers: [],
    skills: [],
    unknownKeys: [],
    unknownValues: {},
  }
}

/** What stands in a section, and where the first line of it does. */
function contentOf({ line, lines }: MarkdownSection): Written {
  const first = lines.findIndex((each) => each.trim() !== '')
  return { text: lines.join('\n').trim(), line: first === -1 ? line : line + 1 + first }
}

const LATE_FRONT_MATTER = /^\s*---[ \t]*\n/

function roleOf(section: MarkdownSection | undefined, text: string, problems: SubagentProblems): string | null {
  if (section === undefined) {
    const hint = LATE_FRONT_MATTER.test(text) ? 'front matter must begin in the first line' : 'say what the sub-agent is for in a section `## Role`'
    problems.error('/description', 1, `is missing: ${hint}`)
    return null
  }
  const { text: role, line } = contentOf(section)
  if (role === '') problems.error('/description', line, 'is empty: say what the sub-agent is for in its section `## Role`')
  if (!isTooLongDescription(role)) return role
  problems.warn('/description', line, `is cut to ${SUBAGENT_LIMITS.description} characters; the instructions have all of it`)
  return cutToCodePoints(role, SUBAGENT_LIMITS.description - 1).trimEnd()
}

/** The first line says it, whatever follows. */
function modelOf(section: MarkdownSection | undefined, problems: SubagentProblems): string | null {
  if (section === undefined) return null
  const { text, line } = contentOf(section)
  const model = bare(firstLine(text))
  if (model !== '') return toModel({ text: model, line }, problems)
  problems.warn('/model', line, 'is empty, so it is sonnet')
  return null
}

function latencyOf(section: MarkdownSection | undefined, problems: SubagentProblems): number | null {
  if (section === undefined) return null
  const { text, line } = contentOf(section)
  return toTargetLatencyMs({ text: bare(firstLine(text)), line }, problems)
}

function allowedToolsOf(section: MarkdownSection | undefined, problems: SubagentProblems): string[] {
  const tools = toTools('/tools', toolLines(section), problems)
  if (tools.length === 0)
    problems.warn('/tools', section?.line ?? 1, 'name none, so none is allowed: list them in a section `## Allowed Tools`, or `- *` for all')
  return tools
}

/** One tool a line, with or without a list mark, or several with commas between them. One at a time: it may be a million lines. */
function* toolLines(section: MarkdownSection | undefined): Generator<Written> {
  for (const [place, line] of (section?.lines ?? []).entries()) {
    if (HEADING_INSIDE.test(line)) continue
    for (const entry of splitToolList(bare(line), ',')) {
      const text = bare(entry)
      if (text !== '') yield { text, line: (section?.line ?? 0) + 1 + place }
    }
  }
}

const HEADING_INSIDE = /^ {0,3}#{3,6}[ \t]/

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? ''
}

const LIST_MARK = /^(?:[-*+•]|\d{1,3}[.)])[ \t]+/

/** A word without what Markdown puts around it. */
function bare(line: string): string {
  const text = line.trim().replace(LIST_MARK, '').trim()
  if (/^`[^`]+`$/.test(text)) return text.slice(1, -1).trim()
  if (/^\*\*[^*]+\*\*$/.test(text)) return text.slice(2, -2).trim()
  return /^(?:[-*]{3,}$|`{3,}|~{3,}|[-+•]$)/.test(text) ? '' : text
}
