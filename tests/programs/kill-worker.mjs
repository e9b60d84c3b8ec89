// Kills the worker that runs it.
import { note, readBrief } from './lib.mjs'

await readBrief()
note('start', { worker_pid: process.ppid })
process.kill(process.ppid, 'SIGKILL')
setInterval(() => {}, 1_000)
