import Table from 'cli-table3'
import pc from 'picocolors'
import { page } from './pager.ts'
import { clean, oneLine, safeJson } from './text.ts'

export interface OutputOptions {
  /** JSON instead of text, one value a line. */
  json: boolean
  colour: boolean
  pager: boolean
}

/** A column of a table: its heading and what it shows of a row. */
export type Column<Row> = [heading: string, cell: (row: Row) => unknown]

type Paint = (text: string) => string

/** Which colours a status has, the same everywhere. */
const STATUS_COLOURS: Record<string, 'green' | 'red' | 'yellow' | 'cyan' | 'dim'> = {
  completed: 'green',
  approve: 'green',
  met: 'green',
  active: 'green',
  ready: 'green',
  delivered: 'green',
  acknowledged: 'green',
  failed: 'red',
  reject: 'red',
  unmet: 'red',
  disabled: 'red',
  running: 'cyan',
  in_progress: 'cyan',
  assigned: 'cyan',
  waiting: 'yellow',
  open: 'yellow',
  in_review: 'yellow',
  revision_requested: 'yellow',
  cancelled: 'dim',
  expired: 'dim',
}

/** Where a command says what it found: results on standard output, everything else on standard error. */
export class Output {
  readonly json: boolean
  readonly isTerminal: boolean
  readonly colours: ReturnType<typeof pc.createColors>
  readonly #pager: boolean

  constructor({ json, colour, pager }: OutputOptions) {
    this.json = json
    this.isTerminal = process.stdout.isTTY === true
    this.colours = pc.createColors(colour)
    this.#pager = pager && this.isTerminal && !json
  }

  /** A result in the words of a person; with `--json` the value itself. */
  async result(value: unknown, text: () => string): Promise<void> {
    await this.#write(this.json ? safeJson(value) : text())
  }

  /** A list: a table, or a line of JSON for each row. */
  async rows<Row>(rows: readonly Row[], columns: readonly Column<Row>[], ifEmpty: string): Promise<void> {
    if (this.json) return await this.#write(rows.map((row) => safeJson(row)).join('\n'))
    if (rows.length === 0) return this.note(ifEmpty)
    await this.#write(this.table(rows, columns))
  }

  /** As wide as the terminal: the last column is cut. Elsewhere nothing is cut. */
  table<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): string {
    const { bold } = this.colours
    const cells = rows.map((row) => columns.map(([, cell]) => oneLine(cell(row))))
    const widths = columns.map(([heading], index) => Math.max(heading.length, ...cells.map((line) => (line[index] as string).length)))
    const width = this.isTerminal ? process.stdout.columns : undefined
    const taken = widths.slice(0, -1).reduce((sum, each) => sum + each + 2, 0)
    const last = width === undefined ? undefined : Math.max(10, width - taken - 1)
    const table = new Table({
      head: columns.map(([heading]) => bold(heading)),
      style: { head: [], border: [], 'padding-left': 0, 'padding-right': 2 },
      chars: NO_LINES,
      colWidths: columns.map((_, index) => (index === columns.length - 1 && last !== undefined ? last + 2 : null)),
    })
    for (const line of cells) table.push(line.map((cell) => this.status(cell)))
    return table
      .toString()
      .split('\n')
      .map((line) => line.trimEnd())
      .join('\n')
  }

  /** A text in the colour of the status that it names; other texts stay as they are. */
  status(text: string): string {
    const colour = STATUS_COLOURS[text]
    return colour === undefined ? text : this.colours[colour](text)
  }

  /** Names and values below each other. Empty ones are left out. */
  fields(fields: readonly (readonly [string, unknown])[]): string {
    const shown = fields.filter(([, value]) => value !== null && value !== undefined && value !== '')
    const width = Math.max(0, ...shown.map(([name]) => name.length))
    const lines = shown.map(
      ([name, value]) => `${this.colours.dim(name.padEnd(width))}  ${this.status(clean(String(value)).replaceAll('\n', `\n${' '.repeat(width + 2)}`))}`,
    )
    return lines.join('\n')
  }

  heading(text: string): string {
    return this.colours.bold(text)
  }

  /** What is no result: progress, hints. Not with `--json`. */
  note(text: string, paint: Paint = this.colours.dim): void {
    if (!this.json) process.stderr.write(`${paint(text)}\n`)
  }

  /** A line of a stream, at once and never in a pager. */
  line(value: unknown, text: () => string): void {
    process.stdout.write(`${this.json ? safeJson(value) : text()}\n`)
  }

  async #write(text: string): Promise<void> {
    if (text === '') return
    const lines = text.split('\n').length
    if (this.#pager && lines > process.stdout.rows && (await page(text))) return
    process.stdout.write(text.endsWith('\n') ? text : `${text}\n`)
  }
}

const NO_LINES = {
  top: '',
  'top-mid': '',
  'top-left': '',
  'top-right': '',
  bottom: '',
  'bottom-mid': '',
  'bottom-left': '',
  'bottom-right': '',
  left: '',
  'left-mid': '',
  mid: '',
  'mid-mid': '',
  right: '',
  'right-mid': '',
  middle: '',
}
