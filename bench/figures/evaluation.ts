import { musterSettings } from '../contenders/muster.ts'
import { startServing } from '../instrument/child.ts'
import { atLeast, atMost, countText, type Figure, Rows } from '../instrument/figure.ts'
import { seedFinished } from '../seeds/finished.ts'
import { outputOf } from '../seeds/outputs.ts'

const OUTPUT_BYTES = 4 * 1024
const ADVERSARIAL_BYTES = 8 * 1024 * 1024
const AGENTS = 500
/** Evaluated before the clock starts, so that what is compiled at the first time is compiled. */
const FIRST = 1_000

export const evaluation: Figure = {
  name: 'evaluation',
  title: 'stored outputs of 4 KiB evaluated against 8 criteria without a judge, 200 rows a commit; and the worst of 8 MiB',
  raised: '',
  async measure(bench) {
    const rows = new Rows()
    const count = bench.size(10_000, 2_000)
    for (let run = 1; run <= bench.runs; run += 1) {
      await using database = await bench.server.musterDatabase()
      await seedFinished(database.admin, FIRST + count, AGENTS, (number) => outputOf(number, OUTPUT_BYTES))
      await database.admin`vacuum (analyze) subtasks`
      const stored = await database.admin<{ id: string; bytes: number }[]>`select id, octet_length(result)::int as bytes from subtasks order by id`
      const ids = stored.map(({ id }) => id)
      await using evaluator = await startServing(bench, 'evaluator', 'evaluator.ts', null, musterSettings(bench, database))
      const evaluate = (some: string[]) => evaluator.call<{ tookMs: number; written: number }>('evaluate', { ids: some })
      await evaluate(ids.slice(0, FIRST))
      const { tookMs, written } = await evaluate(ids.slice(FIRST))
      if (written !== count) throw new Error(`of ${count} outputs, ${written} were evaluated`)
      const perSecond = (count * 1_000) / tookMs
      const adversarial = { bytes: ADVERSARIAL_BYTES, kinds: bench.size(100, 3) }
      const worst = Object.entries(await evaluator.call<Record<string, number>>('adversarial', adversarial)).toSorted((a, b) => b[1] - a[1])
      const worstMs = worst[0]?.[1] ?? Number.NaN
      rows.add(
        { label: `evaluation of ${countText(count)} stored outputs of 4 KiB`, unit: '/s', better: 'higher', goal: atLeast(2_000, '/s') },
        null,
        perSecond,
      )
      rows.add({ label: 'evaluation of 8 MiB, the worst kind', unit: 'ms', better: 'lower', goal: atMost(1_000, 'ms') }, null, worstMs)
      const bytes = stored.reduce((sum, each) => sum + each.bytes, 0) / stored.length
      bench.log(
        `run ${run}: ${Math.round(perSecond)}/s, of ${Math.round(bytes)} bytes each; ${worst.map((each) => `${each[0]} ${each[1].toFixed(0)} ms`).join(', ')}`,
      )
    }
    return rows.list()
  },
}
