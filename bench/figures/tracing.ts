import type { Contender } from '../contenders/contender.ts'
import { AGENTS, muster, musterTraced } from '../contenders/muster.ts'
import { startServing } from '../instrument/child.ts'
import { atMost, type Bench, type Figure, Rows } from '../instrument/figure.ts'
import { median, steadyRate } from '../instrument/statistics.ts'

const WORKERS = { capacity: 100, runMs: 0 }

/** The rate of the lifecycle at saturation, in new processes. */
async function rateOf(bench: Bench, contender: Contender): Promise<number> {
  await using database = await contender.prepare(bench)
  await using opened = await contender.open(bench, database, WORKERS)
  const [first, many] = [bench.size(2_000, 500), bench.size(10_000, 1_500)]
  await opened.preload(first)
  await opened.entries(first)
  await opened.preload(many)
  return steadyRate((await opened.entries(many)).map((entry) => entry.enteredMs))
}

export const tracing: Figure = {
  name: 'tracing',
  title: `what spans cost: the lifecycle with OTLP to a collector on loopback, and without, in turn; one worker process, 100 slots, ${AGENTS} agents`,
  raised: 'SUBTASK_WORKERS=100, OTEL_EXPORTER_OTLP_ENDPOINT',
  notes: [
    'the collector only reads, and shares the processors with everything else',
    'the cost is the median of those of pairs, measured one after the other in changing order',
  ],
  async measure(bench) {
    const rows = new Rows()
    await using sink = await startServing(bench, 'otlp-sink', 'otlp-sink.ts', null)
    const traced = musterTraced(`http://127.0.0.1:${await sink.call<number>('port')}`)
    for (let run = 1; run <= bench.runs; run += 1) {
      const costs: number[] = []
      for (let pair = 0; pair < bench.size(5, 1); pair += 1) {
        const order = pair % 2 === 0 ? [muster, traced] : [traced, muster]
        const rates = new Map<Contender, number>()
        for (const contender of order) rates.set(contender, await rateOf(bench, contender))
        const [without, withSpans] = [rates.get(muster) as number, rates.get(traced) as number]
        costs.push((1 - withSpans / without) * 100)
        bench.log(`run ${run}, pair ${pair + 1}: ${Math.round(without)}/s without, ${Math.round(withSpans)}/s with spans`)
      }
      rows.add({ label: 'cost of spans, of the rate of the lifecycle', unit: '%', better: 'lower', goal: atMost(3, '%') }, null, median(costs))
    }
    if ((await sink.call<number>('bytes')) === 0) throw new Error('the collector got no span')
    return rows.list()
  },
}
