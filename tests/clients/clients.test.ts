import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Muster } from '@muster/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { repositoryRoot } from '../../scripts/check/report.ts'
import { runJourney } from '../harness/journey.ts'
import { type System, startSystem } from '../harness/system.ts'
import { GENERATORS, missing } from './generators.ts'

let system: System
let folder: string
let muster: Muster
let key: string
/** What became of each generator, for the summary. */
const outcomes = new Map<string, string>()

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-generated-'))
  system = await startSystem({ workers: 2, env: { AUTH: 'keys', SUBTASK_LEASE_SECONDS: '2' } })
  key = (await system.mintKey()).key
  muster = new Muster({ url: system.api.address, key })
})
afterAll(async () => {
  process.stdout.write(`\n${GENERATORS.map(({ name }) => `${name.padEnd(44)} ${outcomes.get(name) ?? 'not run: not chosen'}`).join('\n')}\n\n`)
  await rm(folder, { recursive: true, force: true })
  await system.close()
})

/** The operations of the document, without case and underscores, which each language has its own way with. */
async function declared(): Promise<string[]> {
  const { paths } = parse(await readFile(join(repositoryRoot, 'openapi.yaml'), 'utf8')) as { paths: Record<string, Record<string, { operationId?: string }>> }
  return plain(Object.values(paths).flatMap((item) => Object.values(item).flatMap(({ operationId }) => operationId ?? [])))
}

const plain = (names: readonly string[]): string[] => [...new Set(names.map((name) => name.replaceAll('_', '').toLowerCase()))].sort()

/** Journey 1: the worker of a subtask is killed half-way, another one finishes it, and the result is in the session's inbox once. */
async function journeyOf(command: readonly [string, ...string[]], session: string): Promise<unknown> {
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, MUSTER_URL: system.api.address, MUSTER_KEY: key, SESSION: session }
  return await runJourney({ system, muster }, command, { cwd: folder, env })
}

describe.each(GENERATORS)('$name', (generator) => {
  const workspace = () => join(folder, String(GENERATORS.indexOf(generator)))

  it('makes a client with every operation, which compiles, with its journey, under the strictest flags', async ({ skip }) => {
    const lack = await missing(generator)
    if (lack !== undefined) {
      outcomes.set(generator.name, `not run: ${lack}`)
      skip(`not run: ${lack}`)
    }
    outcomes.set(generator.name, 'failed: it does not compile')
    await mkdir(workspace())
    await generator.generate(workspace())
    expect(plain(await generator.operations(workspace()))).toEqual(await declared())
    await generator.compile(workspace())
    outcomes.set(generator.name, 'failed: compiled, but did not make journey 1')
  })

  it('makes journey 1: a subtask spawned, its worker killed, its result read and in the inbox once', async ({ skip }) => {
    const outcome = outcomes.get(generator.name)
    if (outcome?.startsWith('not run')) skip(outcome)
    expect(outcome, 'this needs a client that compiles').toMatch(/compiled/)
    const session = `journey in ${generator.name}`
    const told = (await journeyOf(await generator.journey(workspace()), session)) as { id: string }
    expect(told).toEqual({ id: told.id, status: 'completed', attempt: 2, result: 'Held in attempt 2. Told: nothing', inbox: [told.id] })
    outcomes.set(generator.name, 'compiled, journey 1 made')
  })
})
