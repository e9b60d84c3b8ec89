import { fitsPattern } from '../core/wildcards.ts'
import { deniedBy, readToolUse } from './tool-rules.ts'

/** As rules about tools, and with `*` anywhere in the name: `mcp__*__delete_*`. */
const ASK_RULE = /^([A-Za-z_*][\w.:/*-]*)(?:\(([^\r\n]*)\))?$/
const RULE_LENGTH_MAX = 500
/** As many rules as a project may have. */
export const ASK_RULES_MAX = 200

/** Whether a text is a rule about uses of tools that ask. */
export function isAskRule(text: string): boolean {
  return text.length <= RULE_LENGTH_MAX && ASK_RULE.test(text)
}

/** Whether some uses of a tool ask, so that each of them has to be looked at. */
export function mayAsk(rules: readonly string[], toolName: string): boolean {
  return rules.some((rule) => rulesFor(rule, toolName).some((named) => deniedBy([named], { name: toolName, specifier: null }).uses !== 'none'))
}

/**
 * The rules by which one use of a tool asks; none where it needs no approval. A command asks as soon as one part of it does, or cannot be judged: what is left open would be
 * used. A rule about files holds for every tool that does the same to them.
 *
 * @param use `Bash(git push)`, or a tool by its name
 */
export function askRulesFor(rules: readonly string[], use: string): string[] {
  const read = readToolUse(use)
  if (read === null) return [...rules]
  return rules.filter((rule) => rulesFor(rule, read.name).some((named) => deniedBy([named], read).uses === 'all'))
}

/** The rule as it is read for a tool: with the tool's own name where its name has a pattern that fits, else as it is. */
function rulesFor(rule: string, toolName: string): string[] {
  const [, name, specifier] = ASK_RULE.exec(rule) ?? []
  if (name === undefined) return []
  if (!name.includes('*')) return [rule]
  if (!fitsPattern(name.toLowerCase(), toolName.toLowerCase())) return []
  return [specifier === undefined ? toolName : `${toolName}(${specifier})`]
}
