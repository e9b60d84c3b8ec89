import { copyFile, mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { EventStream } from '../harness/event-stream.ts'
import { until } from '../harness/until.ts'
import type { Subtask } from '../harness/wire.ts'
import { copyCheckout, previousVersion } from './checkout.ts'
import { Composition } from './composition.ts'
import { type Engine, findEngine } from './engine.ts'

/*
 * The image and docker-compose.yml on a real engine. The tests run in their order: each goes on with what the one before it has left.
 */
const KEY = /^mst_\S+$/m
const folders: string[] = []
let engine: Engine
let muster: Composition

/** A checkout and the services that it makes. */
async function compositionOf(name: string, commit: string | null, project: string): Promise<Composition> {
  const folder = await copyCheckout(name, commit)
  folders.push(folder)
  return new Composition(engine, folder, project)
}

beforeAll(async () => {
  engine = await findEngine()
  muster = await compositionOf('now', null, `muster-test-${process.pid}`)
})
afterAll(async () => {
  await muster?.remove()
  await engine?.stop()
  for (const folder of folders) await rm(folder, { recursive: true, force: true })
})

/** Scout looks at something for about three seconds. */
async function spawn(composition: Composition, parent: string): Promise<Subtask> {
  return await (await composition.client()).spawn({ task: 'Inspect packages/domain', runner: 'scout', parent_session_id: parent })
}

async function started(composition: Composition, id: string): Promise<string> {
  const client = await composition.client()
  return await until('the subtask runs', async () => (await client.get(id)).worker_id)
}

/** Each has one terminal event, and its parent session gets one result of each. */
async function expectEachEndedOnce(composition: Composition, parent: string, ids: readonly string[]): Promise<void> {
  const client = await composition.client()
  for (const id of ids) {
    expect(await client.ended(id)).toMatchObject({ status: 'completed', result: expect.stringContaining('packages/domain') })
    const stream = await EventStream.open(client, `/subtasks/${id}/events?after=0`)
    await stream.ended()
    expect(stream.events.filter(({ type }) => type === 'subtask.completed')).toHaveLength(1)
  }
  expect((await client.inbox(parent)).map(({ subtask_id }) => subtask_id).sort()).toEqual([...ids].sort())
  expect(await client.inbox(parent)).toEqual([])
}

describe('the commands of README.md', () => {
  it('build the image, start the services with two workers, and make a key', async () => {
    const printed = await muster.execute('README.md', 'Docker')
    muster.useKey(KEY.exec(printed)?.[0] ?? 'no key')

    expect(await muster.containers('worker')).toHaveLength(2)
    expect(await muster.inspect('migrate', '{{.State.ExitCode}}')).toEqual(['0'])
    for (const service of ['postgres', 'api']) await muster.health(service, 'healthy')
    expect((await (await muster.client()).call('GET', '/runners')).status).toBe(200)
  })

  it('publish a port of the API to this machine alone, and run as an ordinary user', async () => {
    const ports = '{{range $port, $to := .HostConfig.PortBindings}}{{range $to}}{{$port}} {{.HostIp}}{{end}}{{end}}'
    expect(await muster.inspect('api', ports)).toEqual(['7300/tcp 127.0.0.1'])
    for (const service of ['postgres', 'worker']) expect((await muster.inspect(service, ports)).join('')).toBe('')
    for (const service of ['api', 'worker']) expect(await muster.compose('exec', '-T', service, 'id', '--user')).toBe('1000\n')
  })

  it('write the bill of materials of the image into it', async () => {
    const written = JSON.parse(await muster.compose('exec', '-T', 'api', 'cat', 'muster.cdx.json')) as { components: { name: string }[] }
    const names = written.components.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['fastify', 'pg-boss', 'postgres', 'node']))
    const installed = [...(await muster.compose('exec', '-T', 'api', 'dpkg-query', '--show')).matchAll(/^([^:\t]+)/gm)].map(([, name = '']) => name)
    expect(installed.length).toBeGreaterThan(50)
    expect(installed.filter((name) => !names.includes(name))).toEqual([])
  })

  it('give nothing of it to its own user to change, and put no settings or history into it', async () => {
    expect(await muster.compose('exec', '-T', 'api', 'find', '/app', '-xdev', '-writable', '!', '-type', 'l')).toBe('')
    expect(await muster.compose('exec', '-T', 'api', 'find', '/app', '-maxdepth', '1', '-name', '.env', '-o', '-maxdepth', '1', '-name', '.git')).toBe('')
  })

  it('have API and worker compiled already', async () => {
    for (const app of ['api', 'worker']) {
      const command = (await muster.compose('exec', '-T', app, 'cat', '/proc/1/cmdline')).split('\0').filter((word) => word !== '')
      expect(command.at(-1)).toBe(`apps/${app}/src/main.ts`)
      // Without settings it loads all that it needs, and ends.
      const environment = ['-e', 'NODE_DEBUG_NATIVE=COMPILE_CACHE', '-e', 'DATABASE_URL=']
      const said = await muster.compose('exec', '-T', ...environment, app, 'sh', '-c', `${command.join(' ')} 2>&1 | grep 'cache for .* was'`)
      expect(said).not.toContain('not initialized')
      expect(said.match(/ was accepted/g)?.length).toBeGreaterThan(500)
    }
  })

  it('tell of what the archives of its base have newer', async () => {
    const image = 'muster-test:now'
    const before = await muster.scan(image)
    expect(before.map((update) => update.package)).not.toContain('tzdata')
    // As if one package were old.
    const old = join(muster.folder, 'old')
    await mkdir(old)
    const age = "sed -i '/^Package: tzdata$/,/^$/s/^Version: .*/Version: 1/' /var/lib/dpkg/status"
    await writeFile(join(old, 'Dockerfile'), `FROM ${image}\nUSER root\nRUN ${age}\n`)
    await muster.docker('build', '--quiet', '--tag', 'muster-test:old', old)
    expect(await muster.scan('muster-test:old')).toEqual(
      expect.arrayContaining([
        ...before,
        { package: 'tzdata', installed: '1', available: expect.stringMatching(/^\d/), from: expect.stringContaining('Debian') },
      ]),
    )
    await muster.docker('image', 'rm', 'muster-test:old')
  })
})

describe('a subtask in containers', () => {
  it('runs, and its result waits in the inbox of its parent session once', async () => {
    const { id } = await spawn(muster, 'spawn')
    await expectEachEndedOnce(muster, 'spawn', [id])
  })

  it('is finished by the other worker, once, when its container is killed', async () => {
    const { id } = await spawn(muster, 'kill')
    const worker = await started(muster, id)
    for (const container of await muster.containers('worker')) {
      if ((await muster.docker('logs', container)).includes(worker)) await muster.docker('kill', container)
    }
    expect(await muster.containers('worker')).toHaveLength(1)

    await expectEachEndedOnce(muster, 'kill', [id])
    expect(await (await muster.client()).get(id)).toMatchObject({ attempt: 2, worker_id: expect.not.stringContaining(worker) })
    await muster.compose('up', '--detach', '--no-build', '--scale', 'worker=2')
    expect(await muster.containers('worker')).toHaveLength(2)
  })
})

describe('schedules in containers', () => {
  it('fire once each, with two workers', async () => {
    const client = await muster.client()
    const made = await Promise.all(
      Array.from({ length: 4 }, (_, place) =>
        client.ok<{ id: string }>('POST', '/schedules', {
          body: { task: 'Inspect packages/domain', when: 'in 2 seconds', runner: 'scout', parent_session_id: 'schedule', agent_id: `agent-${place}` },
        }),
      ),
    )
    const runs = await Promise.all(
      made.map(({ id }) =>
        until('the schedule has fired', async () => {
          const { items } = await client.ok<{ items: { subtask_id: string | null; outcome: string }[] }>('GET', `/schedules/${id}/runs`)
          return items.length > 0 ? items : null
        }),
      ),
    )
    expect(runs.map((items) => items.map(({ outcome }) => outcome))).toEqual(made.map(() => ['fired']))
    await expectEachEndedOnce(
      muster,
      'schedule',
      runs.flatMap((items) => items.flatMap(({ subtask_id }) => subtask_id ?? [])),
    )
  })
})

describe('PostgreSQL that stops and comes back', () => {
  it('turns the health check of the API, and no work is lost or done twice', async () => {
    const { id } = await spawn(muster, 'restart')
    await started(muster, id)
    await muster.compose('stop', 'postgres')
    await muster.health('api', 'unhealthy')
    const ready = await fetch(new URL('/readyz', (await muster.client()).address))
    expect(ready.status).toBe(503)

    await muster.compose('start', 'postgres')
    for (const service of ['postgres', 'api']) await muster.health(service, 'healthy')
    await expectEachEndedOnce(muster, 'restart', [id])
  })
})

describe('an update from the image of the previous version', () => {
  it('keeps data, keys and the work in progress', async () => {
    await muster.remove()
    const before = await compositionOf('before', await previousVersion(), `muster-test-${process.pid}`)
    const printed = await before.execute('README.md', 'Docker')
    const key = KEY.exec(printed)?.[0] ?? 'no key'
    before.useKey(key)
    muster.useKey(key)
    await before.health('api', 'healthy')
    const ids = (await Promise.all(Array.from({ length: 4 }, () => spawn(before, 'update')))).map(({ id }) => id)
    await Promise.all(ids.map((id) => started(before, id)))

    await copyFile(join(before.folder, '.env'), join(muster.folder, '.env'))
    await muster.execute('README.md', 'Docker')

    for (const service of ['api', 'worker']) expect(new Set(await muster.inspect(service, '{{.Config.Image}}'))).toEqual(new Set(['muster-test:now']))
    await muster.health('api', 'healthy')
    await expectEachEndedOnce(muster, 'update', ids)
  })
})
