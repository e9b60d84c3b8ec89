import { judge, type Row } from './figure.ts'

export interface FigureReport {
  name: string
  title: string
  raised: string
  rows: Row[]
  /** Why it could not be measured; null when it was. */
  error: string | null
  /** Peers that could not be measured, once for each time. */
  missingPeers: string[]
  seconds: number
}

/** Everything that `--json` writes. */
export interface Report {
  startedAt: Date
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

/** The table, as Markdown: it is read in terminals and pasted into documents. */
export function renderTable(report: Report): string {
  const lines: string[][] = [HEAD]
  for (const figure of report.figures) {
    for (const row of figure.rows) {
      const { ours, peers, ratios, met } = judge(row)
      const others = Object.entries(peers).map(([name, value]) => `${name} ${number(value)} (${ratio(ratios[name])})`)
      lines.push([
        row.label,
        `${number(ours)}${row.unit === '' ? '' : ` ${row.unit}`}`,
        others.join(', ') || '–',
        row.goal?.text ?? '–',
        met === null ? '–' : met ? 'yes' : 'NO',
      ])
    }
    if (figure.error !== null) lines.push([figure.name, 'FAILED', firstLine(figure.error), '–', '–'])
  }
  const widths = HEAD.map((_, column) => Math.max(...lines.map((line) => (line[column] as string).length)))
  const rendered = lines.map((line) => `| ${line.map((cell, column) => cell.padEnd(widths[column] as number)).join(' | ')} |`)
  rendered.splice(1, 0, `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`)
  return [...rendered, '', ...notes(report)].join('\n')
}

function notes({ machine, versions, postgres, commit, runs, isQuick, figures }: Report): string[] {
  return [
    `${machine.processors} × ${machine.model}, ${machine.memoryGb} GB, load ${(machine.loadAtStart as number[])[0]} at the start; Node ${versions.node}, PostgreSQL ${postgres.server_version}, fsync ${postgres.fsync}, ` +
      `synchronous_commit ${postgres.synchronous_commit}; one small commit: p50 ${commit.p50.toFixed(2)} ms, p99 ${commit.p99.toFixed(2)} ms.`,
    `Medians of ${runs} ${runs === 1 ? 'run' : 'runs'}${isQuick ? ', small sizes (--quick): good for comparing, not for quoting' : ''}. pg-boss ${versions['pg-boss']}, graphile-worker ${versions['graphile-worker']}, ` +
      `fastify ${versions.fastify}. Version ${versions.commit}.`,
    ...figures
      .filter((figure) => figure.missingPeers.length > 0)
      .map((figure) => `Not every run of ${figure.name} has its peers: could not measure ${figure.missingPeers.join(', ')}.`),
    'Raised above what is shipped:',
    ...figures.map((figure) => `- ${figure.name}: ${figure.raised || 'nothing'}`),
  ]
}

function number(value: number): string {
  if (!Number.isFinite(value)) return '?'
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US')
  return String(Math.round(value * 100) / 100)
}

function ratio(value: number | undefined): string {
  return value === undefined || !Number.isFinite(value) ? '–' : `×${value >= 10 ? Math.round(value) : value.toFixed(2)}`
}

function firstLine(text: string): string {
  return (text.split('\n')[0] ?? '').replaceAll('|', '/').slice(0, 120)
}

/** The report with what the table says of each row. */
export function reportJson(report: Report): unknown {
  return {
    ...report,
    figures: report.figures.map((figure) => ({ ...figure, rows: figure.rows.map((row) => ({ ...row, goal: row.goal?.text ?? null, medians: judge(row) })) })),
  }
}

/** Whether a goal was missed. */
export function isAnyMissed(report: Report): boolean {
  return report.figures.some((figure) => figure.rows.some((row) => judge(row).met === false))
}
