import { countText, type JudgedRow } from './figure.ts'

export interface FigureReport {
  name: string
  title: string
  raised: string
  notes: string[]
  rows: JudgedRow[]
  /** Why it could not be measured; null when it was. */
  error: string | null
  /** Peers that could not be measured, once for each time. */
  missingPeers: string[]
  seconds: number
}

/** Everything that is known of one call of the bench. Files keep it as it is. */
export interface Report {
  startedAt: string
  isQuick: boolean
  runs: number
  machine: Record<string, unknown>
  versions: Record<string, string>
  postgres: Record<string, string>
  /** Milliseconds of one small commit. */
  commit: { p50: number; p99: number; commits: number }
  figures: FigureReport[]
}

const HEAD = ['figure', 'ours', 'peers (ratio; above 1: ours is better)', 'goal', 'met']

/** One table of all figures of some reports, as Markdown: it is read in terminals and pasted into documents. */
export function renderTable(reports: readonly Report[]): string {
  const lines: string[][] = [HEAD]
  for (const figure of reports.flatMap((report) => report.figures)) {
    for (const row of figure.rows) {
      const { ours, peers, ratios, met } = row.medians
      const others = Object.entries(peers).map(([name, value]) => `${name} ${number(value)} (${ratio(ratios[name])})`)
      lines.push([
        row.label,
        `${number(ours)}${row.unit === '' ? '' : ` ${row.unit}`}`,
        others.join(', ') || '–',
        row.goal ?? '–',
        met === null ? '–' : met ? 'yes' : 'NO',
      ])
    }
    if (figure.error !== null) lines.push([figure.name, 'FAILED', firstLine(figure.error), '–', '–'])
  }
  const widths = HEAD.map((_, column) => Math.max(...lines.map((line) => (line[column] as string).length)))
  const rendered = lines.map((line) => `| ${line.map((cell, column) => cell.padEnd(widths[column] as number)).join(' | ')} |`)
  rendered.splice(1, 0, `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`)
  return [...rendered, '', ...notes(reports)].join('\n')
}

function notes(reports: readonly Report[]): string[] {
  const figures = reports.flatMap((report) => report.figures)
  const loads = reports.map(({ machine }) => (machine.loadAtStart as number[])[0] as number)
  const commits = reports.map(({ commit }) => commit)
  const known = figures.flatMap((figure) => figure.notes.map((note) => `- ${figure.name}: ${note}`))
  return [
    ...sayOnce(
      reports,
      ({ machine, versions, postgres }) =>
        `${machine.processors} × ${machine.model}, ${machine.memoryGb} GB; Node ${versions.node}, PostgreSQL ${postgres.server_version}, fsync ${postgres.fsync}, ` +
        `synchronous_commit ${postgres.synchronous_commit}.`,
    ),
    `Load ${range(loads)} at the start; one small commit: p50 ${range(commits.map(({ p50 }) => p50))} ms, p99 ${range(commits.map(({ p99 }) => p99))} ms.`,
    ...sayOnce(
      reports,
      ({ runs, isQuick, versions }) =>
        `Medians of ${runs} ${runs === 1 ? 'run' : 'runs'}${isQuick ? ', small sizes (--quick), at which no goal is judged: good for comparing, not for quoting' : ''}. ` +
        `pg-boss ${versions['pg-boss']}, graphile-worker ${versions['graphile-worker']}, fastify ${versions.fastify}. Version ${versions.commit}.`,
    ),
    ...figures
      .filter((figure) => figure.missingPeers.length > 0)
      .map((figure) => `Not every run of ${figure.name} has its peers: could not measure ${figure.missingPeers.join(', ')}.`),
    ...(known.length === 0 ? [] : ['To be known of single figures:', ...known]),
    'Raised above what is shipped:',
    ...figures.map((figure) => `- ${figure.name}: ${figure.raised || 'nothing'}`),
  ]
}

/** What holds for all reports, once; what differs between them, each time with the names of the figures that it holds for. */
function sayOnce(reports: readonly Report[], say: (report: Report) => string): string[] {
  const said = [...Map.groupBy(reports, say)]
  if (said.length === 1) return said.map(([text]) => text)
  return said.map(([text, those]) => `${those.flatMap((report) => report.figures.map((figure) => figure.name)).join(', ')}: ${text}`)
}

function range(values: readonly number[]): string {
  const [least, most] = [Math.min(...values).toFixed(2), Math.max(...values).toFixed(2)]
  return least === most ? least : `${least} to ${most}`
}

function number(value: number): string {
  if (!Number.isFinite(value)) return '?'
  if (Math.abs(value) >= 100) return countText(Math.round(value))
  return String(Math.round(value * 100) / 100)
}

function ratio(value: number | undefined): string {
  return value === undefined || !Number.isFinite(value) ? '–' : `×${value >= 10 ? Math.round(value) : value.toFixed(2)}`
}

function firstLine(text: string): string {
  return (text.split('\n')[0] ?? '').replaceAll('|', '/').slice(0, 120)
}

/** Whether a goal was missed. */
export function isAnyMissed(report: Report): boolean {
  return report.figures.some((figure) => figure.rows.some((row) => row.medians.met === false))
}
