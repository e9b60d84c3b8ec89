/** The worker of `bare-api.ts`: takes what is pending when it is told, and stores each result with one statement. Argument: the URL of its database. */
import { connectBare } from '../instrument/connect-bare.ts'

const RESULT = 'Done. '.repeat(34).slice(0, 200)
const sql = connectBare(process.argv[2] as string)
let isTold = false
let isTaking = false

async function take(): Promise<void> {
  isTold = true
  if (isTaking) return
  isTaking = true
  while (isTold) {
    isTold = false
    const taken = await sql<{ id: string }[]>`
      update jobs set status = 'running' where id in (select id from jobs where status = 'pending' order by id limit 100 for update skip locked) returning id`
    for (const { id } of taken) {
      void sql`update jobs set status = 'completed', result = ${RESULT} where id = ${id} returning pg_notify('ended', id::text)`.execute()
    }
  }
  isTaking = false
}

await sql.listen('submitted', () => void take())
console.log('up')
