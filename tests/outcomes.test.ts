import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EventStream } from './harness/event-stream.ts'
import { type System, startSystem } from './harness/system.ts'
import { isAlive, until } from './harness/until.ts'
import type { MusterEvent, NewSubtask, Subtask } from './harness/wire.ts'

let system: System

beforeAll(async () => {
  system = await startSystem({ env: { SUBTASK_WORKERS: '4', SUBTASK_MAX_CONCURRENT: '4' } })
})
afterAll(() => system.close())

const act = (...acts: Record<string, unknown>[]) => ({ metadata: { acts } })

/** Everything the log says of a subtask that has ended. */
async function eventsOf(id: string): Promise<MusterEvent[]> {
  const stream = await EventStream.open(system.client, `/subtasks/${id}/events`)
  await stream.ended()
  return stream.events
}

async function run(subtask: Partial<NewSubtask>): Promise<{ ended: Subtask; events: MusterEvent[]; last: MusterEvent | undefined }> {
  const { id } = await system.client.spawn({ task: 'Do what the metadata say.', runner: 'act', ...subtask })
  const ended = await system.client.ended(id)
  const events = await eventsOf(id)
  return { ended, events, last: events.at(-1) }
}

describe('a subtask whose program', () => {
  it('delivers a result is completed', async () => {
    const { ended, events } = await run(act({ line: 'Looking.' }, { output: 'files', value: 3 }, { result: 'There are 3 files.', summary: '3 files' }))

    expect(ended).toMatchObject({
      status: 'completed',
      final_outcome: 'completed',
      result: 'There are 3 files.',
      summary: '3 files',
      outputs: { files: 3 },
      attempt: 1,
      failures: 0,
      error: null,
    })
    expect(events.map(({ type }) => type).filter((type) => type !== 'subtask.progress')).toEqual(['subtask.created', 'subtask.started', 'subtask.completed'])
    expect(events.at(-1)?.data).toMatchObject({ subtask_id: ended.id, task: ended.task, result: 'There are 3 files.', final_outcome: 'completed' })
  })

  it('prints plain lines and exits with 0 is completed with those lines', async () => {
    const { ended } = await run(act({ line: 'There are 3 files.' }, { line: 'All are small.' }))

    expect(ended).toMatchObject({ status: 'completed', result: 'There are 3 files.\nAll are small.' })
  })

  it('takes too long ends timed_out, without another attempt', async () => {
    const { ended, last } = await run({ ...act({ line: 'Partly done.' }, { sleep: true }), timeout_seconds: 1, max_attempts: 3 })

    expect(ended).toMatchObject({ status: 'failed', final_outcome: 'timed_out', attempt: 1, result: 'Partly done.' })
    expect(ended.error).toContain('1 s')
    expect(last).toMatchObject({ type: 'subtask.failed', data: { final_outcome: 'timed_out' } })
  })

  it.each([
    ['says nothing', [], 'empty'],
    ['delivers an empty result', [{ result: '  \n ' }], 'empty'],
    ['only announces intentions', [{ result: 'Sure! I will look at the files. Then let me count them.' }], 'announced'],
  ])('%s is told so, tried once more, and ends validation_failed', async (_, acts, reason) => {
    const { ended, events } = await run(act(...(acts as Record<string, unknown>[])))

    expect(ended).toMatchObject({ status: 'failed', final_outcome: 'validation_failed', attempt: 2, failures: 2 })
    expect(ended.error).toContain(reason)
    expect(system.ledger.find(ended.id, 'start', 2)?.feedback).toContain(reason)
    expect(events.map(({ type }) => type).filter((type) => type !== 'subtask.progress')).toEqual([
      'subtask.created',
      'subtask.started',
      'subtask.retrying',
      'subtask.started',
      'subtask.failed',
    ])
  })

  it('announces intentions once and then delivers is completed by its second attempt', async () => {
    const { ended } = await run({ metadata: { attempts: [[{ result: 'I will count.' }], [{ result: 'There are 3.' }]] } })

    expect(ended).toMatchObject({ status: 'completed', result: 'There are 3.', attempt: 2, failures: 1 })
  })

  it('leaves out a required output finds that in its second brief, and ends validation_failed if it does not mend it', async () => {
    const required = { ...act({ output: 'files', value: 3 }, { result: 'There are 3 files.' }), required_outputs: ['files', 'folders'] }
    const { ended } = await run(required)

    expect(ended).toMatchObject({ status: 'failed', final_outcome: 'validation_failed', attempt: 2, outputs: { files: 3 }, result: 'There are 3 files.' })
    const second = system.ledger.find(ended.id, 'start', 2)
    expect(second?.feedback).toContain('folders')
    expect(second?.feedback).not.toContain('files')
    expect(second?.text).toContain(second?.feedback)
  })

  it('adds the missing output in its second attempt is completed', async () => {
    const result = { result: 'Counted.' }
    const attempts = [
      [{ output: 'files', value: null }, result],
      [{ output: 'files', value: 3 }, result],
    ]
    const { ended } = await run({ metadata: { attempts }, required_outputs: ['files'] })

    expect(ended).toMatchObject({ status: 'completed', outputs: { files: 3 }, attempt: 2 })
  })

  it('crashes is tried again and ends errored with what it wrote to standard error', async () => {
    const { ended, last } = await run(act({ line: 'Half of it.' }, { stderr: 'the disk is full\n' }, { exit: 3 }))

    expect(ended).toMatchObject({ status: 'failed', final_outcome: 'errored', attempt: 2, failures: 2, result: 'Half of it.' })
    expect(ended.error).toContain('code 3')
    expect(ended.error).toContain('the disk is full')
    expect(last).toMatchObject({ type: 'subtask.failed', data: { final_outcome: 'errored', error: ended.error } })
  })

  it('dies of a signal is tried again, and its second attempt counts', async () => {
    const { ended } = await run({ metadata: { attempts: [[{ signal: 'SIGSEGV' }, { sleep: true }], [{ result: 'Survived.' }]] } })

    expect(ended).toMatchObject({ status: 'completed', result: 'Survived.', attempt: 2, failures: 1 })
  })

  it('says that another try would not help ends errored at once', async () => {
    const { ended } = await run({ ...act({ error: 'There is no such repository.', retryable: false }), max_attempts: 5 })

    expect(ended).toMatchObject({ status: 'failed', final_outcome: 'errored', error: 'There is no such repository.', attempt: 1 })
  })

  it('is blocked ends incomplete_blocked with its reason, at once', async () => {
    const { ended, last } = await run({ ...act({ line: 'Found the door.' }, { blocked: 'It is locked.' }), max_attempts: 5 })

    expect(ended).toMatchObject({ status: 'failed', final_outcome: 'incomplete_blocked', error: 'It is locked.', result: 'Found the door.', attempt: 1 })
    expect(last).toMatchObject({ type: 'subtask.failed', data: { final_outcome: 'incomplete_blocked' } })
  })

  it('delivers more than 1 MiB is completed with 1 MiB of it, cut between two characters', async () => {
    const { ended } = await run(act({ long: 700_000 }))

    expect(ended).toMatchObject({ status: 'completed', result_truncated: true })
    expect(Buffer.byteLength(ended.result ?? '')).toBe(1_048_576)
    expect(ended.result).toMatch(/^é+$/)
  })

  it('writes invalid UTF-8 and U+0000 is completed with U+FFFD in their place', async () => {
    const bytes = Buffer.from([0x63, 0x61, 0x66, 0xe9, 0x20, 0x00, 0x20, 0xc3, 0x28, 0x0a]).toString('base64')
    const { ended } = await run(act({ bytes }))

    expect(ended).toMatchObject({ status: 'completed', result_truncated: false })
    expect(ended.result).toBe('caf\uFFFD \uFFFD \uFFFD(')
  })
})

describe('a subtask whose program is not there', () => {
  it('is refused when the API knows it', async () => {
    const { status, body } = await system.client.call<{ code: string; detail: string }>('POST', '/subtasks', { body: { task: 'Try.', runner: 'not-there' } })

    expect([status, body.code]).toEqual([422, 'runner_unavailable'])
    expect(body.detail).toContain('not-there')
  })

  it('ends errored, without another try, when only the worker finds that out', async () => {
    const program = join(system.folder, 'short-lived')
    copyFileSync('/bin/true', program)
    const other = await startSystem({ env: { COMMAND_RUNNERS: JSON.stringify({ gone: { argv: [program] } }), DEFAULT_RUNNER: 'gone' }, workers: 0 })
    const { id } = await other.client.spawn({ task: 'Try.', parent_session_id: 'parent' })
    rmSync(program)
    await other.startWorker()
    const ended = await other.client.ended(id)

    expect(ended).toMatchObject({ status: 'failed', final_outcome: 'errored', attempt: 1 })
    expect(ended.error).toContain('does not exist')
    expect(await other.client.inbox('parent')).toMatchObject([{ subtask_id: id, status: 'failed', final_outcome: 'errored' }])
    await other.close()
  })
})

describe('cancelling', () => {
  it('ends a pending subtask at once, and it never starts', async () => {
    const { id } = await system.client.spawn({ task: 'Wait for somebody.', runner: 'external', agent_id: 'nobody' })
    const { status, body } = await system.client.cancel(id)

    expect([status, body.status, body.final_outcome, body.started_at]).toEqual([200, 'cancelled', 'cancelled', null])
    expect(await system.client.claim()).toBeNull()
    expect((await eventsOf(id)).map(({ type }) => type)).toEqual(['subtask.created', 'subtask.cancelled'])
    const again = await system.client.call<{ code: string }>('DELETE', `/subtasks/${id}`)
    expect([again.status, again.body.code]).toEqual([409, 'not_cancellable'])
  })

  it('ends a running program, its children and grandchildren within 2 s, however deaf they are', async () => {
    const { id } = await system.client.spawn({ task: 'Raise a family.', runner: 'family', parent_session_id: 'parent of a family' })
    const { pids } = (await system.ledger.written(id, 'start')) as unknown as { pids: number[] }
    expect(pids).toHaveLength(7)
    expect(pids.filter(isAlive)).toEqual(pids)

    const { status, body } = await system.client.cancel(id)
    expect([status, body.status]).toEqual([202, 'running'])
    expect(body.cancel_requested_at).not.toBeNull()
    await until('the whole family is gone', () => !pids.some(isAlive), 2_000)

    expect(await system.client.ended(id)).toMatchObject({ status: 'cancelled', final_outcome: 'cancelled', attempt: 1, failures: 0 })
    expect((await eventsOf(id)).map(({ type }) => type).filter((type) => type !== 'subtask.progress')).toEqual([
      'subtask.created',
      'subtask.started',
      'subtask.cancel_requested',
      'subtask.cancelled',
    ])
    expect(await system.client.inbox('parent of a family')).toMatchObject([{ subtask_id: id, status: 'cancelled', final_outcome: 'cancelled' }])
  })
})
