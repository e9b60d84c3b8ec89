import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Figure } from './figure.ts'
import { readReports } from './read-reports.ts'

const FIGURES = ['first', 'second'].map((name): Figure => ({ name, title: '', raised: '', measure: async () => [] }))

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-reports-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function store(name: string, content: unknown): Promise<string> {
  const file = join(folder, name)
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content))
  return file
}

const reportOf = (name: string, notes: string[] = []) => ({ commit: { p50: 1, p99: 2, commits: 3 }, figures: [{ name, notes }] })

describe('reports of single figures', () => {
  it('come in the order of the table, with their notes', async () => {
    const files = [await store('b.json', reportOf('second', ['of second'])), await store('a.json', reportOf('first'))]

    const reports = await readReports(files, FIGURES)

    expect(reports.map((report) => report.figures)).toEqual([[{ name: 'first', notes: [] }], [{ name: 'second', notes: ['of second'] }]])
  })

  it('cannot have a figure twice', async () => {
    const files = [await store('one.json', reportOf('first')), await store('two.json', reportOf('first'))]

    await expect(readReports(files, FIGURES)).rejects.toThrow('More than one of the files has the figure first.')
  })

  it.each(['{}', 'null', '[]', 'no JSON', '{"commit":{},"figures":[{"name":"first"}]}'])('cannot be read from %s', async (content) => {
    await expect(readReports([await store('other.json', content)], FIGURES)).rejects.toThrow('was not written by this bench')
  })
})
