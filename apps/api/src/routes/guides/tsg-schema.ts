import { parseTsgMarkdown, renderTsgMarkdown, successRate, TSG_ID, TSG_LIMITS, TSG_MATCHES, TSG_SEVERITIES, type Tsg, type TsgUsage } from '@muster/domain'
import type { ScannedTsg, TsgSummary } from '@muster/usecases'
import { z } from 'zod'
import { contentTag } from '../../http/entity-tag.ts'
import { component, formerly, listComponent, printableId, requestComponent, text, time, toTime } from '../../http/schemas.ts'

const EXAMPLE_ID = 'port-already-in-use'

/** What callers name a guide by. */
export const tsgId = z
  .string()
  .regex(TSG_ID, 'must be lower-case letters, digits and dashes, at most 64, beginning with a letter or digit')
  .describe('Id of the guide.')
  .meta({ examples: [EXAMPLE_ID] })

export const tsgParams = z.strictObject({ tsg_id: tsgId })

export const tsgSeveritySchema = component('TsgSeverity', z.enum(TSG_SEVERITIES).describe('Guides are sorted by it, the most severe first.'))

const matchSchema = component(
  'TsgMatch',
  z.enum(TSG_MATCHES).describe('substring: ignores case. regex: RE2 syntax, case-sensitive; `(?i)` ignores case, `(?m)` makes ^ and $ match at lines.'),
)

const applicabilitySchema = component('TsgApplicability', z.object({ technologies: z.array(z.string()) }))

const newApplicability = requestComponent(
  'NewTsgApplicability',
  z.strictObject({ technologies: z.array(text(TSG_LIMITS.technology)).max(TSG_LIMITS.technologies) }),
)

const EXAMPLE = {
  title: 'The port is already in use',
  content: '## What to do\n\nFind out who listens there: `ss -ltnp`. If it is a server that you left running, stop it; else take another port.',
  patterns: ['EADDRINUSE', 'address already in use'],
  applicability: { technologies: ['node'] },
  severity: 'medium' as const,
}

const fields = {
  title: text(TSG_LIMITS.title),
  content: text(TSG_LIMITS.content).describe('What to do, in Markdown.'),
  patterns: z.array(text(TSG_LIMITS.pattern)).min(1).max(TSG_LIMITS.patterns).describe('Texts of the failure. One match is enough to announce the guide.'),
  match: matchSchema,
  applicability: newApplicability.describe('Where the guide applies.'),
  severity: tsgSeveritySchema,
}

const { match, applicability, severity, ...needed } = fields

export const newTsgSchema = requestComponent(
  'NewTsg',
  z.strictObject({
    id: tsgId.optional().describe('Default: made from the title.'),
    tsg_id: formerly(tsgId, 'id').optional(),
    ...needed,
    match: match.default('substring'),
    applicability: applicability.optional(),
    severity: severity.default('medium'),
  }),
  { id: EXAMPLE_ID, ...EXAMPLE },
)

export const tsgPatchSchema = requestComponent('TsgPatch', z.strictObject(fields).partial(), { severity: 'high' })

export const tsgMarkdownSchema = requestComponent(
  'TsgMarkdown',
  z
    .string()
    .transform((markdown, context): unknown => {
      const parsed = parseTsgMarkdown(markdown)
      if ('fields' in parsed) return parsed.fields
      context.issues.push({ code: 'custom', message: parsed.problem, input: markdown })
      return z.NEVER
    })
    .pipe(newTsgSchema)
    .describe('Front matter in YAML with the fields of `NewTsg`, followed by the content.'),
  // Without its id, so that it can be put anywhere.
  renderTsgMarkdown({ tsgId: EXAMPLE_ID, ...EXAMPLE, match: 'substring' }).replace(/^tsg_id: .*\n/m, ''),
)

const summary = {
  id: z.string(),
  tsg_id: formerly(z.string(), 'id'),
  title: z.string(),
  patterns: z.array(z.string()),
  match: matchSchema,
  applicability: applicabilitySchema,
  severity: tsgSeveritySchema,
  created_at: time(),
  updated_at: time(),
}

const { content: EXAMPLE_CONTENT, ...EXAMPLE_SUMMARY } = {
  id: EXAMPLE_ID,
  tsg_id: EXAMPLE_ID,
  ...EXAMPLE,
  match: 'substring' as const,
  created_at: '2026-03-02T08:00:00.000Z',
  updated_at: '2026-03-02T08:00:00.000Z',
}

const tsgSummarySchema = component('TsgSummary', z.object(summary), EXAMPLE_SUMMARY)
export const tsgListSchema = listComponent('TsgList', tsgSummarySchema)
export const tsgSchema = component('Tsg', z.object({ ...summary, content: z.string() }), { ...EXAMPLE_SUMMARY, content: EXAMPLE_CONTENT })

/** Whose reading, failure or success it is. */
export const tsgSession = printableId('The credential of a sub-agent always means its own.', 'research-1')

export const tsgScanSchema = requestComponent(
  'TsgScan',
  z.strictObject({
    error_message: text(100_000),
    context: text(100_000).nullish().describe('The surrounding output. It is scanned too.'),
    session_id: tsgSession.nullish().describe('The session whose next injection announces the guides, each once.'),
  }),
  { error_message: 'Error: listen EADDRINUSE: address already in use :::3000', session_id: 'research-1' },
)

const scannedTsgSchema = component(
  'ScannedTsg',
  z.object({
    id: z.string(),
    tsg_id: formerly(z.string(), 'id'),
    title: z.string(),
    severity: tsgSeveritySchema,
    matched_pattern: z.string().describe('The longest matching pattern.'),
    success_rate: z.number().min(0).max(1).nullable().describe('The share of feedback that says the guide helped; null without feedback.'),
  }),
)

export const tsgScanResultSchema = component('TsgScanResult', z.object({ items: z.array(scannedTsgSchema).describe('Best first, at most 20.') }), {
  items: [{ id: EXAMPLE_ID, tsg_id: EXAMPLE_ID, title: EXAMPLE.title, severity: 'medium', matched_pattern: 'address already in use', success_rate: 0.75 }],
})

export const tsgFeedbackSchema = requestComponent(
  'TsgFeedback',
  z.strictObject({
    resolved: z.boolean(),
    session_id: tsgSession.nullish(),
    task_id: z.uuid().nullish(),
  }),
  { resolved: true, session_id: 'research-1' },
)

export const tsgUsageSchema = component(
  'TsgUsage',
  z.object({
    tsg_id: z.string(),
    surfaced: z.int().describe('How often the guide was announced, at most once per session.'),
    read: z.int().describe('How often a session read the guide.'),
    resolved: z.int().describe('How often feedback said that it helped.'),
    unresolved: z.int().describe('How often feedback said that it did not help.'),
    rate: z.number().min(0).max(1).nullable().describe('resolved / (resolved + unresolved); null if both are 0.'),
  }),
  { tsg_id: EXAMPLE_ID, surfaced: 12, read: 7, resolved: 3, unresolved: 1, rate: 0.75 },
)

export function presentTsg(tsg: Tsg): z.output<typeof tsgSchema> {
  return { ...presentTsgSummary(tsg), content: tsg.content }
}

export const tsgTag = (tsg: Tsg): string => contentTag(JSON.stringify(presentTsg(tsg)))

export function presentTsgSummary(tsg: TsgSummary): z.output<typeof tsgSummarySchema> {
  return {
    id: tsg.tsgId,
    tsg_id: tsg.tsgId,
    title: tsg.title,
    patterns: tsg.patterns,
    match: tsg.match,
    applicability: { technologies: tsg.applicability.technologies },
    severity: tsg.severity,
    created_at: toTime(tsg.createdAt),
    updated_at: toTime(tsg.updatedAt),
  }
}

export function presentScannedTsg(tsg: ScannedTsg): z.output<typeof scannedTsgSchema> {
  return { id: tsg.tsgId, tsg_id: tsg.tsgId, title: tsg.title, severity: tsg.severity, matched_pattern: tsg.pattern, success_rate: tsg.successRate }
}

export function presentTsgUsage(tsgId: string, usage: TsgUsage): z.output<typeof tsgUsageSchema> {
  const { surfaced, read, resolved, unresolved } = usage
  return { tsg_id: tsgId, surfaced, read, resolved, unresolved, rate: successRate(usage) }
}
