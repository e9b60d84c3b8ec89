/**
 * The least that a front door of this kind does: a statement that stores a job, a notification to its worker, and the stored result as the answer.
 * It has no keys, limits, events, attempts or leases, checks nothing, and a job whose notification is lost waits for the next one. Argument: the URL of its database.
 */
import Fastify from 'fastify'
import { connectBare } from '../instrument/connect-bare.ts'

const sql = connectBare(process.argv[2] as string)
await sql`create table jobs (id uuid primary key default uuidv7(), task text not null, status text not null default 'pending', result text)`
await sql`create index jobs_pending on jobs (id) where status = 'pending'`
const ends = new Map<string, PromiseWithResolvers<void>>()

function endOf(id: string): PromiseWithResolvers<void> {
  const end = ends.get(id) ?? Promise.withResolvers<void>()
  ends.set(id, end)
  return end
}

await sql.listen('ended', (id) => endOf(id).resolve())

const app = Fastify()
app.post<{ Body: { task: string } }>('/jobs', async ({ body }) => {
  const [job] = await sql<[{ id: string }]>`insert into jobs (task) values (${body.task}) returning id, pg_notify('submitted', '')`
  // The notification of its end may have been read before the answer to its insertion.
  await endOf(job.id).promise
  ends.delete(job.id)
  return (await sql`select id, status, result from jobs where id = ${job.id}`)[0]
})
app.get<{ Params: { id: string } }>('/jobs/:id', async ({ params }) => (await sql`select id, status, result from jobs where id = ${params.id}`)[0])
console.log(`up ${await app.listen({ port: 0, host: '127.0.0.1' })}`)
