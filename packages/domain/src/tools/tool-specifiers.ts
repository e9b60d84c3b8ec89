import { fitsPattern } from '../core/wildcards.ts'
import { denialOfCommand, isCommandAllowed } from './command-rules.ts'
import { denialOfPath, isPathAllowed } from './path-rules.ts'

/**
 * What stands in the parentheses of a rule, held against one use of its tool: a command for `Bash`, a path for the file tools, a host for `WebFetch`.
 * Every door asks here: the run, the hooks and `tool-check`.
 */

const EDITING_TOOLS = ['Write', 'Edit', 'MultiEdit', 'NotebookEdit']
const READING_TOOLS = ['Read', 'Grep', 'Glob', 'LS', 'NotebookRead']
/** Tools that are about files: what stands in parentheses is a path. */
const FILE_TOOLS = new Set([...EDITING_TOOLS, ...READING_TOOLS])

/** The tools that reach the same things: where one of them is denied a file, so are the others. */
export function toolsAlike(name: string): readonly string[] {
  return [EDITING_TOOLS, READING_TOOLS].find((tools) => tools.some((each) => each.toLowerCase() === name.toLowerCase())) ?? [name]
}

export function isUseAllowed(toolName: string, specifiers: readonly string[], used: string): boolean {
  if (toolName === 'Bash') return isCommandAllowed(specifiers, used)
  if (FILE_TOOLS.has(toolName)) return isPathAllowed(specifiers, used)
  if (toolName === 'WebFetch') {
    const host = hostOf(used)
    return host !== null && specifiers.some((specifier) => fits(hostOf(specifier) ?? specifier, host))
  }
  if (toolName === 'PowerShell')
    return specifiers.some((specifier) => specifier === used || specifier === '*' || (PLAIN_COMMAND.test(used) && fits(specifier, used)))
  return specifiers.some((specifier) => fits(specifier, used))
}

/** Why one of the specifiers denies a use; null where none does. */
export function denialOfUse(toolName: string, specifiers: readonly string[], used: string): string | null {
  if (specifiers.length === 0) return null
  if (toolName === 'Bash') return denialOfCommand(specifiers, used)
  if (toolName === 'PowerShell') return 'parts of PowerShell commands cannot be judged'
  if (FILE_TOOLS.has(toolName)) return denialOfPath(specifiers, used)
  if (toolName !== 'WebFetch') {
    const specifier = specifiers.find((each) => fits(each, used))
    return specifier === undefined ? null : `it is ${specifier}`
  }
  const host = hostOf(used)
  if (host === null) return 'it cannot be judged: it names no host'
  const specifier = specifiers.find((each) => {
    const denied = hostOf(each) ?? each
    return fits(denied, host) || host.endsWith(`.${denied}`)
  })
  return specifier === undefined ? null : `it is ${specifier}`
}

/** Words alone, which PowerShell reads as they are. */
const PLAIN_COMMAND = /^[\w./:=\\-]+(?: [\w./:=\\-]+)*$/

/** The host of `domain:example.com`, or of an address, in one spelling. Null for what names none; a pattern is left as it is. */
function hostOf(text: string): string | null {
  if (text === '' || text.includes('\0')) return null
  const written = /^domain:/i.test(text) ? text.slice('domain:'.length) : text
  if (written.includes('*')) return written.toLowerCase()
  const url = written.includes('://') ? written : `http://${written}`
  return URL.canParse(url) ? new URL(url).hostname.replace(/\.$/, '') : null
}

function fits(specifier: string, used: string): boolean {
  if (!specifier.endsWith(':*')) return fitsPattern(specifier, used)
  const prefix = specifier.slice(0, -':*'.length)
  return used === prefix || used.startsWith(`${prefix} `)
}
