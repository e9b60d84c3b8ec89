// Two sub-agents of the Vercel AI SDK that Muster briefs and steers. The SDK has no hooks, so each agent asks for what is undelivered before each request to its model.
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { dynamicTool, jsonSchema, stepCountIs, streamText } from 'ai'

const { MUSTER_URL = 'http://127.0.0.1:7300', MODEL_URL = 'http://127.0.0.1:11434/v1', MODEL = 'qwen3', MODEL_KEY = 'none' } = process.env
const model = createOpenAICompatible({ name: 'model', baseURL: MODEL_URL, apiKey: MODEL_KEY })(MODEL)

/** A client of Muster's tools that speaks for one session. */
async function connect(session) {
  const client = new Client({ name: 'ai-sdk-example', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL(`${MUSTER_URL}/mcp?session=${session}`)))
  return client
}

/** Calls a tool of Muster. Throws with what Muster says if it refuses. */
async function call(client, name, input) {
  const { isError, content, structuredContent } = await client.callTool({ name, arguments: input })
  if (isError) throw new Error(`${name}: ${content[0].text}`)
  return structuredContent
}

/** What the session has not received yet: its brief first, then each change. Empty where there is nothing. */
async function undeliveredOf(session) {
  const response = await fetch(`${MUSTER_URL}/sessions/${session}/injections`, { method: 'POST' })
  if (!response.ok) throw new Error(`injections of ${session}: ${await response.text()}`)
  return (await response.json()).text
}

const FOR_AGENTS = ['get_task', 'check_in', 'confirm_update', 'read_tsg', 'mark_task_complete']

/** One sub-agent: a loop of the SDK over the tools of Muster. */
async function work(session) {
  const client = await connect(session)
  const { tools } = await client.listTools()
  const own = tools.filter(({ name }) => FOR_AGENTS.includes(name))
  const { text } = streamText({
    model,
    instructions: `You are ${session}. Do what your brief says, and hand in as it says.`,
    messages: [{ role: 'user', content: await undeliveredOf(session) }],
    tools: Object.fromEntries(
      own.map(({ name, description, inputSchema }) => [
        name,
        // A refusal goes back to the model, which can correct its call.
        dynamicTool({ description, inputSchema: jsonSchema(inputSchema), execute: (input) => call(client, name, input).catch(({ message }) => message) }),
      ]),
    ),
    async prepareStep({ messages }) {
      const undelivered = await undeliveredOf(session)
      return undelivered === '' ? undefined : { messages: [...messages, { role: 'user', content: undelivered }] }
    },
    stopWhen: stepCountIs(100),
  })
  await text
  await client.close()
}

const controller = await connect('controller')
const tasks = []
for (const session of ['surveyor', 'editor']) {
  const brief = {
    title: `Work of the ${session}`,
    instructions: 'Say what this project is for, in one sentence.',
    acceptance: ['It is one sentence'],
    outputs: ['text'],
  }
  const { task_id } = await call(controller, 'create_task', brief)
  await call(controller, 'assign_task', { task_id, subagent_session_id: session })
  tasks.push({ session, task_id })
}
const working = Promise.all(tasks.map(({ session }) => work(session)))
for (const { task_id } of tasks) await call(controller, 'steer_task', { id: task_id, content: 'Leave the tests out.' })
await working
const { items } = await call(controller, 'wait_for', { ids: tasks.map(({ task_id }) => task_id), seconds: 30 })
for (const { id, status } of items) console.log(status, (await call(controller, 'get_task', { task_id: id })).task.completion_outputs)
await controller.close()
