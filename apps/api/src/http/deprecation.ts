import type { FieldProblem } from '@muster/domain'
import { fieldProblem } from './validation.ts'

/**
 * What an answer says to a request that uses a former name or value (RFC 9745, RFC 8594): since when it is deprecated, and until when it works at least.
 * docs/api-conventions.md has the policy and the list of names.
 */
export const DEPRECATION_HEADERS = {
  deprecation: `@${Date.UTC(2026, 10, 25) / 1_000}`,
  sunset: 'Tue, 25 May 2027 00:00:00 GMT',
}

interface FormerNames {
  queryAliases?: Record<string, string>
  hasFormerValue?(query: Record<string, unknown>): boolean
}

/** Whether a query has a former name, of a parameter or of a value. */
export function isDeprecated({ queryAliases = {}, hasFormerValue }: FormerNames, query: Record<string, unknown>): boolean {
  return Object.keys(queryAliases).some((name) => Object.hasOwn(query, name)) || hasFormerValue?.(query) === true
}

/** The query under the present names. Both names of one parameter are a problem. */
export function renameAliases(aliases: Record<string, string> = {}, query: Record<string, unknown>, problems: FieldProblem[]): Record<string, unknown> {
  const renamed: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(query)) {
    const present = Object.hasOwn(aliases, name) ? (aliases[name] as string) : name
    if (present !== name && Object.hasOwn(query, present)) problems.push(fieldProblem(`?${name}`, `is the former name of ${present}; give one of them`, value))
    else renamed[present] = value
  }
  return renamed
}
