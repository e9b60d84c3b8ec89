// The HTTP side of DBOS: enqueues a workflow and answers with its result. Arguments: the URL of its database, the interval of its polls in ms.
import { createServer } from 'node:http'
import { DBOSClient } from '@dbos-inc/dbos-sdk'

const [url, pollMs] = process.argv.slice(2)
const client = await DBOSClient.create({ systemDatabaseUrl: url })
const polling = pollMs === undefined ? {} : { pollingIntervalMs: Number(pollMs) }

async function answer(request) {
  if (request.method === 'GET') return { result: await client.retrieveWorkflow(request.url.slice(1)).getResult() }
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const { task, workflow, id } = JSON.parse(Buffer.concat(chunks).toString())
  const handle = await client.enqueue({ queueName: 'jobs', workflowName: workflow, ...(id === undefined ? {} : { workflowID: id }) }, id ?? task)
  if (workflow === 'long') return { id: handle.workflowID }
  return { id: handle.workflowID, result: await handle.getResult(polling) }
}

const server = createServer((request, response) => {
  answer(request).then(
    (body) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body)),
    (error) => response.writeHead(500).end(String(error)),
  )
})
server.listen(0, '127.0.0.1', () => console.log(`up http://127.0.0.1:${server.address().port}`))
