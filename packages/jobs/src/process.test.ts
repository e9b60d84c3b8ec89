import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'

const DATABASE_URL = 'postgres://muster@127.0.0.1:1/muster'

/** Runs a process whose start is this code, and with `stops` sends it SIGTERM when it is ready. */
async function run(
  start: string,
  { env = { DATABASE_URL }, stops = false, isRead = true }: { env?: Record<string, string>; stops?: boolean; isRead?: boolean } = {},
) {
  const code = `
    import { runProcess } from ${JSON.stringify(new URL('./process.ts', import.meta.url).href)}
    // As a server or a pool does.
    setInterval(() => {}, 1_000)
    await runProcess('worker', process.env, async ({ started, stopping, log }) => { ${start} })`
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    env: { ...env, SHUTDOWN_GRACE_SECONDS: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    if (stops && !output.includes('"ready"') && (output + chunk).includes('"ready"')) {
      if (!isRead) child.stdout.destroy()
      child.kill('SIGTERM')
    }
    output += chunk
  })
  const [stderr, [exitCode]] = await Promise.all([text(child.stderr), once(child, 'close')])
  const lines = output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { msg: string; level?: number })
  return { exitCode, stderr, lines, messages: lines.map(({ msg }) => msg) }
}

describe('a process', () => {
  it('says that it is ready, closes the last first on SIGTERM, and exits with 0', async () => {
    const { exitCode, lines, messages } = await run(
      `started.defer(() => log.info('first')); started.defer(() => log.info('second')); stopping.onabort = () => log.info('aborted'); return { worker_id: 'w' }`,
      { stops: true },
    )
    expect(messages).toEqual(['ready', 'stopping', 'aborted', 'second', 'first', 'stopped'])
    expect(lines[0]).toMatchObject({ level: 30, process: 'worker', worker_id: 'w' })
    expect(lines[1]).toMatchObject({ signal: 'SIGTERM' })
    expect(exitCode).toBe(0)
  })

  it('changes the level of its log on SIGUSR2: from info to warn, debug, and info again', async () => {
    const start = `
      for (const _ of [1, 2, 3]) {
        const taken = new Promise((resolve) => process.once('SIGUSR2', resolve))
        process.kill(process.pid, 'SIGUSR2')
        await taken
        log.debug('hidden by ' + log.level)
      }
      return {}`
    const { lines, exitCode } = await run(start, { stops: true })
    const changed = lines.filter(({ msg }) => msg === 'changed the level of the log')
    expect(changed).toMatchObject([{ log_level: 'warn', configured: 'info' }, { log_level: 'debug' }, { log_level: 'info' }])
    expect(lines.map(({ msg }) => msg).filter((msg) => msg.startsWith('hidden'))).toEqual(['hidden by debug'])
    expect(exitCode).toBe(0)
  })

  it('is not ready when it is stopped during its start', async () => {
    const { exitCode, messages } = await run(`process.kill(process.pid, 'SIGTERM'); await new Promise((resolve) => (stopping.onabort = resolve)); return {}`)
    expect(messages).toEqual(['stopping', 'stopped'])
    expect(exitCode).toBe(0)
  })

  it('exits with 0 although its log has no reader any more', async () => {
    const { exitCode } = await run(`started.defer(() => log.info('closing')); return {}`, { stops: true, isRead: false })
    expect(exitCode).toBe(0)
  })

  it('closes everything else when something cannot be closed, and exits with 1', async () => {
    const { exitCode, messages } = await run(`started.defer(() => log.info('first')); started.defer(() => { throw new Error('stuck') }); return {}`, {
      stops: true,
    })
    expect(messages).toEqual(['ready', 'stopping', 'first', 'could not close everything'])
    expect(exitCode).toBe(1)
  })

  it('exits with 1 when the grace is over, however often it gets a signal', async () => {
    const { exitCode, messages } = await run(`started.defer(() => { process.kill(process.pid, 'SIGTERM'); return new Promise(() => {}) }); return {}`, {
      stops: true,
    })
    expect(messages).toEqual(['ready', 'stopping', 'did not stop in time'])
    expect(exitCode).toBe(1)
  })

  it('closes in order after an error that is handled nowhere, and exits with 1', async () => {
    const { exitCode, lines, messages } = await run(`started.defer(() => log.info('closed')); setTimeout(() => { throw new Error('lost') }, 50); return {}`)
    expect(messages).toEqual(['ready', 'stopping after an error that was handled nowhere', 'closed'])
    expect(lines[1]).toMatchObject({ level: 50, err: { message: 'lost' } })
    expect(exitCode).toBe(1)
  })

  it('that cannot start closes what it has started, and says why', async () => {
    const { exitCode, lines, messages } = await run(`started.defer(() => log.info('closed')); throw new Error('The port is taken.')`)
    expect(messages).toEqual(['The port is taken.', 'closed'])
    expect(lines[0]).toMatchObject({ level: 60 })
    expect(exitCode).toBe(1)
  })

  it('without valid settings lists what is wrong with them', async () => {
    const { exitCode, stderr, lines } = await run('', { env: { PORT: 'none' } })
    expect(stderr).toMatch(/^The configuration has .*\n {2}- PORT: /)
    expect(lines).toEqual([])
    expect(exitCode).toBe(1)
  })

  it('needs the address of a database', async () => {
    expect((await run('', { env: {} })).stderr).toContain('DATABASE_URL: this process needs it')
  })
})
