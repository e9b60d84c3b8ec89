import { DEFAULT_PROJECT_ID } from '@muster/domain'
import { startApi } from '../contenders/api.ts'
import { type Bench, countText, type Figure, Rows, withinPeer } from '../instrument/figure.ts'
import { sendHttpAtRate } from '../instrument/http-rate.ts'
import type { BenchDatabase } from '../instrument/server.ts'
import { percentile } from '../instrument/statistics.ts'
import { EVERY_NTH, seedEpisodes } from '../seeds/episodes.ts'

const PER_SECOND = 10
/** By log n: six digits instead of four. */
const LOG_RATIO = 1.5

/** What is searched for, by how many episodes have it. */
const QUESTIONS: Record<string, (number: number) => string> = {
  'one episode': (number) => `episode${number * 97}`,
  'a rare word': (number) => `seldom${number % 10}`,
  'two words of one in a hundred': (number) => `word${EVERY_NTH[100] + (number % 3)} word${EVERY_NTH[100] + 3 + (number % 3)}`,
  'a word of one in thirty': (number) => `word${EVERY_NTH[30] + (number % 3)}`,
  'a word of all': () => 'look',
  'a sentence of which no episode has all': (number) => `why did seldom${number % 10} fail to look at word${EVERY_NTH[30] + (number % 3)} missing${number}`,
}

async function measure(bench: Bench, database: BenchDatabase): Promise<Map<string, number[]>> {
  const api = await startApi(bench, database)
  await using _ = api.process
  await database.admin`update api_keys set scopes = array['memory:read']`
  const target = { url: api.address, headers: api.headers }
  const found = new Map<string, number[]>()
  const ask = (question: (number: number) => string) => (number: number) =>
    ({ method: 'GET', path: `/memory/search?q=${encodeURIComponent(question(number))}`, problem }) as const
  for (const [name, question] of Object.entries(QUESTIONS)) {
    // The code is compiled and the pages are in memory after these.
    await sendHttpAtRate(target, PER_SECOND, bench.size(2, 1), ask(question))
    found.set(name, (await sendHttpAtRate(target, PER_SECOND, bench.size(10, 1), ask(question))).fromSentMs)
  }
  return found
}

const problem = (body: string) => ((JSON.parse(body) as { items: unknown[] }).items.length === 0 ? 'nothing was found' : undefined)

export const memorySearch: Figure = {
  name: 'memory-search',
  title: 'GET /memory/search at 10/s over 1,000,000 episodes, and over 10,000, while nothing else runs',
  raised: '–',
  notes: [
    'episodes of 30 words from 20,000 of very different frequency; each kind of question is measured alone',
    `the goal is growth by log n at most: × ${LOG_RATIO}`,
  ],
  async measure(bench) {
    const rows = new Rows()
    const [many, few] = [bench.size(1_000_000, 20_000), bench.size(10_000, 1_000)]
    const fewText = countText(few)
    await using full = await bench.server.musterDatabase()
    await using small = await bench.server.musterDatabase()
    for (const [{ admin }, count] of [
      [full, many],
      [small, few],
    ] as const) {
      const startMs = performance.now()
      await seedEpisodes(admin, DEFAULT_PROJECT_ID, count)
      bench.log(`stored ${countText(count)} episodes in ${((performance.now() - startMs) / 1_000).toFixed(0)} s`)
    }
    for (let run = 1; run <= bench.runs; run += 1) {
      const [ofMany, ofFew] = [await measure(bench, full), await measure(bench, small)]
      for (const [name, times] of ofMany) {
        const fewTimes = ofFew.get(name) as number[]
        for (const [label, share, goal] of [
          ['p50', 0.5, withinPeer(LOG_RATIO, fewText)],
          ['p99', 0.99, null],
        ] as const) {
          const row = { label: `search of ${countText(many)} episodes, ${name}, ${label}`, unit: 'ms', better: 'lower', goal } as const
          rows.add(row, null, percentile(times, share))
          rows.add(row, fewText, percentile(fewTimes, share))
        }
        bench.log(`run ${run}, ${name}: p50 ${percentile(times, 0.5).toFixed(1)} ms, of ${fewText} ${percentile(fewTimes, 0.5).toFixed(1)} ms`)
      }
    }
    return rows.list()
  },
}
