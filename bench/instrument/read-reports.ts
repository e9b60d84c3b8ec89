import { readFile } from 'node:fs/promises'
import type { Figure } from './figure.ts'
import type { FigureReport, Report } from './report.ts'

/** A report as a file has it: the first ones were written before figures had notes. */
type StoredReport = Omit<Report, 'figures'> & { figures: (Omit<FigureReport, 'notes'> & { notes?: string[] })[] }

/**
 * Reads reports of single figures that were measured one after the other, and puts them into the order of the table.
 *
 * @throws Error when a file is none of the bench's, or when two have the same figure: a table has room for one
 */
export async function readReports(files: readonly string[], figures: readonly Figure[]): Promise<Report[]> {
  const reports = await Promise.all(files.map((file) => readReport(file, figures)))
  const names = reports.flatMap((report) => report.figures.map((figure) => figure.name))
  const twice = names.find((name, place) => names.indexOf(name) < place)
  if (twice !== undefined) throw new Error(`More than one of the files has the figure ${twice}.`)
  const placeOf = (report: Report) => figures.findIndex((figure) => figure.name === report.figures[0]?.name)
  return reports.sort((one, other) => placeOf(one) - placeOf(other))
}

async function readReport(file: string, figures: readonly Figure[]): Promise<Report> {
  const stored = parse(await readFile(file, 'utf8'))
  if (!Array.isArray(stored?.figures) || stored.commit === undefined) throw new Error(`${file} was not written by this bench.`)
  const notesOf = (name: string) => figures.find((figure) => figure.name === name)?.notes ?? []
  return { ...stored, figures: stored.figures.map((figure) => ({ ...figure, notes: figure.notes ?? notesOf(figure.name) })) }
}

function parse(text: string): StoredReport | null {
  try {
    return JSON.parse(text) as StoredReport | null
  } catch {
    return null
  }
}
