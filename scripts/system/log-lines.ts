/**
 * API and worker log one JSON object a line, for machines. `npm start` shows the lines to a person: time, level, process, message, and the other fields
 * as `name=value`.
 */

const LEVELS: Record<number, string> = { 10: 'trace', 20: 'debug', 30: 'info', 40: 'warn', 50: 'error', 60: 'fatal' }
const COLOURS: Record<string, number> = { trace: 90, debug: 90, info: 32, warn: 33, error: 31, fatal: 31 }
/** Fields that a reader of one process on one machine already knows. */
const LEFT_OUT = new Set(['level', 'time', 'pid', 'hostname', 'msg', 'name', 'process', 'v'])
const VALUE_LENGTH_MAX = 300

/** A parsed line of a log, or undefined when the line is not one. */
export function parseLogLine(line: string): Record<string, unknown> | undefined {
  if (!line.startsWith('{')) return undefined
  try {
    return JSON.parse(line) as Record<string, unknown>
  } catch {
    return undefined
  }
}

/** Whether to show a line at a log level. A line that is no log line is always shown, because a crash prints such lines. */
export function isShownAt(level: string, line: string): boolean {
  const entry = parseLogLine(line)
  if (entry === undefined) return true
  const least = Object.entries(LEVELS).find(([, name]) => name === level)?.[0]
  return least !== undefined && Number(entry.level ?? 0) >= Number(least)
}

/** Makes a line of a process readable. A line that is no JSON stays as it is. */
export function formatLogLine(source: string, line: string, isColoured: boolean): string {
  const paint = (colour: number, text: string): string => (isColoured ? `\x1b[${colour}m${text}\x1b[0m` : text)
  const entry = parseLogLine(line)
  if (entry === undefined) return `${' '.repeat(15)}${source.padEnd(7)}${line}`
  const level = LEVELS[Number(entry.level)] ?? String(entry.level ?? 'info')
  const rest = Object.entries(entry).filter(([name, value]) => !LEFT_OUT.has(name) && value !== undefined && value !== null)
  const details = rest.map(([name, value]) => `${name}=${formatValue(value)}`).join(' ')
  const message = typeof entry.msg === 'string' ? entry.msg : ''
  const head = `${paint(90, clockTime(entry.time))} ${paint(COLOURS[level] ?? 0, level.padEnd(5))} ${source.padEnd(6)}`
  return `${head} ${message}${details === '' ? '' : `${message === '' ? '' : ' '}${paint(90, details)}`}${formatStack(entry.err)}`
}

function formatValue(value: unknown): string {
  if (typeof value === 'object' && value !== null && 'stack' in value) return JSON.stringify('message' in value ? value.message : '')
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > VALUE_LENGTH_MAX ? `${text.slice(0, VALUE_LENGTH_MAX)}…` : text
}

function formatStack(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('stack' in error) || typeof error.stack !== 'string') return ''
  return `\n${error.stack.replace(/^/gm, '    ')}`
}

function clockTime(time: unknown): string {
  const date = new Date(typeof time === 'number' || typeof time === 'string' ? time : Number.NaN)
  return Number.isNaN(date.getTime()) ? '--:--:--' : date.toTimeString().slice(0, 8)
}
