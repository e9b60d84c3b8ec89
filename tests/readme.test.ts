import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { chmod, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { removeLocalPostgres } from '@muster/local-postgres'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Child } from './harness/child.ts'

/*
 * Every `sh` block of README.md and docs/ is executed in bash, in its order, against what `npm start` brings up. Two things are read out of the
 * comments in a block:
 *
 * - `# not tested here: <why>` in its first line: the block is not executed. Its reason has to be listed below.
 * - a status such as 422: one call of that paragraph is answered with it. Calls are answered with 2xx otherwise.
 */
const ROOT = fileURLToPath(new URL('..', import.meta.url))
const NOT_TESTED = [
  'README.md: these install, and stay up',
  'README.md: tests/docker does, on an engine. Two passwords of PostgreSQL, one for its superuser and one for Muster; made once and kept in .env',
  'docs/api-conventions.md: starts a server with other settings',
  'docs/backup.md: tests/backup.test.ts does',
  'docs/backup.md: tests/backup.test.ts does',
  'docs/backup.md: tests/backup.test.ts does',
  'docs/backup.md: tests/backup.test.ts does',
  'docs/backup.md: tests/backup.test.ts does',
  'docs/backup.md: tests/backup.test.ts does',
  'docs/cli.md: tests/cli.test.ts and tests/cli-terminal.test.ts run these commands',
  'docs/dashboard.md: it is a test itself, and takes a minute',
  'docs/databases.md: it takes a pooler',
  'docs/kubernetes.md: it needs a cluster',
  'docs/operations.md: it needs a running server',
  'docs/operations.md: it needs a running worker',
  'docs/operations.md: it needs the pid of a process',
  'docs/operations.md: it needs a running server and an admin key',
  'docs/operations.md: it needs a collector',
  'docs/operations.md: it downloads pnpm, and audit asks the registry',
  'docs/operations.md: it needs a registry',
  'docs/performance.md: measuring takes minutes',
  'docs/reliability.md: breaking everything takes minutes',
  'docs/sharding.md: it takes two databases',
  'docs/storage.md: the folder and the session are examples, and erasing is for good',
  'docs/subagents.md: it needs the key of a model. Waits for the result; in the background it answers at once',
  'docs/usage.md: it needs a running server',
]

/** Commands between two blank lines of a block. */
interface Paragraph {
  place: string
  commands: string
}

interface Document {
  paragraphs: Paragraph[]
  notTested: string[]
}

let folder: string
let started: Child
let address: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster readme '))
  await chmod(folder, 0o755)
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, PORT: '0', DATA_DIR: join(folder, 'data'), OUTBOUND_ALLOW: '127.0.0.1' }
  started = new Child({ name: 'npm start', argv: [process.execPath, join(ROOT, 'scripts/run.mjs'), 'start'], env })
  const { raw } = await started.line(({ raw }) => raw.startsWith('Muster is up: http'), { timeoutMs: 120_000 })
  address = raw.split(': ')[1]?.trim() as string
})

afterAll(async () => {
  await started.end('SIGTERM', 30_000)
  await removeLocalPostgres(join(folder, 'data', 'postgres'))
  await rm(folder, { recursive: true, force: true })
})

async function documents(): Promise<string[]> {
  const docs = (await readdir(join(ROOT, 'docs'))).filter((name) => name.endsWith('.md')).sort()
  return ['README.md', ...docs.map((name) => `docs/${name}`)]
}

async function read(file: string): Promise<Document> {
  const lines = (await readFile(join(ROOT, file), 'utf8')).split('\n')
  const document: Document = { paragraphs: [], notTested: [] }
  for (let at = 0; at < lines.length; at += 1) {
    if (!/^```(sh|bash|shell|console)\b/.test(lines[at] ?? '')) continue
    const end = lines.indexOf('```', at)
    const block = lines.slice(at + 1, end)
    const reason = /^# not tested here: (.*)$/.exec(block[0] ?? '')?.[1]
    if (reason !== undefined) document.notTested.push(`${file}: ${reason}`)
    else document.paragraphs.push(...paragraphsOf(block, file, at + 2))
    at = end
  }
  return document
}

function paragraphsOf(block: string[], file: string, firstLine: number): Paragraph[] {
  const paragraphs: Paragraph[] = []
  block.forEach((line, index) => {
    if (line.trim() === '') return
    const last = paragraphs.at(-1)
    if (last !== undefined && block[index - 1]?.trim() !== '') last.commands += `\n${line}`
    else paragraphs.push({ place: `${file}:${firstLine + index}`, commands: line })
  })
  return paragraphs
}

/** Statuses that the comments of a paragraph announce. */
function announced({ commands }: Paragraph): string[] {
  const comments = commands.split('\n').filter((line) => line.startsWith('#'))
  return comments.flatMap((line) => line.match(/\b[45]\d\d\b/g) ?? []).sort()
}

/** Runs the paragraphs of one document in one shell. Returns its exit code, what it printed, and the statuses of each paragraph's calls. */
async function execute(paragraphs: Paragraph[]): Promise<{ code: number; printed: string; calls: Map<string, string[]> }> {
  const [output, callsFile] = [join(folder, 'output'), join(folder, 'calls')]
  const script = [
    'set -euo pipefail',
    // Notes down how each call was answered.
    `curl() { command curl --write-out '%{stderr}%{http_code} %{url_effective}\\n' "$@" 2>>"$CALLS"; }`,
    ...paragraphs.map(({ place, commands }) => `echo '= ${place}' | tee -a "$CALLS"\n${commands}`),
  ].join('\n')
  const here = script.replaceAll('http://127.0.0.1:7300', address).replaceAll('localhost:7300', new URL(address).host)
  const file = openSync(output, 'w')
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, DATA_DIR: join(folder, 'data'), CALLS: callsFile }
  await rm(callsFile, { force: true })
  const child = spawn('bash', ['-c', here], { cwd: ROOT, env, stdio: ['ignore', file, file] })
  const [code] = (await once(child, 'close')) as [number]
  closeSync(file)
  const calls = new Map<string, string[]>()
  for (const line of (await readFile(callsFile, 'utf8')).trim().split('\n')) {
    const place = /^= (.*)$/.exec(line)?.[1]
    if (place !== undefined) calls.set(place, [])
    else [...calls.values()].at(-1)?.push(line)
  }
  return { code, printed: await readFile(output, 'utf8'), calls }
}

describe('the commands of the documents', async () => {
  it.each(await documents())('%s: each works in the order given, and is answered as announced', { timeout: 240_000 }, async (file) => {
    const { paragraphs } = await read(file)
    const { code, printed, calls } = paragraphs.length === 0 ? { code: 0, printed: '', calls: new Map<string, string[]>() } : await execute(paragraphs)

    const wrong = paragraphs.flatMap((paragraph) => {
      const refused = (calls.get(paragraph.place) ?? []).filter((call) => !/^2\d\d /.test(call))
      const statuses = refused.map((call) => call.slice(0, 3)).sort()
      return statuses.join() === announced(paragraph).join() ? [] : [{ place: paragraph.place, announced: announced(paragraph), refused }]
    })
    expect(wrong, printed).toEqual([])
    expect(code, printed).toBe(0)
    expect([...calls.keys()]).toEqual(paragraphs.map(({ place }) => place))
  })

  it('are executed, but for those that say why not', async () => {
    const all = await Promise.all((await documents()).map(read))
    expect(all.flatMap(({ notTested }) => notTested)).toEqual(NOT_TESTED)
    expect(all.flatMap(({ paragraphs }) => paragraphs).length).toBeGreaterThan(25)
  })
})
