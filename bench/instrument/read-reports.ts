import { readFile } from 'node:fs/promises'
import type { Figure } from './figure.ts'
import type { Report } from './report.ts'

/**
 * Reads reports of single figures that were measured one after the other, and puts them into the order of the table.
 *
 * @throws Error when a file is none of the bench's, or when two have the same figure: a table has room for one
 */
export async function readReports(files: readonly string[], figures: readonly Figure[]): Promise<Report[]> {
  const reports = await Promise.all(files.map(readReport))
  const names = reports.flatMap((report) => report.figures.map((figure) => figure.name))
  const twice = names.find((name, place) => names.indexOf(name) < place)
  if (twice !== undefined) throw new Error(`More than one of the files has the figure ${twice}.`)
  const placeOf = (report: Report) => figures.findIndex((figure) => figure.name === report.figures[0]?.name)
  return reports.sort((one, other) => placeOf(one) - placeOf(other))
}

async function readReport(file: string): Promise<Report> {
  const report = parse(await readFile(file, 'utf8'))
  const isOurs = report?.commit !== undefined && Array.isArray(report.figures) && report.figures.every((figure) => Array.isArray(figure.notes))
  if (!isOurs) throw new Error(`${file} was not written by this bench.`)
  return report
}

function parse(text: string): Report | null {
  try {
    return JSON.parse(text) as Report | null
  } catch {
    return null
  }
}
