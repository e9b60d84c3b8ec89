/** The least that accepts work over HTTP: one route, one `send`. What our route does beyond it is what the comparison shows. */
import Fastify from 'fastify'
import { PgBoss } from 'pg-boss'
import { serve, startInput } from '../instrument/serve.ts'

const input = startInput<{ url: string; queue: string }>()
const boss = new PgBoss({ connectionString: input.url, supervise: false, schedule: false, migrate: false, createSchema: false })
boss.on('error', (error) => console.error(error))
await boss.start()

const app = Fastify({ logger: false })
app.post('/jobs', async (request, reply) => {
  const id = await boss.send(input.queue, request.body as object)
  return reply.status(202).send({ id })
})
const address = await app.listen({ host: '127.0.0.1', port: 0 })

serve({ address: () => address }, async () => {
  await app.close()
  await boss.stop({ graceful: false })
})
