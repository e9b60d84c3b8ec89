import { appendFileSync, closeSync, existsSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { until } from './until.ts'

/** What a program under test wrote about one of its runs. */
export interface LedgerEntry {
  subtask_id: string
  attempt: number
  event: string
  pid: number
  [more: string]: unknown
}

/**
 * How tests and the programs of `tests/programs` meet without Muster in between: programs append a line for everything they
 * do, and wait for files that the test makes.
 */
export class Ledger {
  readonly path: string

  constructor(folder: string) {
    this.path = join(folder, 'ledger')
    appendFileSync(this.path, '')
  }

  entries(): LedgerEntry[] {
    return readFileSync(this.path, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as LedgerEntry)
  }

  find(subtaskId: string, event: string, attempt?: number): LedgerEntry | undefined {
    return this.entries().find((entry) => entry.subtask_id === subtaskId && entry.event === event && (attempt === undefined || entry.attempt === attempt))
  }

  /** Waits until a program has written this of a subtask. */
  written(subtaskId: string, event: string, attempt?: number): Promise<LedgerEntry> {
    return until(`the program of ${subtaskId}${attempt === undefined ? '' : ` (attempt ${attempt})`} writes "${event}"`, () =>
      this.find(subtaskId, event, attempt),
    )
  }

  /** Lets the program `hold` go on, in one attempt or in whichever runs. */
  release(subtaskId: string, attempt?: number): void {
    const path = `${this.path}.release-${subtaskId}${attempt === undefined ? '' : `-${attempt}`}`
    if (!existsSync(path)) closeSync(openSync(path, 'w'))
  }

  /** Lets every run of `hold` go on, those of now and those to come. */
  releaseAll(): void {
    writeFileSync(`${this.path}.release`, '')
  }
}
