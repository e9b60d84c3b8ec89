import postgres from 'postgres'
import { describe, expect, it } from 'vitest'
import { CommitUnknownError, describeOutage, isDatabaseUnavailable, unavailable } from './client.ts'

const TEXT = 'could not extend file "base/16384/24601": No space left on device'

function failure(code: string): Error {
  return Object.assign(new postgres.PostgresError(TEXT as never), { message: TEXT, code, severity: 'ERROR' })
}

describe('an outage', () => {
  it.each([
    ['53000', 'resources'],
    ['53100', 'disk is full'],
    ['53200', 'memory'],
    ['53300', 'connections'],
    ['53400', 'limits'],
    ['58000', 'system'],
    ['58030', 'I/O'],
    ['58P01', 'a file'],
    ['58P02', 'a file'],
    ['25006', 'read-only'],
    ['57P01', 'shutting down'],
    ['57P05', 'idle'],
    ['08006', 'connection'],
  ])('is %s (%s), and its own text reaches no caller', (code) => {
    const error = failure(code)
    expect(isDatabaseUnavailable(error)).toBe(true)
    expect(isDatabaseUnavailable(new Error('wrapped', { cause: error }))).toBe(true)
    for (const text of [describeOutage(error), unavailable(error).message]) expect(text).not.toContain('base/16384')
    expect(unavailable(error)).toMatchObject({ code: 'unavailable', details: { retryAfterSeconds: 1 } })
  })

  it.each(['22021', '22P05', '23505', '42501', '54000', 'XX000', 'ERR_INVALID_ARG_TYPE', '53_ERR', 'ENOSPC'])('is not %s', (code) => {
    expect(isDatabaseUnavailable(failure(code))).toBe(false)
  })

  it.each(['ENOENT', 'EAGAIN'])('is a Unix socket that is not there, or whose queue is full (%s), and not another call that fails so', (code) => {
    const error = Object.assign(new Error(`connect ${code} /run/.s.PGSQL.5432`), { code, syscall: 'connect' })
    expect(isDatabaseUnavailable(error)).toBe(true)
    expect(describeOutage(error)).toContain('not reachable')
    expect(isDatabaseUnavailable(Object.assign(error, { syscall: 'open' }))).toBe(false)
  })

  it('is a COMMIT without an answer, whatever ended the connection', () => {
    const error = new CommitUnknownError(Object.assign(failure('XX000'), { severity: 'FATAL' }))
    expect(isDatabaseUnavailable(error)).toBe(true)
    expect(unavailable(error).message).toContain('may or may not have taken effect')
  })

  it('is named by what is wrong', () => {
    expect(describeOutage(failure('53100'))).toContain('disk is full')
    expect(describeOutage(failure('25006'))).toContain('read-only')
    expect(describeOutage(failure('08006'))).toContain('not reachable')
    // The server answered, so the network is not the cause.
    for (const code of ['57014', '40P01', '55P03']) expect(describeOutage(failure(code))).toContain('too busy')
    for (const code of ['53400', '58000', '58P01']) expect(describeOutage(failure(code))).toContain('its own log has the cause')
  })
})
