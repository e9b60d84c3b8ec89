import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Dialect, renderError, renderTurn, renderWhole, type ScriptedTurn } from './model-dialects.ts'

export type { ScriptedTurn } from './model-dialects.ts'

/** One call of a model, as the server has seen it. */
export interface ModelRequest {
  dialect: Dialect
  model: string
  headers: IncomingHttpHeaders
  body: Record<string, unknown>
  /** The whole body as JSON: what a test looks for in a prompt. */
  text: string
  /** Names of the tools that were offered. */
  tools: string[]
}

type Decide = (request: ModelRequest) => ScriptedTurn | Promise<ScriptedTurn>

/** Models on loopback that say what a test has written, in the dialects of Anthropic and OpenAI. */
export interface ScriptedModels {
  /** What ANTHROPIC_BASE_URL is set to. */
  readonly anthropicUrl: string
  /** What OPENAI_BASE_URL is set to. */
  readonly openaiUrl: string
  readonly requests: ModelRequest[]
  /** The next calls are answered by these, in order; a call beyond them by an error that fails the test. */
  reply(...turns: ScriptedTurn[]): void
  /** Answers every call from now on, in place of what is written, and not before it is decided: for several runs at once, or to hold an answer. */
  answerBy(decide: Decide): void
  /** The call of this number, from 1, as soon as it is there and what its turn says has been sent. */
  request(number: number): Promise<ModelRequest>
  /** Resolves when this many calls have been broken off by the caller. */
  hungUp(count?: number): Promise<void>
  close(): Promise<void>
}

const PATHS: Record<string, Dialect> = {
  '/v1/messages': 'anthropic',
  '/v1/chat/completions': 'openai-chat',
  '/v1/responses': 'openai-responses',
}

export async function startScriptedModels(): Promise<ScriptedModels> {
  const requests: ModelRequest[] = []
  const turns: ScriptedTurn[] = []
  let decide: Decide | null = null
  let answered = 0
  let hungUp = 0
  let waiters: (() => void)[] = []
  const wake = () => {
    for (const waiter of waiters.splice(0)) waiter()
  }
  const until = async (holds: () => boolean) => {
    while (!holds()) await new Promise<void>((resolve) => waiters.push(resolve))
  }

  async function answer(message: IncomingMessage, response: ServerResponse) {
    const request = await readRequest(message)
    if (request === null) return void response.writeHead(404).end()
    requests.push(request)
    const serial = requests.length
    const turn = decide === null ? (turns.shift() ?? { status: 400, error: `call ${serial} has no scripted turn` }) : await decide(request)
    response.on('close', () => {
      if (response.writableFinished) return
      hungUp += 1
      wake()
    })
    if (turn.status !== undefined) {
      response.writeHead(turn.status, { 'content-type': 'application/json', ...turn.headers }).end(renderError(request.dialect, turn))
    } else if (request.body.stream !== true) {
      response.writeHead(200, { 'content-type': 'application/json', ...turn.headers }).end(renderWhole(request.dialect, turn, request.model, serial))
    } else {
      const { begin, end } = renderTurn(request.dialect, turn, request.model, serial)
      response.writeHead(200, { 'content-type': 'text/event-stream', ...turn.headers })
      await new Promise<void>((resolve) => response.write(begin.join(''), () => resolve()))
      if (turn.ending === 'cut') response.destroy()
      else if (turn.ending !== 'stall') response.end(end.join(''))
    }
    answered += 1
    wake()
  }

  const server = createServer((message, response) => {
    answer(message, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  return {
    anthropicUrl: origin,
    openaiUrl: `${origin}/v1`,
    requests,
    reply: (...more) => void turns.push(...more),
    answerBy(own) {
      decide = own
    },
    async request(number) {
      await until(() => answered >= number)
      return requests[number - 1] as ModelRequest
    },
    hungUp: (count = 1) => until(() => hungUp >= count),
    async close() {
      waiters = []
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function readRequest(message: IncomingMessage): Promise<ModelRequest | null> {
  const dialect = PATHS[new URL(message.url ?? '/', 'http://localhost').pathname]
  const chunks: Buffer[] = []
  for await (const chunk of message) chunks.push(chunk as Buffer)
  if (dialect === undefined || message.method !== 'POST') return null
  const text = Buffer.concat(chunks).toString('utf8')
  const body = JSON.parse(text) as Record<string, unknown>
  const tools = ((body.tools ?? []) as { name?: string; function?: { name: string } }[]).map((tool) => tool.function?.name ?? tool.name ?? '')
  return { dialect, model: String(body.model), headers: message.headers, body, text, tools }
}
