import { fileURLToPath } from 'node:url'
import { type Child, startProgram } from '../instrument/child.ts'
import type { Bench } from '../instrument/figure.ts'
import type { BenchDatabase } from '../instrument/server.ts'
import { musterEnvironment, startSpawner } from './muster.ts'

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.resolve('@muster/api')))

/** The API's own program, and what it takes to call it. */
export interface Api {
  process: Child
  address: string
  headers: Record<string, string>
}

/** Starts the API as in production, asking for keys, and makes one. */
export async function startApi(bench: Bench, database: BenchDatabase, raised: Record<string, string> = {}): Promise<Api> {
  let secret: string
  {
    await using spawner = await startSpawner(bench, database)
    secret = await spawner.call<string>('createKey')
  }
  const addressOf = (log: string) => /"address":"([^"]+)"/.exec(log)?.[1]
  const child = await startProgram(
    bench,
    'api',
    MAIN,
    musterEnvironment(bench, database, { PORT: '0', AUTH: 'keys', ...raised }),
    (log) => addressOf(log) !== undefined,
  )
  return { process: child, address: addressOf(child.log()) as string, headers: { authorization: `Bearer ${secret}` } }
}
