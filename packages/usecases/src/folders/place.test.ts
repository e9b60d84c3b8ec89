import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { placeOf } from './place.ts'

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-place-'))
})
afterEach(() => rm(folder, { recursive: true }))

it('is one id of a folder, however many workers start in it at once', async () => {
  const module = JSON.stringify(new URL('./place.ts', import.meta.url).href)
  const program = `import { placeOf } from ${module}; console.log(placeOf(${JSON.stringify(folder)}, () => crypto.randomUUID()))`
  const start = () => promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program])
  const places = new Set((await Promise.all(Array.from({ length: 6 }, start))).map(({ stdout }) => stdout.trim()))
  expect([...places]).toEqual([expect.stringMatching(UUID)])
  expect(await readdir(folder)).toEqual(['place'])
})

it('is made anew where a full disk has left a file without one', async () => {
  await writeFile(join(folder, 'place'), '')
  const place = placeOf(folder, randomUUID)
  expect(place).toMatch(UUID)
  expect(placeOf(folder, randomUUID)).toBe(place)
})

it('leaves the draft of another container alone, whose process has the same number', async () => {
  const draft = `place.${process.pid}`
  await writeFile(join(folder, draft), 'half of an')
  expect(placeOf(folder, randomUUID)).toMatch(UUID)
  expect((await readdir(folder)).sort()).toEqual(['place', draft])
  expect(await readFile(join(folder, draft), 'utf8')).toBe('half of an')
})
