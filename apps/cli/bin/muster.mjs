#!/usr/bin/env node
// Plain JavaScript, because `npx` runs it with the Node that a user has. The package has its program compiled; a checkout has the sources, which Node 24 runs.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createRequire, enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// Saves a third of the start. It does not exist in the oldest Node that is supported.
enableCompileCache?.()

const compiled = new URL('../dist/main.js', import.meta.url)
const source = new URL('../src/main.ts', import.meta.url)
if (existsSync(compiled)) await import(compiled)
else if (process.features.typescript) await import(source)
else runWithOwnNode()

/** A checkout has Node 24 among its packages. */
function runWithOwnNode() {
  const node = createRequire(new URL('../../../package.json', import.meta.url)).resolve('node/bin/node')
  const { status, signal } = spawnSync(node, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], { stdio: 'inherit' })
  if (signal !== null) process.kill(process.pid, signal)
  process.exitCode = status ?? 1
}
