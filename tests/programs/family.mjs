// A program with a child and grandchildren, one of them in a session of its own, all of them deaf to SIGTERM.
import { spawn } from 'node:child_process'
import { note, readBrief, say } from './lib.mjs'

process.on('SIGTERM', () => note('deaf'))
await readBrief()
const script = 'trap "" TERM; sleep 600 & echo $!; sleep 600 & echo $!; wait'
const pids = []
for (const detached of [false, true]) {
  const child = spawn('/bin/sh', ['-c', script], { detached, stdio: ['ignore', 'pipe', 'ignore'] })
  pids.push(child.pid)
  let text = ''
  for await (const chunk of child.stdout) {
    text += chunk
    if (text.trim().split('\n').length === 2) break
  }
  pids.push(...text.trim().split('\n').map(Number))
}
say({ type: 'step', content: 'The family is complete.' })
note('start', { pids: [process.pid, ...pids] })
setInterval(() => {}, 1_000)
