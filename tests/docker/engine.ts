import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { until } from '../harness/until.ts'
import { run } from './command.ts'

/** A Docker engine, and what a client needs to speak to it: with Compose, and with the base images of Muster's Dockerfile and docker-compose.yml. */
export interface Engine {
  env: NodeJS.ProcessEnv
  stop(): Promise<void>
}

const HERE = fileURLToPath(new URL('.', import.meta.url))
/** Kept between runs, so that the second one is quick: downloads, base images, layers, the plugin of Compose. */
const CACHE = process.env.MUSTER_DOCKER_CACHE ?? join(homedir(), '.cache', 'muster-docker')
const BASE_IMAGES = ['node:24-slim', 'postgres:18']
const NO_ENGINE =
  'The tests of the image need a Docker engine: start one, or, on Debian, install docker.io and debootstrap and run them as root, so that they start one of their own.'

const succeeds = (argv: string[], env: NodeJS.ProcessEnv): Promise<boolean> =>
  run(argv, env).then(
    () => true,
    () => false,
  )

/**
 * The engine that answers already, or one that the tests start and end themselves. Only the latter gets stand-ins for images that
 * cannot be pulled: an engine in use must not be told that they are `postgres`.
 *
 * @throws Error in one line when there is none
 */
export async function findEngine(): Promise<Engine> {
  if (await succeeds(['docker', 'version'], process.env)) {
    const env = await withCompose(process.env)
    for (const image of BASE_IMAGES) if (!(await succeeds(['docker', 'image', 'inspect', image], env))) await run(['docker', 'pull', '--quiet', image], env)
    return { env, stop: async () => {} }
  }
  const dockerd = ['/usr/bin/dockerd', '/usr/sbin/dockerd'].find(existsSync)
  if (dockerd === undefined || process.getuid?.() !== 0) throw new Error(NO_ENGINE)
  return await startEngine(dockerd)
}

async function startEngine(dockerd: string): Promise<Engine> {
  await mkdir(CACHE, { recursive: true })
  const pidFile = join(CACHE, 'dockerd.pid')
  await endLeftOver(pidFile)
  const folder = await mkdtemp(join(tmpdir(), 'muster-docker-'))
  const host = `unix://${join(folder, 'docker.sock')}`
  const log = await open(join(CACHE, 'dockerd.log'), 'w')
  const argv = ['--data-root', join(CACHE, 'data'), '--exec-root', join(folder, 'exec'), '--pidfile', pidFile, '--host', host]
  const child = spawn(dockerd, argv, { stdio: ['ignore', log.fd, log.fd] })
  await log.close()
  // Whatever ends this process, the engine ends with it, and its containers with the engine.
  process.on('exit', () => child.kill('SIGTERM'))
  const stop = async (): Promise<void> => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM')
      await once(child, 'exit')
    }
    await rm(folder, { recursive: true, force: true })
  }
  const env = { ...process.env, DOCKER_HOST: host }
  try {
    await until('the Docker engine answers', () => stillRunning(child).then(() => succeeds(['docker', 'version'], env)), 60_000)
    await clear(env)
    const [ready] = await Promise.all([withCompose(env), run([join(HERE, 'base-images.sh'), CACHE], env)])
    return { env: ready, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function stillRunning(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) return
  const lines = (await readFile(join(CACHE, 'dockerd.log'), 'utf8')).trim().split('\n')
  throw new Error(`dockerd ended: ${lines.slice(-3).join(' / ')}`)
}

/** Ends the engine of a run that was cut short: two cannot share a folder. */
async function endLeftOver(pidFile: string): Promise<void> {
  const pid = Number(await readFile(pidFile, 'utf8').catch(() => '0'))
  const isOurs = async () => (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).includes(CACHE)
  if (pid === 0 || !(await isOurs())) return
  process.kill(pid, 'SIGTERM')
  await until(`the engine of an earlier run (process ${pid}) has ended`, async () => !(await isOurs()), 60_000)
}

/** Removes what earlier runs left in the tests' own engine: containers of one that was cut short, images without a name, and layers beyond what the next run needs. */
async function clear(env: NodeJS.ProcessEnv): Promise<void> {
  const commands = [
    'docker ps --all --quiet | xargs --no-run-if-empty docker rm --force --volumes',
    'docker volume prune --force',
    'docker network prune --force',
    'docker image prune --force',
    // Those used last are kept. Only room is at stake, and old engines fail at entries that are already gone.
    'docker builder prune --force --keep-storage 4GB || true',
  ]
  await run(['bash', '-euc', commands.join('\n')], env)
}

async function withCompose(env: NodeJS.ProcessEnv): Promise<NodeJS.ProcessEnv> {
  if (await succeeds(['docker', 'compose', 'version'], env)) return env
  const config = join(CACHE, 'client')
  await mkdir(config, { recursive: true })
  await run([join(HERE, 'compose-plugin.sh'), config], env)
  return { ...env, DOCKER_CONFIG: config }
}
