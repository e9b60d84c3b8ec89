import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'

/** What a scripted server says: its version in every row, or an error to every query. */
export interface Script {
  /** As `server_version_num`, such as 150004. */
  version: number
  error?: { code: string; message: string }
  /** It says that it takes no writes. */
  isStandby?: boolean
}

const INT4 = 23

/**
 * A server that speaks as much of PostgreSQL's protocol as the first query of a connection takes: for servers that a test cannot start, such as
 * one that is too old or has a full disk. It lets every login in and answers every query alike.
 */
export async function startScriptedPostgres(script: Script): Promise<{ url: string; close(): Promise<void> }> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
    converse(socket, script)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  return {
    url: `postgres://muster:secret@127.0.0.1:${port}/muster`,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

function converse(socket: Socket, { version, error, isStandby = false }: Script): void {
  let waiting: Buffer = Buffer.alloc(0)
  let isStarted = false
  const role = isStandby ? [message('S', text('in_hot_standby'), text('on')), message('S', text('default_transaction_read_only'), text('off'))] : []
  const answer = (type: string): Buffer[] => {
    switch (type) {
      case 'P':
        return [message('1')]
      case 'B':
        return [message('2')]
      case 'D':
        return [message('t', int16(0)), message('T', int16(1), text('version'), int32(0), int16(0), int32(INT4), int16(4), int32(-1), int16(0))]
      case 'E': {
        if (error !== undefined)
          return [message('E', Buffer.from('S'), text('ERROR'), Buffer.from('C'), text(error.code), Buffer.from('M'), text(error.message), Buffer.of(0))]
        const value = Buffer.from(String(version))
        return [message('D', int16(1), int32(value.length), value), message('C', text('SELECT 1'))]
      }
      case 'S':
        return [message('Z', Buffer.from('I'))]
      default:
        return []
    }
  }
  socket.on('data', (bytes: Buffer) => {
    waiting = Buffer.concat([waiting, bytes])
    for (;;) {
      // The first message has no type.
      const head = isStarted ? 1 : 0
      if (waiting.length < head + 4) return
      const length = head + waiting.readInt32BE(head)
      if (waiting.length < length) return
      const type = isStarted ? String.fromCharCode(waiting[0] ?? 0) : 'start'
      waiting = waiting.subarray(length)
      if (!isStarted) {
        isStarted = true
        socket.write(
          Buffer.concat([
            message('R', int32(0)),
            message('S', text('server_version'), text(String(version / 10_000))),
            ...role,
            message('Z', Buffer.from('I')),
          ]),
        )
      } else socket.write(Buffer.concat(answer(type)))
    }
  })
}

function message(type: string, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body])
}

function text(value: string): Buffer {
  return Buffer.from(`${value}\0`)
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeInt16BE(value)
  return bytes
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
