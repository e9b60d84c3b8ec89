import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { storedFiles } from '@muster/db'
import { testDatabase } from '@muster/testing'
import { beatWorker } from '@muster/usecases'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startApi, type TestApi } from '../testing/api.ts'

const DEPLOY = new URL('../../../../deploy/', import.meta.url)
const read = (file: string) => readFile(new URL(file, DEPLOY), 'utf8')

let api: TestApi
let first: string
let metrics: string

beforeAll(async () => {
  api = await startApi(await testDatabase())
  await beatWorker(api.deps.dispatchDb.sql, { id: api.deps.newId(), runners: ['own'], capacity: 7, version: '1', host: 'h', pid: 1 }, false)
  const place = api.deps.newId()
  await storedFiles.beginSweep(api.deps.dispatchDb, place, 'tasks', 1_000)
  await storedFiles.noteSweep(api.deps.dispatchDb, place, 'tasks', { files: 3, bytes: 4_096 }, { files: 2, bytes: 8_192 })
  // The process is measured from the first read on.
  first = (await api.call('GET', '/metrics')).text
  metrics = (await api.call('GET', '/metrics')).text
})
afterAll(() => api.close())

const sampleOf = (text: string, series: string) =>
  text
    .split('\n')
    .find((line) => line.startsWith(`${series} `))
    ?.split(' ')[1]

/** Names of metrics in expressions, without the endings of a histogram. */
const namesIn = (text: string) => new Set([...text.matchAll(/\bmuster_[a-z0-9_]+/g)].map(([name]) => name.replace(/_(bucket|count|sum)$/, '')))

describe('GET /metrics', () => {
  it('200: says whether each part works, and what the workers can take and run', () => {
    for (const part of ['process', 'database', 'migrations', 'writes', 'queues', 'relay', 'partitions', 'history'])
      expect(sampleOf(metrics, `muster_part_ok{part="${part}"}`)).toBe('1')
    expect(sampleOf(metrics, 'muster_workers{state="active"}')).toBe('1')
    expect(sampleOf(metrics, 'muster_worker_capacity')).toBe('7')
    expect(sampleOf(metrics, 'muster_worker_runs')).toBe('0')
    expect(sampleOf(metrics, 'muster_oldest_claimable_seconds')).toBe('0')
    expect(Number(sampleOf(metrics, 'muster_relay_lag_seconds'))).toBeLessThan(30)
  })

  it('200: says from the first scrape on how far partitions reach', () => {
    expect(Number(sampleOf(first, 'muster_partitions'))).toBeGreaterThan(2)
    expect(Number(sampleOf(first, 'muster_event_partitions_ahead'))).toBeGreaterThan(100_000)
    expect(Number(sampleOf(first, 'muster_step_partitions_ahead_seconds'))).toBeGreaterThan(86_400)
    expect(sampleOf(first, 'muster_partitions_missing')).toBe('0')
  })

  it('200: says what folders and bodies take up, and what was removed of them', () => {
    expect(sampleOf(metrics, 'muster_stored_files{kind="tasks"}')).toBe('3')
    expect(sampleOf(metrics, 'muster_stored_files_bytes{kind="tasks"}')).toBe('4096')
    expect(sampleOf(metrics, 'muster_swept_files_total{kind="tasks"}')).toBe('2')
    expect(sampleOf(metrics, 'muster_swept_files_bytes_total{kind="tasks"}')).toBe('8192')
    expect(sampleOf(metrics, 'muster_swept_files_total{kind="bodies"}')).toBe('0')
  })

  it('200: says that the database is away, and no old value', async () => {
    const away = await startApi({ appUrl: 'postgres://nobody@127.0.0.1:1/nothing', drop: async () => {} }, {}, { awaitReady: false })
    const { text } = await away.call('GET', '/metrics')
    expect(sampleOf(text, 'muster_part_ok{part="database"}')).toBe('0')
    expect(sampleOf(text, 'muster_relay_lag_seconds')).toBe('Nan')
    expect(text).not.toContain('muster_workers{')
    await away.close()
  })
})

/** What it prints. */
async function promtool(...argv: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('promtool', argv).catch((error: NodeJS.ErrnoException & { stdout?: string; stderr?: string }) => {
    if (error.code === 'ENOENT') throw new Error('promtool is not on the PATH: take it from the Debian package prometheus, as .ci/run does.')
    throw new Error(`${error.stdout ?? ''}${error.stderr ?? ''}`)
  })
  return stdout
}

describe('the files of deploy/', () => {
  it.each(['grafana/muster.json', 'prometheus/muster-alerts.yml', 'prometheus/muster-alerts.test.yml'])(
    '%s names only metrics that there are',
    async (file) => {
      const names = [...namesIn(await read(file))]
      expect(names.length).toBeGreaterThan(5)
      expect(names.filter((name) => !metrics.includes(`# TYPE ${name} `))).toEqual([])
    },
  )

  it.each([
    ['check', 'rules', 'prometheus/muster-alerts.yml'],
    ['test', 'rules', 'prometheus/muster-alerts.test.yml'],
  ])('promtool %s %s %s succeeds', async (command, kind, file) => {
    expect(await promtool(command, kind, fileURLToPath(new URL(file, DEPLOY)))).toContain('SUCCESS')
  })

  it('each expression of the Grafana dashboard is one that Prometheus understands', async () => {
    const dashboard = await read('grafana/muster.json')
    const expressions: string[] = []
    JSON.parse(dashboard, (key, value) => {
      if (key === 'expr') expressions.push(value)
      return value
    })
    expect(expressions).toHaveLength(dashboard.split('"expr":').length - 1)
    expect(expressions.length).toBeGreaterThan(10)
    const folder = await mkdtemp(join(tmpdir(), 'muster-grafana-'))
    const rules = expressions.map((expr, nth) => ({ record: `panel:${nth}`, expr: expr.replaceAll('$__rate_interval', '5m') }))
    await writeFile(join(folder, 'panels.yml'), JSON.stringify({ groups: [{ name: 'panels', rules }] }))
    expect(await promtool('check', 'rules', join(folder, 'panels.yml'))).toContain(`SUCCESS: ${expressions.length} rules found`)
    await rm(folder, { recursive: true })
  })

  it('each alert has a case in which it fires', async () => {
    const [rules, cases] = await Promise.all([read('prometheus/muster-alerts.yml'), read('prometheus/muster-alerts.test.yml')])
    const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name]) => name as string)
    const firing = cases
      .split('- eval_time: ')
      .slice(1)
      .filter((each) => each.includes('exp_labels'))
      .join('\n')
    expect(alerts.filter((name) => !firing.includes(`alertname: ${name}\n`))).toEqual([])
  })
})
