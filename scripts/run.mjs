#!/usr/bin/env node
/**
 * The way into every command of the root package.json. It runs on any Node from 20 on with nothing installed, makes sure
 * that everything else is installed, and starts the project's own Node 24, which runs TypeScript as it is.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { constants } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const NODE_MAJOR_MIN = 20

const TARGETS = {
  start: { file: 'scripts/start.ts', does: 'start PostgreSQL, API and worker, and stay up' },
  demo: { file: 'scripts/demo.ts', does: 'start everything, run subtasks and a brief before your eyes, and end' },
  test: { file: 'node_modules/vitest/vitest.mjs', before: ['run'], does: 'run the tests' },
  key: { file: 'scripts/key.ts', does: 'create, list and revoke API keys' },
  migrate: { file: 'scripts/migrate.ts', does: 'bring the database to this version' },
  bench: { file: 'bench/main.ts', does: 'measure' },
  chaos: { file: 'chaos/src/main.ts', does: 'break everything under load and check every promise' },
  check: { file: 'scripts/check.ts', does: 'format, lint, types, import rules, unused code' },
}

/** Commands that work in the Docker image. */
const IN_IMAGE = ['key', 'migrate']

const HELP = `Usage: npm run <command> [-- <options>]

${Object.entries(TARGETS)
  .map(([name, target]) => `  ${name.padEnd(8)} ${target.does}`)
  .join('\n')}

Installs what is missing first. Every command but test explains itself with: npm run <command> -- --help
`

const [name, ...options] = process.argv.slice(2)
const target = Object.hasOwn(TARGETS, name ?? '') ? TARGETS[name] : undefined
if (target === undefined) {
  const asked = name === undefined || name === '--help' || name === '-h'
  if (!asked) console.error(`There is no command ${name}.\n`)
  console.log(HELP)
  process.exit(asked ? 0 : 2)
}

const major = Number(process.versions.node.split('.')[0])
if (major < NODE_MAJOR_MIN)
  fail(`Muster needs Node ${NODE_MAJOR_MIN} or newer to start, and this is Node ${process.versions.node}: install a newer one from https://nodejs.org.`)
if (process.platform === 'win32') fail('Muster runs on Linux and macOS: on Windows, use it inside WSL.')

// The Docker image has what its processes need, on a Node of its own, and nothing of it may be written to.
const isImage = process.env.MUSTER_IMAGE === '1'
if (isImage && !IN_IMAGE.includes(name)) fail(`npm run ${name} is not part of this image, which has: npm run ${IN_IMAGE.join(', npm run ')}.`)
if (!isImage && !isInstalled()) install()
runTarget(isImage ? process.execPath : findNode(), [join(ROOT, target.file), ...(target.before ?? []), ...options])

/** pnpm keeps a copy of the lock file it installed from, written when it is done: equal means installed, and whole. */
function isInstalled() {
  const installed = readText(join(ROOT, 'node_modules', '.pnpm', 'lock.yaml'))
  return installed !== undefined && installed === readText(join(ROOT, 'pnpm-lock.yaml')) && existsSync(join(ROOT, 'node_modules', '.modules.yaml'))
}

function install() {
  const { packageManager } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const command = ['--yes', packageManager.split('+')[0], 'install', '--frozen-lockfile']
  console.error(`Installing (npx ${command.join(' ')}); the first time takes a minute …`)
  const startedAt = Date.now()
  const env = {
    ...process.env,
    // pnpm asks no questions then, not even whether it may replace a node_modules of another version.
    CI: 'true',
    // The version is the pinned one already; checking that would want to write into the lock file, which is frozen.
    pnpm_config_pm_on_fail: 'ignore',
  }
  const done = spawnSync('npx', command, { cwd: ROOT, env, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 })
  if (done.status === 0) {
    console.error(`Installed in ${Math.round((Date.now() - startedAt) / 1000)} s.`)
    return
  }
  const output = `${done.stdout ?? ''}${done.stderr ?? ''}`.trimEnd().split('\n').slice(-20).join('\n')
  fail(
    `${output}\n\nThe installation failed${done.error === undefined ? '' : ` (${done.error.message})`}. Check that the npm registry can be reached and that this folder can be written to ` +
      `and has 2 GB of room, then try again; to see all of it, run: npx ${command.join(' ')}`,
  )
}

/** The program itself, not a script that starts it: signals and the pid are then those of what runs. */
function findNode() {
  const candidates = [join(ROOT, 'node_modules', 'node', 'bin', 'node'), join(ROOT, 'node_modules', '.bin', 'node')]
  const found = candidates.find((path) => existsSync(path))
  if (found === undefined) fail('Node 24 is missing from node_modules: delete node_modules and try again, so that everything is installed anew.')
  return realpathSync(found)
}

function runTarget(node, argv) {
  const path = [join(ROOT, 'node_modules', '.bin'), process.env.PATH ?? ''].join(delimiter)
  // TypeScript with its types already taken out: the second start of everything is quicker, and smaller.
  const NODE_COMPILE_CACHE = process.env.NODE_COMPILE_CACHE ?? join(ROOT, 'node_modules', '.cache', 'node')
  const child = spawn(node, argv, { cwd: ROOT, stdio: 'inherit', env: { ...process.env, NODE_COMPILE_CACHE, PATH: path } })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']) {
    process.on(signal, () => {
      // Ctrl-C in a terminal has reached the child already; a second one would mean "at once" to it.
      const cameFromTerminal = signal === 'SIGINT' && process.stdin.isTTY === true
      if (!cameFromTerminal) child.kill(signal)
    })
  }
  // npm passes a signal on to the shell between it and this process, and that shell dies of it without telling anybody.
  if (process.env.npm_lifecycle_event !== undefined) {
    const shell = process.ppid
    const watch = setInterval(() => {
      if (process.ppid === shell) return
      clearInterval(watch)
      child.kill('SIGTERM')
    }, 250)
  }
  child.on('error', (error) =>
    fail(`Node 24 in node_modules does not run (${error.message}): delete node_modules and try again, so that everything is installed anew.`),
  )
  child.on('exit', (code, signal) => process.exit(signal === null ? code : 128 + constants.signals[signal]))
}

function readText(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function fail(message) {
  console.error(message)
  process.exit(1)
}
