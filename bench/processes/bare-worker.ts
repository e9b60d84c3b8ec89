/** The worker of `bare-api.ts`: takes what is pending when it is notified, and stores each result with one statement. Argument: the URL of its database. */
import { connectBare } from '../instrument/connect-bare.ts'

const RESULT = 'Done. '.repeat(34).slice(0, 200)
/** Jobs that one statement takes. */
const TAKEN_MAX = 100
const sql = connectBare(process.argv[2] as string)
let isNotified = false
let isTaking = false

async function take(): Promise<void> {
  isNotified = true
  if (isTaking) return
  isTaking = true
  while (isNotified) {
    isNotified = false
    const taken = await sql<{ id: string }[]>`
      update jobs set status = 'running' where id in (select id from jobs where status = 'pending' order by id limit ${TAKEN_MAX} for update skip locked) returning id`
    // More may be pending.
    if (taken.length === TAKEN_MAX) isNotified = true
    for (const { id } of taken) {
      void sql`update jobs set status = 'completed', result = ${RESULT} where id = ${id} returning pg_notify('ended', id::text)`.execute()
    }
  }
  isTaking = false
}

await sql.listen('submitted', () => void take())
console.log('up')
