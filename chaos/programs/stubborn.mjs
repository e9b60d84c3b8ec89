// Does not listen to SIGTERM, and starts a child that does not either.
import { spawn } from 'node:child_process'
import { mark, readBrief, say, sleep } from './speak.mjs'

process.on('SIGTERM', () => {})
const { metadata } = await readBrief()
const child = spawn('/bin/sh', ['-c', 'trap "" TERM; sleep 60'], { stdio: 'ignore' })
await sleep(metadata.step_ms)
child.kill('SIGKILL')
say({ type: 'result', result: mark() })
process.exit(0)
