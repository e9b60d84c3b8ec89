import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Child, startProgram } from '../instrument/child.ts'
import type { Bench } from '../instrument/figure.ts'
import type { BenchDatabase, BenchServer } from '../instrument/server.ts'
import { musterSettings, startSpawner } from './muster.ts'

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.resolve('@muster/api')))

/** The API's own program, and what it takes to call it. */
export interface Api {
  process: Child
  address: string
  headers: Record<string, string>
}

/** Starts the API as in production, asking for keys, and makes one. */
export async function startApi(bench: Bench, database: BenchDatabase, raised: Record<string, string> = {}): Promise<Api> {
  const secret = await giveKey(bench, database)
  const addressOf = (log: string) => /"address":"([^"]+)"/.exec(log)?.[1]
  const child = await startProgram(
    bench,
    'api',
    MAIN,
    musterSettings(bench, database, { PORT: '0', AUTH: 'keys', ...raised }),
    (log) => addressOf(log) !== undefined,
  )
  const address = addressOf(child.log()) as string
  while ((await fetch(`${address}/readyz`)).status !== 200) await sleep(10)
  return { process: child, address, headers: { authorization: `Bearer ${secret}` } }
}

/** The key of each server: made as the product makes keys, and then the same in every database, which is quicker. */
const keys = new WeakMap<BenchServer, { secret: string; row: string }>()

async function giveKey(bench: Bench, database: BenchDatabase): Promise<string> {
  const known = keys.get(bench.server)
  if (known !== undefined) {
    await database.admin`insert into api_keys select * from jsonb_populate_record(null::api_keys, ${known.row}::text::jsonb) on conflict do nothing`
    return known.secret
  }
  await using spawner = await startSpawner(bench, database)
  const secret = await spawner.call<string>('createKey')
  const [made] = await database.admin<{ row: string }[]>`select to_jsonb(k)::text as row from api_keys k order by id desc limit 1`
  if (made === undefined) throw new Error('the key that was made is not in the database')
  keys.set(bench.server, { secret, row: made.row })
  return secret
}
