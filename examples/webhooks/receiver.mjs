// Receives deliveries of Muster and verifies them by Standard Webhooks, with Node alone. The secret is in WEBHOOK_SECRET.
// --once: ends after the first delivery that verifies.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

const KEY = Buffer.from((process.env.WEBHOOK_SECRET ?? '').replace(/^whsec_/, ''), 'base64')
const TOLERANCE_SECONDS = 300

function verifies(headers, body) {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures = '' } = headers
  if (!(Math.abs(Date.now() / 1_000 - Number(timestamp)) < TOLERANCE_SECONDS)) return false
  const expected = createHmac('sha256', KEY).update(`${id}.${timestamp}.${body}`).digest()
  return signatures.split(' ').some((each) => {
    const [version, base64 = ''] = each.split(',')
    const given = Buffer.from(base64, 'base64')
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected)
  })
}

const seen = new Set()
const server = createServer(async (request, response) => {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const body = Buffer.concat(chunks).toString('utf8')
  if (!verifies(request.headers, body)) {
    response.writeHead(400).end('the signature does not verify')
    return
  }
  // The same id is the same delivery, sent again.
  const id = request.headers['webhook-id']
  if (!seen.has(id)) {
    seen.add(id)
    const { type, data } = JSON.parse(body)
    console.log(`received ${type}: ${JSON.stringify(data)}`)
  }
  response.writeHead(204).end(() => {
    if (!process.argv.includes('--once')) return
    server.close()
    server.closeIdleConnections()
  })
})
server.listen(Number(process.env.PORT ?? 8099), '127.0.0.1')
