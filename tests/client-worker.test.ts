import { Muster, type MusterOptions, PermanentError, type Run, RunStopped, type Work } from '@muster/client'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type System, startSystem } from './harness/system.ts'
import { until } from './harness/until.ts'

let system: System
let muster: Muster
let claimKey: string
const stopping: (() => Promise<void>)[] = []

beforeAll(async () => {
  system = await startSystem({ workers: 1, env: { AUTH: 'keys', SUBTASK_MAX_CONCURRENT: '10' } })
  const { key } = await system.mintKey(['subtasks:read', 'subtasks:write', 'events:read', 'sessions:write', 'tasks:read', 'tasks:write'])
  claimKey = (await system.mintKey(['subtasks:claim'])).key
  muster = new Muster({ url: system.api.address, key })
})
afterEach(async () => {
  for (const stop of stopping.splice(0)) await stop()
})
afterAll(() => system.close())

/** A worker with a key that can do nothing else; it is stopped after the test. */
function work(does: Work, options: Parameters<Muster['worker']>[2] = {}, client: MusterOptions = {}) {
  const worker = new Muster({ url: system.api.address, key: claimKey, ...client }).worker('external', does, { leaseSeconds: 3, ...options })
  stopping.push(() => worker.stop({ graceMs: 0 }))
  return worker
}

const spawn = (task: string, more: object = {}) => muster.subtasks.spawn({ task, runner: 'external', agent_id: 'worker', ...more })

/** Resolves from outside. */
function gate<Value = void>() {
  let open: (value: Value) => void = () => undefined
  const opened = new Promise<Value>((resolve) => {
    open = resolve
  })
  return { open, opened }
}

describe('a worker of @muster/client', () => {
  it('works on subtasks: result, outputs, transcript and usage are those of the work', async () => {
    work(async (run) => {
      run.step('message', `I was asked: ${run.subtask.task}`)
      run.use({ input_tokens: 100, output_tokens: 10 })
      await run.checkpoint()
      run.step('message', 'Done.')
      run.use({ output_tokens: 5, tool_calls: 1 })
      return { result: 'There are 3 files.', outputs: { count: 3 } }
    })
    const ended = await spawn('Count.', { required_outputs: ['count'] }).result()
    expect(ended).toMatchObject({ status: 'completed', result: 'There are 3 files.', outputs: { count: 3 } })
    expect(ended.usage).toMatchObject({ input_tokens: 100, output_tokens: 15, tool_calls: 1 })
    const steps = await muster.subtasks.steps(ended.id).all()
    expect(steps.map(({ content }) => content)).toEqual(['I was asked: Count.', 'Done.'])
  })

  it('says why an attempt failed, and whether another may succeed', async () => {
    let attempts = 0
    work(async (run) => {
      attempts += 1
      if (run.subtask.task === 'Never.') throw new PermanentError('It is not allowed.')
      if (attempts === 1) throw new Error('The first attempt fails.')
      return 'The second succeeds.'
    })
    expect(await spawn('Sometimes.').result()).toMatchObject({ status: 'completed', attempt: 2, failures: 1 })
    expect(await spawn('Never.').result()).toMatchObject({ status: 'failed', attempt: 1, error: expect.stringContaining('It is not allowed.') })
  })

  it('hears updates while it works, and acknowledges those that its listener took', async () => {
    const heard = gate<string>()
    work(async (run) => {
      run.onUpdate(({ content }) => heard.open(content))
      return `Heard: ${await heard.opened}`
    })
    const running = await spawn('Listen.')
    await expect.poll(async () => (await running.get()).status).toBe('running')
    await running.steer('Leave out the test files.')
    expect(await running.result()).toMatchObject({ result: 'Heard: Leave out the test files.' })
    expect(await muster.subtasks.updates(running.id).all()).toMatchObject([{ status: 'acknowledged' }])
  })

  it('stops the work of a cancelled subtask by its signal', async () => {
    const reason = gate<unknown>()
    work(async (run) => {
      await new Promise((resolve) => run.signal.addEventListener('abort', resolve))
      reason.open(run.signal.reason)
      throw run.signal.reason
    })
    const running = await spawn('Wait.')
    await expect.poll(async () => (await running.get()).status).toBe('running')
    await running.cancel()
    expect(await reason.opened).toMatchObject(new RunStopped('cancelled'))
    expect(await running.result()).toMatchObject({ status: 'cancelled' })
  })

  it('asks, and waits for the answer with its place or without a process', async () => {
    work(async (run) => {
      if (run.continuation !== undefined) return `${run.continuation} ${run.prompt.includes('Blue') ? 'Blue it is.' : 'No answer.'}`
      const { answer } = await run.ask({ prompt: 'Which port?' })
      return run.suspend({ prompt: 'Which colour?' }, `Port ${answer?.answer}.`)
    })
    const running = await spawn('Paint.', { parent_session_id: 'painter' })
    for (const answer of [5432, 'Blue']) {
      const question = await until('it asks', async () => (await muster.questions.list({ session_id: 'painter', status: 'open' }).all())[0])
      await muster.questions.answer(question.id, { answer })
    }
    expect(await running.result()).toMatchObject({ status: 'completed', result: 'Port 5432. Blue it is.', attempt: 2, failures: 0 })
  })

  it('holds at most as many runs as it may', async () => {
    const go = gate()
    let most = 0
    const held = new Set<Run>()
    work(
      async (run) => {
        held.add(run)
        most = Math.max(most, held.size)
        await go.opened
        held.delete(run)
        return 'Done.'
      },
      { concurrency: 2 },
    )
    const running = await Promise.all(Array.from({ length: 5 }, (_, index) => spawn(`Number ${index}.`)))
    await expect.poll(() => held.size).toBe(2)
    go.open()
    for (const each of running) expect((await each.result()).status).toBe('completed')
    expect(most).toBe(2)
  })

  it('survives a restart of the server: a run keeps its lease, and what it reported is stored once', async () => {
    const started = gate()
    const go = gate()
    work(
      async (run) => {
        run.step('message', 'Before.')
        started.open()
        await go.opened
        run.step('message', 'During.')
        return 'Through.'
      },
      { leaseSeconds: 30 },
    )
    const running = await spawn('Hold on.')
    await started.opened
    const port = new URL(system.api.address).port
    await system.api.child.end('SIGKILL')
    go.open()
    await system.startApi({ PORT: port })
    expect(await running.result()).toMatchObject({ status: 'completed', attempt: 1, result: 'Through.' })
    expect((await muster.subtasks.steps(running.id).all()).map(({ content }) => content)).toEqual(['Before.', 'During.'])
  })

  it('stops gracefully: it ends what it holds, and returns what does not end in time without a failure', async () => {
    const started = gate()
    const first = work(async (run) => {
      started.open()
      await new Promise((_, reject) => run.signal.addEventListener('abort', () => reject(run.signal.reason)))
      return 'Never.'
    })
    const running = await spawn('Take over.')
    await started.opened
    await first.stop({ graceMs: 50 })
    work(async () => 'Another worker did it.')
    expect(await running.result()).toMatchObject({ status: 'completed', result: 'Another worker did it.', attempt: 2, failures: 0 })
  })

  it('says that its key may not claim', async () => {
    const { key } = await system.mintKey(['subtasks:read'])
    await expect(new Muster({ url: system.api.address, key }).worker('external', async () => '').stopped).rejects.toMatchObject({ code: 'forbidden' })
  })
})
