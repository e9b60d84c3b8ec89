import type { LoggedEvent } from './client.ts'

/** Colours of the labels, and of other text. */
const COLOURS = { A: 36, B: 35, C: 33, D: 34, T: 36, S: 35, quiet: 90, good: 32, bad: 31, strong: 1 } as const
const COLUMNS_MAX = 120

/** The label of an actor in the output: a subtask (A to D), the author of a task (T), the session that holds it (S). */
export type Label = 'A' | 'B' | 'C' | 'D' | 'T' | 'S'

/** Prints what happens. */
export type Narrator = {
  title: (text: string) => void
  note: (text: string) => void
  about: (label: Label, text: string) => void
  event: (label: Label, event: LoggedEvent) => void
  /** A quoted text below its introduction; `left` names what is omitted. */
  quote: (lines: readonly string[], left?: string) => void
  verdict: (problems: string[], seconds: number) => void
}

/** Writes to standard output, with colours when they are wanted. */
export function createNarrator(isColoured: boolean): Narrator {
  const startedAt = performance.now()
  const paint = (colour: keyof typeof COLOURS, text: string): string => (isColoured ? `\x1b[${COLOURS[colour]}m${text}\x1b[0m` : text)
  const elapsed = (): string => paint('quiet', `${((performance.now() - startedAt) / 1000).toFixed(1).padStart(5)} s`)
  const about = (label: Label, text: string): void => console.log(`${elapsed()}  ${paint(label, label)}  ${text}`)

  return {
    title: (text) => console.log(`\n${paint('strong', text)}`),
    note: (text) => console.log(`${elapsed()}     ${text}`),
    about,
    event: (label, event) => about(label, describeEvent(event)),
    quote: (lines, left) => {
      for (const line of lines) console.log(`            ${paint('quiet', '│')} ${line.length > COLUMNS_MAX ? `${line.slice(0, COLUMNS_MAX)}…` : line}`)
      if (left !== undefined) console.log(`            ${paint('quiet', `│ … ${left}`)}`)
    },
    verdict: (problems, seconds) => {
      if (problems.length === 0) console.log(paint('good', `Everything went as it should, in ${seconds.toFixed(1)} s.`))
      else console.error(paint('bad', `Not as it should be:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`))
    },
  }
}

function describeEvent({ type, data }: LoggedEvent): string {
  switch (type) {
    case 'subtask.progress':
      return typeof data.message === 'string' ? (data.message.split('\n')[0] ?? '') : `step ${String(data.steps ?? '')}`
    case 'update.delivered':
      return 'update delivered to the running program'
    case 'update.acknowledged':
      return 'update acknowledged by the program'
    default:
      return type.replace(/^(subtask|update)\./, '').replaceAll('_', ' ')
  }
}
