import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'

/** A mail as the server has taken it. */
export interface SentMail {
  messageId: string
  text: string
}

export interface MailServer {
  /** For SMTP_URL. */
  url: string
  sent: SentMail[]
  /** Leaves the next mail without an answer, before it is taken or after. Kept when that mail has come. */
  hangNext(when: 'before' | 'after'): Promise<void>
  close(): Promise<void>
}

/** An SMTP server (RFC 5321) that takes every mail. */
export async function startMailServer(): Promise<MailServer> {
  const sent: SentMail[] = []
  const sockets = new Set<Socket>()
  let hang: { when: 'before' | 'after'; reached: () => void } | null = null

  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).once('close', () => sockets.delete(socket))
    const say = (line: string) => void socket.write(`${line}\r\n`)
    let mail: string[] | null = null
    const take = (lines: string[]) => {
      const held = hang
      hang = null
      if (held?.when === 'before') return held.reached()
      const text = lines.join('\n')
      sent.push({ messageId: /^Message-ID: (.*)$/im.exec(text)?.[1] ?? '', text })
      if (held !== null) return held.reached()
      say('250 OK')
    }
    createInterface({ input: socket, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (line) => {
      if (mail === null) {
        const command = line.slice(0, 4).toUpperCase()
        if (command === 'DATA') mail = []
        say(command === 'DATA' ? '354 Go on' : command === 'QUIT' ? '221 Bye' : '250 OK')
        if (command === 'QUIT') socket.end()
      } else if (line === '.') {
        take(mail)
        mail = null
      } else mail.push(line.startsWith('..') ? line.slice(1) : line)
    })
    say('220 mail.test ESMTP')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent,
    hangNext: (when) =>
      new Promise((reached) => {
        hang = { when, reached }
      }),
    close() {
      for (const socket of sockets) socket.destroy()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
