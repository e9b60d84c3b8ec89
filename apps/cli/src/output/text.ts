import { stripVTControlCharacters } from 'node:util'

/** Control characters but for tab and line feed, and characters that turn the direction of a text: they could rewrite what a terminal shows. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is removed.
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g

/** Text that agents wrote, for a terminal: what it shows is what was written. */
export function clean(text: string): string {
  return stripVTControlCharacters(text).replaceAll('\r\n', '\n').replace(CONTROL, '')
}

/** The same in one line. */
export function oneLine(value: unknown): string {
  return clean(textOf(value)).replaceAll(/\s+/g, ' ').trim()
}

/** JSON leaves some of these characters as they are. Escaped they mean the same, and a terminal does nothing. */
export function safeJson(value: unknown): string {
  return JSON.stringify(value).replace(CONTROL, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** A value of JSON as text. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** "3 min ago", "in 2 h". Times are ISO 8601, in UTC. */
export function relativeTime(at: string | null | undefined, nowMs = Date.now()): string {
  if (at === null || at === undefined) return ''
  const seconds = Math.round((Date.parse(at) - nowMs) / 1_000)
  const [amount, unit] = largestUnit(Math.abs(seconds))
  if (Math.abs(seconds) < 2) return 'now'
  return seconds < 0 ? `${amount} ${unit} ago` : `in ${amount} ${unit}`
}

/** "1.2 s", "3 min". */
export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return ''
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`
  const [amount, unit] = largestUnit(ms / 1_000)
  return `${amount} ${unit}`
}

function largestUnit(seconds: number): [number, string] {
  if (seconds < 60) return [Math.round(seconds), 's']
  if (seconds < 3_600) return [Math.round(seconds / 60), 'min']
  if (seconds < 48 * 3_600) return [Math.round(seconds / 3_600), 'h']
  return [Math.round(seconds / 86_400), 'd']
}
