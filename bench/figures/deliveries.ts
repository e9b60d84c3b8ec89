import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { startApi } from '../contenders/api.ts'
import { startMusterWorker } from '../contenders/muster.ts'
import { atLeast, atMost, type Bench, type Figure, Rows } from '../instrument/figure.ts'
import { percentile } from '../instrument/statistics.ts'

const WEBHOOKS = 10
const PROJECT = '00000000-0000-7000-8000-000000000001'
const RAISED = { SECRETS_KEYS: `bench:${randomBytes(32).toString('base64')}`, OUTBOUND_ALLOW: '127.0.0.1' }

/** Publishes events, each of which every webhook gets, and measures until the receiver has all of them. */
async function measure(bench: Bench) {
  const arrivedMs: number[] = []
  const receiver = createServer((request, response) => {
    request.resume().on('end', () => {
      arrivedMs.push(performance.now())
      response.writeHead(204).end()
    })
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`
  await using database = await bench.server.musterDatabase()
  const api = await startApi(bench, database, RAISED)
  await using _ = api.process
  const call = async (method: string, path: string, body: object) => {
    const answer = await fetch(`${api.address}${path}`, { method, headers: { ...api.headers, 'content-type': 'application/json' }, body: JSON.stringify(body) })
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${await answer.text()}`)
  }
  await database.admin`update api_keys set scopes = '{admin}'`
  await call('PATCH', `/projects/${PROJECT}`, { settings: { outbound_allow: ['127.0.0.1'] } })
  for (let nth = 0; nth < WEBHOOKS; nth += 1) await call('POST', '/webhooks', { url: `${url}${nth}`, events: ['tsg.*'] })
  await using _worker = await startMusterWorker(bench, database, { capacity: 2, runMs: 0 }, RAISED)
  const publish = async (count: number) => {
    arrivedMs.length = 0
    const startMs = performance.now()
    await database.admin`
      insert into outbox (project_id, type, subject_kind, subject_id, data, actor_kind, actor_id)
      select ${PROJECT}, 'tsg.surfaced', 'tsg', gen_random_uuid(), jsonb_build_object('text', repeat('x', 500)), 'system', 'bench' from generate_series(1, ${count})`
    while (arrivedMs.length < count * WEBHOOKS) await sleep(5)
    return { perSecond: (count * WEBHOOKS * 1_000) / ((arrivedMs.at(-1) as number) - (arrivedMs[0] as number)), firstMs: (arrivedMs[0] as number) - startMs }
  }
  try {
    await publish(bench.size(200, 50))
    const { perSecond } = await publish(bench.size(2_000, 200))
    const aloneMs: number[] = []
    for (let nth = 0; nth < bench.size(50, 10); nth += 1) aloneMs.push((await publish(1)).firstMs)
    return { perSecond, aloneMs }
  } finally {
    receiver.closeAllConnections()
    receiver.close()
  }
}

export const deliveries: Figure = {
  name: 'deliveries',
  title: 'events in the outbox → signed requests that a receiver on loopback has answered, of one worker and ten webhooks',
  raised: 'OUTBOUND_ALLOW, SECRETS_KEYS',
  notes: ['the receiver shares the processors with the worker, and each delivery has a connection of its own'],
  async measure(bench) {
    const rows = new Rows()
    for (let run = 1; run <= bench.runs; run += 1) {
      const { perSecond, aloneMs } = await measure(bench)
      rows.add({ label: 'deliveries', unit: '/s', better: 'higher', goal: atLeast(500, '/s') }, null, perSecond)
      rows.add(
        { label: 'event alone → first request, log not followed, p50', unit: 'ms', better: 'lower', goal: atMost(1_100, 'ms') },
        null,
        percentile(aloneMs, 0.5),
      )
      bench.log(`run ${run}: ${Math.round(perSecond)} deliveries/s, a lone event after ${percentile(aloneMs, 0.5).toFixed(0)} ms`)
    }
    return rows.list()
  },
}
