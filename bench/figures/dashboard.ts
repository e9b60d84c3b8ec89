import { setTimeout as sleep } from 'node:timers/promises'
import { buildDashboard } from '../../scripts/system/dashboard.ts'
import { agentNames } from '../contenders/agents.ts'
import { type Api, startApi } from '../contenders/api.ts'
import { AGENTS, startMusterWorker, startSpawner } from '../contenders/muster.ts'
import type { ServingChild } from '../instrument/child.ts'
import { atMost, type Bench, countText, type Figure, Rows } from '../instrument/figure.ts'
import type { BenchDatabase } from '../instrument/server.ts'
import { percentile } from '../instrument/statistics.ts'
import { openWatchedPages } from '../instrument/watched-page.ts'
import { seedFinished } from '../seeds/finished.ts'
import { seedTranscript } from '../seeds/transcript.ts'

/** A run that ends at once writes three events. */
const SUBTASKS_PER_SECOND = 17
const HELD = { capacity: 25, runMs: null }
const BRIEF = { capacity: 25, runMs: 20 }
const ROW = '.virtual-rows li'
const ROW_PX = 40

type Pages = Awaited<ReturnType<typeof openWatchedPages>>

interface Stage {
  bench: Bench
  database: BenchDatabase
  api: Api
  pages: Pages
  /** The subtask with the long transcript. */
  longId: string
}

/** From an empty cache to the content of each screen. */
async function measurePaints({ bench, api, pages, longId }: Stage) {
  const screens = {
    now: ['/ui/', '.figure dd', ''],
    list: ['/ui/subtasks', ROW, 'Look at part'],
    transcript: [`/ui/subtasks/${longId}`, ROW, 'Message 1'],
  } as const
  const shown: Record<keyof typeof screens, number[]> = { now: [], list: [], transcript: [] }
  const paints: number[] = []
  for (let load = 0; load < bench.size(10, 2); load += 1) {
    for (const [name, [path, selector, text]] of Object.entries(screens) as [keyof typeof screens, readonly [string, string, string]][]) {
      await using opened = await pages.open()
      const { firstPaintMs, shownMs } = await opened.load(`${api.address}${path}`, selector, text)
      paints.push(firstPaintMs)
      shown[name].push(shownMs)
    }
  }
  return { paints, shown }
}

/** What a person does on the list and on the transcript, while events arrive. */
async function measureInteractions({ bench, api, pages, longId }: Stage) {
  await using opened = await pages.open()
  const { page } = opened
  const durations: number[] = []
  const frames: number[] = []
  const scroll = async (times: number) => {
    await page.locator('.virtual').first().hover()
    await opened.watch('takeFrames')
    for (let turn = 0; turn < times; turn += 1) await page.mouse.wheel(0, 900).then(() => sleep(16))
    frames.push(...(await opened.watch<number[]>('takeFrames')))
  }
  for (let round = 0; round < bench.size(5, 1); round += 1) {
    await opened.load(`${api.address}/ui/subtasks`, ROW)
    await scroll(bench.size(120, 20))
    await page.getByLabel('Status', { exact: true }).selectOption('failed')
    await opened.watch('shown', ROW, 'failed')
    await page.getByLabel('Agent', { exact: true }).click()
    await page.keyboard.type('agent-20\n', { delay: 30 })
    await page.keyboard.press('Control+k')
    await page.keyboard.type('usage', { delay: 30 })
    await page.keyboard.press('Escape')
    await page.locator('.virtual').first().focus()
    for (const key of ['End', 'PageUp', 'Home']) await page.keyboard.press(key, { delay: 30 })
    durations.push(...(await opened.watch<number[]>('takeInteractions')))
    await opened.load(`${api.address}/ui/subtasks/${longId}`, ROW)
    await scroll(bench.size(120, 20))
    for (const tab of ['Timeline', 'Brief', 'Transcript']) await page.getByRole('tab', { name: tab }).click()
    await opened.watch('shown', ROW)
    await page.locator('.virtual').first().focus()
    for (const key of ['End', 'PageUp', 'Home', 'PageDown']) await page.keyboard.press(key, { delay: 30 })
    durations.push(...(await opened.watch<number[]>('takeInteractions')))
  }
  return { durations, frames }
}

/** Reads the list to its end, page by page as a person who scrolls, and answers the frames meanwhile. */
async function measureWholeList({ bench, api, pages }: Stage, stored: number) {
  await using opened = await pages.open()
  await opened.load(`${api.address}/ui/subtasks`, ROW)
  const wanted = Math.min(stored, bench.size(100_000, 1_000)) * 0.9
  const result = await opened.watch<{ frames: number[]; rows: number }>('readToEnd', wanted, ROW_PX)
  return { ...result, heapMB: (await opened.heapBytes()) / 1e6 }
}

/** What a page keeps while events arrive: the heap at the end beside that after a fifth of the time. */
async function watchMemory({ bench, api, pages }: Stage, spawner: ServingChild) {
  await using opened = await pages.open()
  await opened.load(`${api.address}/ui/`, '.figure dd')
  const seconds = bench.minutes * 60
  const first = await spawner
    .call('load', { perSecond: SUBTASKS_PER_SECOND, seconds: Math.ceil(seconds / 5), agents: agentNames(AGENTS) })
    .then(() => opened.heapBytes())
  await spawner.call('load', { perSecond: SUBTASKS_PER_SECOND, seconds: Math.floor((seconds * 4) / 5), agents: agentNames(AGENTS) })
  const last = await opened.heapBytes()
  bench.log(`heap: ${(first / 1e6).toFixed(1)} MB after ${Math.ceil(seconds / 5)} s, ${(last / 1e6).toFixed(1)} MB after ${seconds} s`)
  return (last - first) / 1e6
}

/** From the request to cancel, sent by the page, to the word on its screen. */
async function measureCancels({ bench, api, pages }: Stage, spawner: ServingChild, worker: ServingChild): Promise<number[]> {
  await using opened = await pages.open()
  const tookMs: number[] = []
  for (let round = 0; round < bench.size(4, 1); round += 1) {
    const ids = await spawner.call<string[]>('spawn', { count: HELD.capacity, agents: agentNames(HELD.capacity) })
    while ((await worker.call<{ entered: number }>('count')).entered < ids.length * (round + 1)) await sleep(20)
    for (const id of ids) {
      await opened.load(`${api.address}/ui/subtasks/${id}`, '.badge', 'running')
      tookMs.push(await opened.watch<number>('cancel', id))
    }
  }
  return tookMs
}

/** Sends work as long as something is measured beside it. */
async function underLoad<T>(spawner: ServingChild, measure: () => Promise<T>): Promise<T> {
  let isDone = false
  const load = async () => {
    while (!isDone) await spawner.call('load', { perSecond: SUBTASKS_PER_SECOND, seconds: 1, agents: agentNames(AGENTS) })
  }
  const loading = load()
  try {
    return await measure()
  } finally {
    isDone = true
    await loading
  }
}

export const dashboard: Figure = {
  name: 'dashboard',
  title: 'the dashboard in Chromium with 100,000 subtasks and a transcript of 20,000 steps: first paint, interaction, memory, cancel → screen',
  raised: 'SUBTASK_WORKERS=25, AUTH=open',
  notes: [
    'each screen is loaded with an empty cache, and is shown when the first rows have been painted; interactions run from the event to the next paint, below 16 ms counted as 16',
    'the page shares the processors with API, worker, PostgreSQL and what makes the load; memory is the heap of scripts after a collection, from a fifth of the time to its end',
  ],
  async measure(bench) {
    const rows = new Rows()
    const [stored, steps] = [bench.size(100_000, 2_000), bench.size(20_000, 1_000)]
    await buildDashboard(bench.log)
    await using database = await bench.server.musterDatabase()
    const longId = (await seedFinished(database.admin, stored, AGENTS)).at(-1) as string
    await seedTranscript(database.admin, longId, steps)
    await database.admin`vacuum (analyze) subtasks, attempts`
    const api = await startApi(bench, database, { AUTH: 'open' })
    await using _ = api.process
    await using spawner = await startSpawner(bench, database)
    await using pages = await openWatchedPages()
    const stage: Stage = { bench, database, api, pages, longId }
    for (let run = 1; run <= bench.runs; run += 1) {
      const add = (label: string, unit: string, value: number, goal: ReturnType<typeof atMost> | null) =>
        rows.add({ label: `dashboard: ${label}`, unit, better: 'lower', goal }, null, value)
      const { paints, shown } = await measurePaints(stage)
      add('first paint, all screens, worst', 'ms', Math.max(...paints), atMost(1_000, 'ms'))
      add('Now is shown, worst', 'ms', Math.max(...shown.now), atMost(1_000, 'ms'))
      add(`list of ${countText(stored)} subtasks is shown, worst`, 'ms', Math.max(...shown.list), atMost(1_000, 'ms'))
      add(`transcript of ${countText(steps)} steps is shown, worst`, 'ms', Math.max(...shown.transcript), atMost(1_000, 'ms'))
      const whole = await measureWholeList(stage, stored)
      add(`frame while ${countText(stored)} rows are read by scrolling, p95`, 'ms', percentile(whole.frames, 0.95), atMost(100, 'ms'))
      bench.log(`run ${run}: ${whole.rows} rows read, longest frame ${Math.max(...whole.frames).toFixed(0)} ms, heap ${whole.heapMB.toFixed(0)} MB`)
      {
        await using _worker = await startMusterWorker(bench, database, BRIEF)
        const { durations, frames } = await underLoad(spawner, () => measureInteractions(stage))
        add('interaction at 50 events/s, p95', 'ms', percentile(durations, 0.95), atMost(100, 'ms'))
        add('frame while scrolling at 50 events/s, p95', 'ms', percentile(frames, 0.95), atMost(100, 'ms'))
        bench.log(`run ${run}: ${durations.length} interactions, longest ${Math.max(...durations)} ms; longest frame ${Math.max(...frames).toFixed(0)} ms`)
        if (run === 1) add(`heap, growth in ${bench.minutes} minutes of 50 events/s`, 'MB', await watchMemory(stage, spawner), atMost(5, 'MB'))
      }
      await using worker = await startMusterWorker(bench, database, HELD)
      const cancels = await measureCancels(stage, spawner, worker)
      add('cancel → screen, p50', 'ms', percentile(cancels, 0.5), null)
      add('cancel → screen, p99', 'ms', percentile(cancels, 0.99), atMost(200, 'ms'))
    }
    return rows.list()
  },
}
