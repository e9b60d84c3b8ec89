// Calls Muster without its credential, in every way that hides where a process comes from, and reports what it was answered.
import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { readBrief, say } from './lib.mjs'

const { MUSTER_URL } = process.env
await readBrief()
const folder = mkdtempSync(join(tmpdir(), 'muster-escape-'))

// Prints the status of each call to a file that appears whole. With "leave" it ends as soon as its first request is on the wire.
const CALLER = `
const { connect } = require('node:net')
const { writeFileSync, renameSync } = require('node:fs')
const [url, file, mode] = process.argv.slice(1)
const body = JSON.stringify({ task: 'Escaped.' })
if (mode === 'leave') {
  const { hostname, port, host } = new URL(url)
  const head = ['POST /subtasks HTTP/1.1', 'host: ' + host, 'content-type: application/json', 'content-length: ' + body.length]
  const socket = connect(Number(port), hostname, () => socket.write(head.join('\\r\\n') + '\\r\\n\\r\\n' + body, () => { writeFileSync(file, '[]'); process.exit(0) }))
} else {
  const post = (path, sent) => fetch(new URL(path, url), { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(sent) })
  const calls = [['/subtasks', { task: 'Escaped.' }], ['/api-keys', { name: 'escaped', scopes: ['subtasks:write'] }]]
  Promise.all(calls.map(async ([path, sent]) => (await post(path, sent)).status)).then((statuses) => {
    writeFileSync(file + '.part', JSON.stringify(statuses))
    renameSync(file + '.part', file)
  })
}
`
const node = process.execPath
const ways = {
  plain: [node, ['-e', CALLER]],
  'without an environment': ['/usr/bin/env', ['-i', node, '-e', CALLER]],
  'in a session of its own': ['setsid', ['env', '-i', node, '-e', CALLER]],
  // The shell in between ends at once, so that the caller has no ancestor left among the programs of the subtask.
  'as a daemon': ['/bin/sh', ['-c', 'setsid env -i "$@" >/dev/null 2>&1 & exit 0', 'daemon', node, '-e', CALLER]],
  'leaving before the answer': [node, ['-e', CALLER]],
}
const answers = {}
for (const [way, [program, args]] of Object.entries(ways)) {
  const file = join(folder, way.replaceAll(' ', '-'))
  spawn(program, [...args, '--', MUSTER_URL, file, ...(way.startsWith('leaving') ? ['leave'] : [])], { stdio: 'ignore' })
  while (!existsSync(file)) await delay(10)
  answers[way] = JSON.parse(readFileSync(file, 'utf8'))
}
say({ type: 'result', result: JSON.stringify(answers) })
process.exit(0)
