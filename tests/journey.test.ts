import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import openapiTypescript, { astToString } from 'openapi-typescript'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OPENAPI_FILE, operationFor, problemsOf } from './harness/openapi.ts'
import { type System, startSystem } from './harness/system.ts'
import type { InboxItem, MusterEvent, Problem, Subtask, Update } from './harness/wire.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const STRICT = { strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true, noUnusedLocals: true, skipLibCheck: false }

/** As `client/journey.ts.txt` has it, in words that are there before the client is generated. */
interface Journey {
  result: Subtask
  events: MusterEvent[]
  inbox: InboxItem[]
  inboxAgain: InboxItem[]
  steered: Subtask
  receipts: Update[]
  cancelled: Subtask
  refused: Problem | undefined
  listed: string[]
  steps: { kind: string; content: unknown }[]
  runners: { name: string; available: boolean; default: boolean; steerable: boolean }[]
}
type Drive = (baseUrl: string, key: string, fetchOf: typeof fetch, hands: { started(id: string): Promise<void>; release(id: string): void }) => Promise<Journey>

let system: System
let folder: string

beforeAll(async () => {
  // Inside of the project, so that the client finds its libraries as a user's would.
  const cache = join(ROOT, 'node_modules', '.cache')
  await mkdir(cache, { recursive: true })
  folder = await mkdtemp(join(cache, 'muster-client-'))
  system = await startSystem({ env: { AUTH: 'keys', SUBTASK_WORKERS: '3' } })
})
afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
  await system.close()
})

async function generateClient(): Promise<Drive> {
  await writeFile(join(folder, 'schema.ts'), astToString(await openapiTypescript(pathToFileURL(OPENAPI_FILE))))
  await copyFile(new URL('./client/journey.ts.txt', import.meta.url), join(folder, 'journey.ts'))
  const module = { target: 'ES2024', lib: ['ES2024', 'DOM', 'DOM.AsyncIterable'], module: 'NodeNext', rewriteRelativeImportExtensions: true, types: [] }
  await writeFile(join(folder, 'package.json'), '{"type": "module"}')
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...STRICT, ...module, outDir: 'dist' }, files: ['journey.ts'] }))
  const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
  await promisify(execFile)(process.execPath, [tsc, '--project', folder]).catch((error: { stdout?: string }) => {
    throw new Error(`The generated client does not compile:\n${error.stdout}`)
  })
  const { drive } = (await import(pathToFileURL(join(folder, 'dist', 'journey.js')).href)) as { drive: Drive }
  return drive
}

/** Holds what the generated client gets against the reference too; streams are read by the client alone. */
async function checkedFetch(input: Parameters<typeof fetch>[0], init?: RequestInit): Promise<Response> {
  const sent = new Request(input, init)
  const response = await fetch(sent)
  const contentType = response.headers.get('content-type')
  const path = new URL(sent.url).pathname
  const called = operationFor(sent.method, path)
  if (called === undefined) throw new Error(`${sent.method} ${path} is not in openapi.yaml.`)
  const text = contentType?.startsWith('text/event-stream') ? '' : await response.clone().text()
  const problems = problemsOf(called, { status: response.status, contentType, text })
  if (problems.length > 0) throw new Error(`${sent.method} ${path} was answered against openapi.yaml: ${problems.join('; ')}`)
  return response
}

describe('a client generated from openapi.yaml', () => {
  it('compiles under strict and does the main job: spawn, follow, wait, collect once, steer, cancel', async () => {
    const drive = await generateClient()
    const { key } = await system.mintKey(['subtasks:read', 'subtasks:write', 'events:read', 'sessions:write'])
    const hands = { started: async (id: string) => void (await system.ledger.written(id, 'start')), release: (id: string) => system.ledger.release(id) }
    const journey = await drive(system.api.address, key, checkedFetch, hands)

    const { result } = journey
    expect(result).toMatchObject({ status: 'completed', final_outcome: 'completed', result: 'Held in attempt 1. Told: nothing', attempt: 1 })
    expect(journey.events.map(({ type }) => type)).toEqual(['subtask.created', 'subtask.started', 'subtask.progress', 'subtask.completed'])
    expect(journey.events.map(({ id }) => id)).toEqual(journey.events.map(({ id }) => id).sort((left, right) => left - right))
    expect(journey.events.every(({ subject }) => subject.id === result.id)).toBe(true)
    expect(journey.inbox).toMatchObject([{ subtask_id: result.id, status: 'completed', result: result.result }])
    expect(journey.inboxAgain).toEqual([])

    expect(journey.receipts).toMatchObject([{ content: 'Leave out the test files.', status: 'acknowledged' }])
    expect(journey.steered.result).toContain('Leave out the test files.')
    expect(journey.steered.result).toContain(journey.receipts[0]?.update_id)
    expect(journey.steps.map(({ kind }) => kind)).toContain('update')

    expect(journey.cancelled).toMatchObject({ status: 'cancelled', final_outcome: 'cancelled' })
    expect(journey.refused).toMatchObject({ status: 409, code: 'not_cancellable' })
    expect(journey.listed).toEqual([journey.steered.id, result.id])
    expect(journey.runners).toContainEqual(expect.objectContaining({ name: 'act', available: true, default: true }))
    expect(journey.runners).toContainEqual(expect.objectContaining({ name: 'not-there', available: false }))
  })

  it('is told of a mistake by the compiler', async () => {
    const source = await readFile(join(folder, 'journey.ts'), 'utf8')
    await writeFile(join(folder, 'journey.ts'), source.replace("priority: 'urgent'", "priority: 'yesterday'"))
    const tsc = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
    const compiling = promisify(execFile)(process.execPath, [tsc, '--noEmit', '--project', folder])
    await expect(compiling).rejects.toMatchObject({ stdout: expect.stringContaining('"yesterday"') })
  })
})

describe('the reference that a server gives', () => {
  it('is the one of the repository', async () => {
    const answer = await fetch(new URL('/openapi.yaml', system.api.address))
    expect(await answer.text()).toBe(await readFile(OPENAPI_FILE, 'utf8'))
    for (const path of ['/openapi.json', '/docs', '/docs/']) expect((await fetch(new URL(path, system.api.address))).status).toBe(200)
  })
})
