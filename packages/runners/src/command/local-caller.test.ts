import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestRun, SILENT_LOG, script, testRunner } from '../testing/command.ts'
import { startGuard } from './guard.ts'
import { findLocalCaller } from './local-caller.ts'

let server: Server
const accepted: Socket[] = []
beforeAll(async () => {
  server = createServer((socket) => void accepted.push(socket)).listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterAll(() => {
  for (const socket of accepted) socket.destroy()
  server.close()
})

const port = () => (server.address() as { port: number }).port
const nextConnection = async () => (await once(server, 'connection'))[0] as Socket
const connecting = (connection: string) => `require('net').connect(${port()}, '127.0.0.1', ${connection})`

describe('the process at the other end of a loopback connection', () => {
  it('is another one for every client of this machine, however many connect at once', async () => {
    const before = accepted.length
    const clients = Array.from({ length: 50 }, () => connect(port(), '127.0.0.1'))
    while (accepted.length < before + clients.length) await once(server, 'connection')
    expect(new Set(await Promise.all(accepted.slice(before).map(findLocalCaller)))).toEqual(new Set(['other']))
    for (const client of clients) client.destroy()
    const connected = nextConnection()
    const child = spawn(process.execPath, ['-e', connecting('() => {}')], { stdio: 'ignore' })
    expect(await findLocalCaller(await connected)).toBe('other')
    child.kill()
  })

  it('is unknown when it has hung up', async () => {
    const connected = nextConnection()
    const child = spawn(process.execPath, ['-e', connecting('() => process.exit()')], { stdio: 'ignore' })
    const socket = await connected
    await once(child, 'exit')
    expect(await findLocalCaller(socket)).toBe('unknown')
  })

  it('is a subtask’s for a program of a runner', async () => {
    const guard = startGuard({ log: SILENT_LOG })
    using test = createTestRun()
    const connected = nextConnection()
    const running = testRunner(guard, script(connecting('() => {}'))).run(test.run)
    expect(await findLocalCaller(await connected)).toBe('subtask')
    test.stop()
    expect(await running).toMatchObject({ kind: 'stopped' })
    await guard.close()
  })
})
