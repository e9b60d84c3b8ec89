#!/usr/bin/env node
/**
 * Runs every command of the root package.json. It needs only Node 20 or newer, installs everything else, and starts the project's own Node 24, which
 * runs TypeScript without a build.
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
  doctor: { file: 'scripts/doctor.ts', does: 'look at what start needs on this machine, as lines of JSON (muster doctor shows them)' },
  build: { file: 'scripts/build.ts', does: 'build the dashboard; start does it when it is needed' },
  test: { file: 'node_modules/vitest/vitest.mjs', before: ['run'], does: 'run the tests' },
  key: { file: 'scripts/key.ts', does: 'create, list and revoke API keys' },
  storage: { file: 'scripts/storage.ts', does: 'drop what is old, export, erase and import data' },
  migrate: { file: 'scripts/migrate.ts', does: 'bring the database to this version' },
  'rotate-secrets': { file: 'scripts/rotate-secrets.ts', does: 'encrypt stored secrets with a new key' },
  restored: { file: 'scripts/restored.ts', does: 'say what a restore to an earlier time would run twice, and hold it' },
  bench: { file: 'bench/main.ts', does: 'measure' },
  clients: {
    file: 'node_modules/vitest/vitest.mjs',
    before: ['run', '--config', 'tests/clients/vitest.config.ts'],
    does: 'generate clients from openapi.yaml in four languages, compile them and use them',
  },
  chaos: { file: 'chaos/src/main.ts', does: 'cause faults under load and check every promise' },
  kernel: { file: 'scripts/kernel.ts', does: 'run a command on a Linux kernel of its own, for what this one does not have' },
  image: { file: 'scripts/image.ts', does: 'say which base images are pinned, write the bill of materials of the image, ask for known vulnerabilities' },
  docker: {
    file: 'node_modules/vitest/vitest.mjs',
    before: ['run', '--config', 'tests/docker/vitest.config.ts'],
    does: 'build the image and test it, on a Docker engine',
  },
  check: { file: 'scripts/check.ts', does: 'format, lint, types, import rules, unused code' },
}

/** Commands that work in the Docker image. */
const IN_IMAGE = ['key', 'migrate', 'rotate-secrets', 'restored', 'storage']

const HELP = `Usage: npm run <command> [-- <options>]

${Object.entries(TARGETS)
  .map(([name, target]) => `  ${name.padEnd(14)} ${target.does}`)
  .join('\n')}

Installs what is missing first. Every command but test, docker and clients explains itself with: npm run <command> -- --help
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

// The Docker image has everything that its processes need, including Node 24, and is read-only.
const isImage = process.env.MUSTER_IMAGE === '1'
if (isImage && !IN_IMAGE.includes(name)) fail(`npm run ${name} is not part of this image, which has: npm run ${IN_IMAGE.join(', npm run ')}.`)
if (!isImage && !isInstalled()) install()
runTarget(isImage ? process.execPath : findNode(), [join(ROOT, target.file), ...(target.before ?? []), ...options])

/** pnpm keeps a copy of the installed lock file, written at the end: if it is equal, the installation is complete. */
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
    // So that pnpm asks no questions, such as whether it may replace a node_modules of another version.
    CI: 'true',
    // This is the pinned version already, and the check would write into the frozen lock file.
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

/** The program itself instead of a script that starts it, so that pid and signals are those of the program. */
function findNode() {
  const candidates = [join(ROOT, 'node_modules', 'node', 'bin', 'node'), join(ROOT, 'node_modules', '.bin', 'node')]
  const found = candidates.find((path) => existsSync(path))
  if (found === undefined) fail('Node 24 is missing from node_modules: delete node_modules and try again, so that everything is installed anew.')
  return realpathSync(found)
}

function runTarget(node, argv) {
  const path = [join(ROOT, 'node_modules', '.bin'), process.env.PATH ?? ''].join(delimiter)
  // A cache of compiled TypeScript: later starts are faster and smaller.
  const NODE_COMPILE_CACHE = process.env.NODE_COMPILE_CACHE ?? join(ROOT, 'node_modules', '.cache', 'node')
  const child = spawn(node, argv, { cwd: ROOT, stdio: 'inherit', env: { ...process.env, NODE_COMPILE_CACHE, PATH: path } })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT']) {
    process.on(signal, () => {
      // Ctrl-C in a terminal has reached the child already; a second signal would end it at once.
      const cameFromTerminal = signal === 'SIGINT' && process.stdin.isTTY === true
      if (!cameFromTerminal) child.kill(signal)
    })
  }
  // npm sends a signal to the shell between it and this process. The shell ends and does not pass it on.
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
