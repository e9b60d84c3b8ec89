import type { LoggedEvent, Subtask } from './client.ts'

/** Colours of the three subtasks and of quiet text. */
const COLOURS = { A: 36, B: 35, C: 33, quiet: 90, good: 32, bad: 31, strong: 1 } as const
const RESULT_LINES = 14

/** The label that a subtask goes by in the output. */
export type Label = 'A' | 'B' | 'C'

/** Prints what happens, for a person who watches. */
export type Narrator = {
  title: (text: string) => void
  note: (text: string) => void
  about: (label: Label, text: string) => void
  event: (label: Label, event: LoggedEvent) => void
  result: (label: Label, subtask: Subtask) => void
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
    result: (label, subtask) => {
      const how = subtask.final_outcome === null || subtask.final_outcome === subtask.status ? subtask.status : `${subtask.status} (${subtask.final_outcome})`
      console.log(`\n${paint(label, label)}  ${subtask.task}: ${how} after ${((subtask.duration_ms ?? 0) / 1000).toFixed(1)} s`)
      const lines = (subtask.result ?? subtask.error ?? '(no result)').split('\n').filter((line) => line.trim() !== '')
      for (const line of lines.slice(0, RESULT_LINES)) console.log(`   ${paint('quiet', '│')} ${line}`)
      if (lines.length > RESULT_LINES) console.log(`   ${paint('quiet', `│ … ${lines.length - RESULT_LINES} lines more`)}`)
    },
    verdict: (problems, seconds) => {
      if (problems.length === 0) console.log(paint('good', `Everything went as it should, in ${seconds.toFixed(1)} s.`))
      else console.error(paint('bad', `Not as it should be:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`))
    },
  }
}

function describeEvent({ type, data }: LoggedEvent): string {
  const said = typeof data.message === 'string' ? data.message.split('\n')[0] : undefined
  switch (type) {
    case 'subtask.created':
      return 'accepted'
    case 'subtask.started':
      return `started${typeof data.worker_id === 'string' ? ` by worker ${data.worker_id}` : ''}`
    case 'subtask.progress':
      return said ?? `step ${String(data.steps ?? '')}`
    case 'subtask.cancel_requested':
      return 'cancel asked for'
    case 'update.queued':
      return 'update accepted'
    case 'update.delivered':
      return 'update delivered to the running program'
    case 'update.acknowledged':
      return 'update acknowledged by the program'
    default:
      return type.replace(/^(subtask|update)\./, '').replaceAll('_', ' ')
  }
}
