import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import openapiTypescript, { astToString } from 'openapi-typescript'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { OPENAPI_FILE, operationFor, problemsOf } from './harness/openapi.ts'
import { type System, startSystem } from './harness/system.ts'
import type { InboxItem, Injection, MusterEvent, Problem, Subtask, Task, Update } from './harness/wire.ts'

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
/** As `client/brief.ts.txt` has it. */
interface BriefJourney {
  warnings: string[]
  task: Task
  first: Injection
  nothing: Injection
  revised: { update_id: string; revision: number; diff: Record<string, { op: string; text: string }[]> }
  stale: Problem & { revision: number }
  second: Injection
  confirmed: { genuine: boolean; content: string; sender: { kind: string; id: string } }
  blocked: Problem
  helped: { surfaced: number; resolved: number }
  checkedIn: { revision: number; criteria: { state: string }[]; acknowledged_update_ids: string[] }
  receipts: Update[]
  missing: Problem
  completed: Task
  revisions: { revision: number; fields: string[]; author: { kind: string; id: string } }[]
  dispatched: Subtask
  dispatchedTask: Task
}

/** What a story lets the test do in between. */
interface Hands {
  started(id: string): Promise<void>
  told(id: string): Promise<void>
  release(id: string): void
}
type Drive<Told> = (baseUrl: string, key: string, fetchOf: typeof fetch, hands: Hands) => Promise<Told>

const STORIES = ['journey', 'brief']
const TSC = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')

let system: System
let folder: string
let hands: Hands

beforeAll(async () => {
  // Inside of the project, so that the client finds its libraries as a user's would.
  const cache = join(ROOT, 'node_modules', '.cache')
  await mkdir(cache, { recursive: true })
  folder = await mkdtemp(join(cache, 'muster-client-'))
  system = await startSystem({ env: { AUTH: 'keys', SUBTASK_WORKERS: '3' } })
  hands = {
    started: async (id) => void (await system.ledger.written(id, 'start')),
    told: async (id) => void (await system.ledger.written(id, 'update')),
    release: (id) => system.ledger.release(id),
  }
  await generateClient()
})
afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
  await system.close()
})

/** Generates the types, puts the stories beside them, and compiles the whole. */
async function generateClient(): Promise<void> {
  await writeFile(join(folder, 'schema.ts'), astToString(await openapiTypescript(pathToFileURL(OPENAPI_FILE))))
  for (const story of STORIES) await copyFile(new URL(`./client/${story}.ts.txt`, import.meta.url), join(folder, `${story}.ts`))
  const module = { target: 'ES2024', lib: ['ES2024', 'DOM', 'DOM.AsyncIterable'], module: 'NodeNext', rewriteRelativeImportExtensions: true, types: [] }
  const files = STORIES.map((story) => `${story}.ts`)
  await writeFile(join(folder, 'package.json'), '{"type": "module"}')
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...STRICT, ...module, outDir: 'dist' }, files }))
  await promisify(execFile)(process.execPath, [TSC, '--project', folder]).catch((error: { stdout?: string }) => {
    throw new Error(`The generated client does not compile:\n${error.stdout}`)
  })
}

function story<Story>(name: string): Promise<Story> {
  return import(pathToFileURL(join(folder, 'dist', `${name}.js`)).href) as Promise<Story>
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
    const { drive } = await story<{ drive: Drive<Journey> }>('journey')
    const { key } = await system.mintKey(['subtasks:read', 'subtasks:write', 'events:read', 'sessions:write'])
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

  it('steers a brief: assign, inject once, revise, confirm, check in, be refused, complete; and dispatches one', async () => {
    const { driveBrief } = await story<{ driveBrief: Drive<BriefJourney> }>('brief')
    const { id: keyId, key } = await system.mintKey(['tasks:read', 'tasks:write', 'tsgs:write', 'subtasks:read', 'subtasks:write'])
    const told = await driveBrief(system.api.address, key, checkedFetch, hands)
    const { task, first, revised, second } = told
    const sender = { kind: 'key', id: keyId }

    expect(told.warnings).toEqual([])
    expect(first.items).toMatchObject([{ kind: 'assignment', task_id: task.id, revision: 1 }])
    for (const line of [`[Task Assignment: Describe the public functions]`, '- [ ] Every exported function is listed', 'The port is taken (port-taken)'])
      expect(first.text).toContain(line)
    expect(told.nothing).toMatchObject({ text: '', items: [] })

    expect(revised).toMatchObject({ revision: 2, diff: { instructions: [{ op: 'keep' }, { op: 'add', text: ' Leave out the tests.' }] } })
    expect(told.stale).toMatchObject({ status: 412, code: 'revision_stale', revision: 2 })
    expect(second.items.map(({ kind }) => kind)).toEqual(['update', 'update', 'tsg_notice'])
    expect(second.items[0]).toMatchObject({ update_id: revised.update_id, text: expect.stringMatching(/^Sender: API key "[^"]+"$/m) })
    expect(second.items[1]?.text).toContain('The parser comes first.')
    expect(second.items[2]).toMatchObject({ id: 'port-taken', text: expect.stringContaining('[Troubleshooting Guide Available: "The port is taken"]') })
    expect(told.confirmed).toMatchObject({ genuine: true, sender, content: expect.stringContaining('Leave out the tests.') })
    expect(told.blocked).toMatchObject({ status: 403, code: 'spawn_blocked' })
    expect(told.helped).toMatchObject({ surfaced: 1, resolved: 1 })

    expect(told.checkedIn).toMatchObject({ revision: 2, criteria: [{ state: 'met' }] })
    expect(told.checkedIn.acknowledged_update_ids.toSorted()).toEqual(second.items.flatMap(({ update_id }) => update_id ?? []).toSorted())
    expect(told.receipts.map(({ status }) => status)).toEqual(['acknowledged', 'acknowledged'])
    expect(told.missing).toMatchObject({ status: 422, code: 'outputs_missing', errors: [{ field: 'outputs.count' }] })
    expect(told.completed).toMatchObject({ status: 'completed', completion_outputs: { functions: ['parse'], count: 1 } })
    expect(told.revisions).toMatchObject([
      { revision: 2, fields: ['instructions'], author: sender },
      { revision: 1, author: sender },
    ])

    expect(told.dispatched).toMatchObject({
      status: 'completed',
      task_revision: 2,
      result: expect.stringContaining('[Task Update: Acceptance Criteria Modified]'),
    })
    expect(told.dispatchedTask).toMatchObject({ status: 'completed', revision: 2 })
  })

  it('is told of a mistake by the compiler', async () => {
    const source = await readFile(join(folder, 'journey.ts'), 'utf8')
    await writeFile(join(folder, 'journey.ts'), source.replace("priority: 'urgent'", "priority: 'yesterday'"))
    const compiling = promisify(execFile)(process.execPath, [TSC, '--noEmit', '--project', folder])
    await expect(compiling).rejects.toMatchObject({ stdout: expect.stringContaining('"yesterday"') })
  })
})

describe('the reference that a server gives', () => {
  it('is the one of the repository', async () => {
    const answer = await fetch(new URL('/openapi.yaml', system.api.address))
    expect(await answer.text()).toBe(await readFile(OPENAPI_FILE, 'utf8'))
    expect((await fetch(new URL('/openapi.json', system.api.address))).status).toBe(200)
  })
})
