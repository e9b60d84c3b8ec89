import { type ModelRequest, type ScriptedModels, type ScriptedTurn, startScriptedModels } from '@muster/testing/scripted-models'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type OwnPostgres, startOwnPostgres } from './harness/own-postgres.ts'
import { type System, startSystem, type Worker } from './harness/system.ts'
import { until } from './harness/until.ts'

const KEY = 'sk-ant-key-of-the-operator-2f7e'
const OUTPUT = 'The login works. I have added jose.'
/** Time for another try: the queue waits some seconds before it. */
const AGAIN_WITHIN_MS = 60_000

let models: ScriptedModels
let postgres: OwnPostgres
let system: System
/** What each call is answered; each test sets its own. */
let script: (request: ModelRequest, call: number) => ScriptedTurn | Promise<ScriptedTurn>
let calls = 0

beforeAll(async () => {
  models = await startScriptedModels()
  models.answerBy((request) => {
    calls += 1
    return script(request, calls)
  })
  postgres = await startOwnPostgres()
  system = await startSystem({
    workers: 2,
    database: postgres.database,
    env: {
      ANTHROPIC_API_KEY: KEY,
      ANTHROPIC_BASE_URL: models.anthropicUrl,
      JUDGE_MODEL: 'claude-test',
      MODEL_PRICES: JSON.stringify({ 'claude-test': { input: 3, output: 15 } }),
    },
  })
  system.addSecret(KEY)
})
afterAll(async () => {
  await system.close()
  await models.close()
})
beforeEach(() => {
  calls = 0
  script = () => UNMET
})

/** Adding jose is what the judge holds against it. */
const UNMET: ScriptedTurn = {
  toolCalls: [{ name: 'give_verdicts', input: { verdicts: [{ criterion: 1, verdict: 'unmet', quote: 'I have added jose.' }] } }],
  usage: { input: 1_000, output: 100 },
}

interface Evaluation {
  id: string
  score: number | null
  recommendation: string
  judge: { status: string; model: string | null; evaluation_id: string | null; error: string | null; cost_usd: number } | null
}

async function evaluate(output = OUTPUT): Promise<string> {
  const made = await system.client.ok<Evaluation>('POST', '/evaluations', { body: { output, acceptance_criteria: ['Adds no dependency'], judge: true } })
  return made.id
}

const read = (id: string) => system.client.ok<Evaluation>('GET', `/evaluations/${id}`)

/** Waits until a judgement is over. */
async function over(id: string): Promise<Evaluation> {
  return await until(
    'the judgement is over',
    async () => {
      const evaluation = await read(id)
      return evaluation.judge?.status === 'pending' ? null : evaluation
    },
    AGAIN_WITHIN_MS,
  )
}

/** What has to be true of a judgement that is over, whatever happened on the way. */
async function expectOneJudged(id: string): Promise<void> {
  const { judge } = await over(id)
  expect(judge).toMatchObject({ status: 'done', model: 'anthropic:claude-test', error: null })
  expect((await system.admin`select id from evaluations where judge_of = ${id}`).map((row) => row.id)).toEqual([judge?.evaluation_id])
  expect(await system.admin`select from pgboss.job where name = 'judge' and id = ${id}`).toHaveLength(0)
  const announced = await until('it is announced', async () => {
    const rows = await system.admin`select type from events where type = 'evaluation.created' and subject_id = ${judge?.evaluation_id ?? ''}`
    return rows.length > 0 && rows
  })
  expect(announced).toHaveLength(1)
}

/** Lets nobody end a judgement. Returns the way to let go. */
async function hold(id: string): Promise<() => Promise<void>> {
  const connection = await system.admin.reserve()
  await connection`begin`
  await connection`select from judgements where evaluation_id = ${id} for update`
  return async () => {
    await connection`commit`
    connection.release()
  }
}

/** Lets the queue believe that whoever holds a job has been silent for long, as it finds out by itself after 20 seconds. */
const silence = (id: string) =>
  system.admin`update pgboss.job set heartbeat_on = heartbeat_on - interval '1 minute' where name = 'judge' and id = ${id} and state = 'active'`

describe('a judge, in processes of its own', () => {
  it('judges each output once, whichever worker has it, and says what that took', async () => {
    const ids = await Promise.all(Array.from({ length: 12 }, () => evaluate()))
    for (const id of ids) await expectOneJudged(id)
    expect(calls).toBe(ids.length)
    const judgedId = (await read(ids[0] ?? '')).judge?.evaluation_id ?? ''
    expect(await read(judgedId)).toMatchObject({ score: 0.35, recommendation: 'request_revision', judge: { status: 'done', cost_usd: 0.0045 } })
  })

  it('asks again where a provider limits the calls, and takes malformed answers for none', async () => {
    script = (_, call) => {
      if (call === 1) return { status: 429, headers: { 'retry-after': '0' } }
      if (call === 2) return { text: 'All criteria are met!', usage: { input: 500, output: 10 } }
      return UNMET
    }
    const id = await evaluate()
    await expectOneJudged(id)
    expect(calls).toBe(3)
    expect((await read(id)).judge?.cost_usd).toBe(0.00615)
  })

  it('has failed where the key is refused, and says what to do', async () => {
    script = () => ({ status: 401 })
    expect(await over(await evaluate())).toMatchObject({
      judge: { status: 'failed', evaluation_id: null, error: expect.stringContaining('ANTHROPIC_API_KEY') },
    })
    expect(calls).toBe(1)
  })
})

describe('a worker that has an output judged', () => {
  /** Leaves one worker, which then has to be the one that asks. */
  async function onlyWorker(): Promise<Worker> {
    const [first, ...others] = system.workers.filter(({ child }) => !child.hasExited)
    if (first === undefined) throw new Error('there is no worker')
    for (const other of others) await other.child.end('SIGTERM')
    return first
  }

  it('killed before the model has answered: another one asks again, and one evaluation is made', async () => {
    const worker = await onlyWorker()
    script = (_, call) => (call === 1 ? { ...UNMET, ending: 'stall' } : UNMET)
    const id = await evaluate()
    await until('the model is asked', () => calls === 1)
    await system.startWorker()
    await worker.child.end('SIGKILL')
    await silence(id)
    await expectOneJudged(id)
    expect(calls).toBe(2)
  })

  it('killed between the answer and the commit: another one asks again, and one evaluation is made', async () => {
    const worker = await onlyWorker()
    const asked = Promise.withResolvers<void>()
    const answer = Promise.withResolvers<ScriptedTurn>()
    script = (_, call) => {
      asked.resolve()
      return call === 1 ? answer.promise : UNMET
    }
    const id = await evaluate()
    await asked.promise
    const release = await hold(id)
    answer.resolve(UNMET)
    await until(
      'the commit waits',
      async () => (await system.admin`select from pg_stat_activity where wait_event_type = 'Lock' and query like '%judgements%'`).length > 0,
    )
    await worker.child.end('SIGKILL')
    await release()
    expect((await read(id)).judge?.status).toBe('pending')
    await system.startWorker()
    await silence(id)
    await expectOneJudged(id)
    expect(calls).toBe(2)
  })

  it('told to stop: it breaks the call off and gives the output to others at once', async () => {
    const worker = await onlyWorker()
    script = (_, call) => (call === 1 ? { ...UNMET, ending: 'stall' } : UNMET)
    const id = await evaluate()
    await until('the model is asked', () => calls === 1)
    expect(await worker.child.end('SIGTERM')).toMatchObject({ code: 0 })
    expect(await system.admin`select state, retry_count from pgboss.job where name = 'judge' and id = ${id}`).toEqual([{ state: 'created', retry_count: 0 }])
    await system.startWorker()
    await expectOneJudged(id)
    expect(calls).toBe(2)
  })

  it('keeps the answer over a restart of PostgreSQL, and stores it once', async () => {
    const answer = Promise.withResolvers<ScriptedTurn>()
    script = (_, call) => (call === 1 ? answer.promise : UNMET)
    const id = await evaluate()
    await until('the model is asked', () => calls === 1)
    await postgres.server.stop('immediate')
    answer.resolve(UNMET)
    await postgres.server.restart('immediate')
    await until('the API is back', async () => (await system.client.call('GET', '/readyz')).status === 200)
    await expectOneJudged(id)
    expect(calls).toBe(1)
  })
})
