import { Muster, type Run } from '@muster/client'
import { startReceiver } from './receiver.ts'
import type { System } from './system.ts'
import { until } from './until.ts'
import type { Task } from './wire.ts'

/** Work as a team of agents does it, on which every screen of the dashboard has something to show. */
export interface Showcase {
  /** Has a transcript, an output and an evaluation. */
  endedId: string
  /** Runs as long as the showcase lasts. */
  runningId: string
  taskId: string
  /** One that was refused. */
  deliveryId: string
  close(): Promise<void>
}

const REPORT = `## What I found

Three places validate a token by themselves. **All of them** now call \`verifyToken\`, which checks the signature, the audience and the clock with a leeway of 30 s.

| place | before | now |
|---|---|---|
| \`api/login.ts\` | own parser | \`verifyToken\` |
| \`api/refresh.ts\` | no audience check | \`verifyToken\` |
| \`ws/connect.ts\` | own parser | \`verifyToken\` |

1. 14 tests were added, one for each way in which a token can be wrong.
2. The old parser is gone.

<npl-block type="check-in">
acceptance_criteria:
  - ✅ Every entry point checks the signature and the audience
  - ✅ Expired tokens are refused with 401
  - 🐛 The refresh endpoint is limited to ten calls a minute
status: in_progress
next_steps:
  - Fix the limit of the refresh endpoint
</npl-block>

<npl-block type="reflection">
✅ The three parsers are one function now
🐛 The limit of the refresh endpoint counts per process
📝 ws/connect.ts has no test of a slow clock
</npl-block>`

const CRITERIA = [
  'Every entry point checks the signature and the audience',
  'Expired tokens are refused with 401',
  'The refresh endpoint is limited to ten calls a minute',
]

const WORK = [
  ['reviewer', 'Review the pull request that moves sessions to Redis'],
  ['researcher', 'Compare three vector stores for 50 million rows, with their costs'],
  ['release', 'Write the release notes of 2.4 from the merged pull requests'],
  ['tester', 'Find out why the checkout test fails one time in twenty'],
  ['researcher', 'List every caller of the deprecated billing endpoint'],
  ['writer', 'Describe the retry rules for people who integrate webhooks'],
  ['tester', 'Load-test the search endpoint at 200 requests a second'],
] as const

/** Fills a system. Its settings need SUBTASK_MAX_CONCURRENT and SUBTASK_MAX_PENDING of ten or more, and OUTBOUND_ALLOW=127.0.0.1. */
export async function fillShowcase(system: System): Promise<Showcase> {
  const { client } = system
  const muster = new Muster({ url: system.api.address })
  const worker = muster.worker('external', (run) => work(run), { concurrency: 8, leaseSeconds: 30 })

  const tsg = await client.ok<{ id: string }>('POST', '/tsgs', {
    body: {
      id: 'port-already-in-use',
      title: 'The port is already in use',
      content: '## What to do\n\nFind out who listens there: `ss -ltnp`. If it is a server that you left running, stop it.',
      patterns: ['EADDRINUSE', 'address already in use'],
      severity: 'medium',
    },
  })
  await client.ok('POST', `/tsgs/${tsg.id}/feedback`, { body: { resolved: true } })
  await client.ok('POST', '/memory/facts', { body: { content: 'The staging database listens on port 6543.', tags: ['staging'] } })
  await client.ok('POST', '/memory/facts', {
    body: { content: 'Releases are cut on Tuesdays, by the release agent, from the branch main.', tags: ['release'] },
  })
  const receiver = await startReceiver(client, { status: 204, body: '' })
  const refusing = await startReceiver(client, { status: 503, body: 'The upstream is being deployed. Try again in a minute.' })
  await client.ok('POST', '/webhooks', { body: { url: receiver.url, events: ['subtask.*'], description: 'The chat of the team' } })
  const alarms = await client.ok<{ id: string }>('POST', '/webhooks', { body: { url: refusing.url, events: ['subtask.failed'], description: 'Alarms' } })
  await client.ok('POST', '/webhooks', {
    body: { url: 'https://ci.example.com/muster', events: ['subtask.completed', 'subtask.failed'], description: 'The build server' },
  })
  for (const schedule of [
    { task: 'Summarise the errors of the last day for the team.', every: 'weekdays at 9:00', timezone: 'Europe/Berlin' },
    { task: 'Look for dependencies with known holes.', every: 'every monday at 6:30' },
    { task: 'Ask each service for its health, and report the slow ones.', every: 'every 2 hours' },
  ]) {
    await client.ok('POST', '/schedules', { body: { ...schedule, runner: 'external', agent_id: 'watch', parent_session_id: 'team' } })
  }
  const task = await client.ok<Task>('POST', '/tasks', {
    body: {
      title: 'Validate tokens in one place',
      instructions: 'Replace the three token parsers by one function, and test each way in which a token can be wrong.',
      acceptance_criteria: CRITERIA,
      required_outputs: ['report'],
      priority: 'high',
    },
  })
  await client.ok('POST', '/tasks', {
    body: {
      title: 'Move the mobile apps to the new tokens',
      instructions: 'Use verifyToken in both apps, and release them together.',
      acceptance_criteria: ['Both apps refuse a token without an audience'],
      depends_on: [task.id],
    },
  })
  await client.ok('POST', `/tasks/${task.id}/assign`, { body: { subagent_session_id: 'coder-1' } })
  await client.ok('POST', '/sessions/coder-1/injections', { body: {} })
  await client.ok('PATCH', `/tasks/${task.id}`, {
    headers: { 'if-match': '"1"' },
    body: { instructions: 'Replace the three token parsers by one function, and test each way in which a token can be wrong. Leave the public API as it is.' },
  })
  await client.ok('POST', `/tasks/${task.id}/updates`, { body: { content: 'The tests in tests/legacy are known to fail; leave them out.' } })
  await client.ok('POST', '/sessions/coder-1/injections', { body: {} })
  await client.ok('POST', `/tasks/${task.id}/check-ins`, { body: { content: REPORT, session_id: 'coder-1' } })

  const spawn = (agent_id: string, text: string, more: object = {}) =>
    muster.subtasks.spawn({ task: text, agent_id, runner: 'external', parent_session_id: 'team', timeout_seconds: 600, ...more })
  const ended = await spawn('coder', 'Validate tokens in one place: replace the three parsers, and test each way in which a token can be wrong.', {
    metadata: { story: 'report' },
    task_id: task.id,
    required_outputs: ['report'],
  }).result()
  await Promise.all(WORK.map(([agent, text], place) => spawn(agent, text, { metadata: { story: place === 3 ? 'fail' : 'report' }, max_attempts: 1 }).result()))
  const held = await Promise.all(
    [
      ['researcher', 'Read the post-mortems of the last year, and group them by cause'],
      ['release', 'Publish the packages of 2.4, after an approval'],
      ['reviewer', 'Review the migration of the orders table'],
    ].map(([agent = '', text = '']) => spawn(agent, text, { metadata: { story: 'hold' } })),
  )
  const ids = await Promise.all(
    held.map(async (run) => {
      await until('it runs', async () => (await run.get()).status === 'running')
      return run.id
    }),
  )
  const [runningId = '', publishing = '', reviewing = ''] = ids
  await client.ok('POST', `/subtasks/${publishing}/questions`, {
    body: { kind: 'approval', prompt: 'May I publish six packages to the public registry?', arguments: { command: 'npm publish --workspaces', tag: 'latest' } },
  })
  await client.ok('POST', `/subtasks/${reviewing}/questions`, {
    body: {
      prompt: 'The migration locks the table for some seconds. When may it run?',
      options: [
        { id: 'night', label: 'At night', description: 'Between 2 and 4, without a person watching' },
        { id: 'now', label: 'Now' },
      ],
    },
  })
  await client.ok('POST', `/subtasks/${runningId}/questions`, {
    body: {
      prompt: 'Which post-mortems count?',
      schema: {
        type: 'object',
        properties: { since: { type: 'string', format: 'date' }, services: { type: 'integer', minimum: 1 }, drafts: { type: 'boolean' } },
        required: ['since'],
      },
    },
  })
  await client.ok('POST', `/subtasks/${runningId}/updates`, { body: { content: 'Start with those of the payment service.' } })
  const refused = await until('a delivery is refused', async () => {
    const [delivery] = await muster.deliveries.list({ receiver_id: alarms.id }).all(1)
    return delivery?.attempts.length ? delivery : null
  })
  const close = async () => {
    await worker.stop({ graceMs: 0 })
    await Promise.all([receiver.close(), refusing.close()])
  }
  return { endedId: ended.id, runningId, taskId: task.id, deliveryId: refused.id, close }
}

/** What an agent of the showcase does, by the `story` of its subtask. */
async function work(run: Run) {
  const { story } = run.subtask.metadata as { story?: string }
  const call = (id: string, name: string, input: object, output: string) => {
    run.step('tool_call', { id, name, input })
    run.step('tool_result', { id, output })
    run.use({ tool_calls: 1 })
  }
  run.step('message', 'I look for every place that reads a token before I change one.')
  await run.checkpoint()
  call('c1', 'search', { pattern: 'jwt.decode' }, 'api/login.ts:41\napi/refresh.ts:17\nws/connect.ts:88')
  call(
    'c2',
    'read_file',
    { path: 'api/refresh.ts' },
    'export async function refresh(token: string) {\n  const claims = jwt.decode(token)\n  return await issue(claims.sub)\n}',
  )
  run.step('message', 'The refresh endpoint decodes without a check of the signature. That is the first to change.')
  run.use({ input_tokens: 18_400, output_tokens: 2_150, cost_usd: 0.087 })
  await run.checkpoint()
  if (story === 'hold') await new Promise((_, reject) => run.signal.addEventListener('abort', () => reject(run.signal.reason)))
  if (story === 'fail') throw new Error('The test passed 200 times in a row: the failure could not be repeated on this machine.')
  call('c3', 'run_tests', { filter: 'token' }, '14 passed, 0 failed')
  return { result: REPORT, outputs: { report: 'One function validates every token; 14 tests say how.' } }
}
