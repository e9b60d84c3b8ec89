import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { promisify } from 'node:util'
import { settingsSchema } from '@muster/domain'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { basesOf, debianComponents, sbomCommand, updatesOf } from './image.ts'
import { prepareEnvironment, ROOT } from './system/environment.ts'

type Service = {
  image: string
  build?: { context: string; args: Record<string, string> }
  command?: string[]
  environment: Record<string, string>
  depends_on?: Record<string, { condition: string }>
  healthcheck?: { test: string[] }
  container_name?: string
  ports?: string[]
  restart: string
}

const compose = parse(readFileSync(join(ROOT, 'docker-compose.yml'), 'utf8'), { merge: true }) as {
  services: Record<string, Service>
  volumes: Record<string, null>
}
const services = Object.entries(compose.services)
const ours = services.filter(([, service]) => service.image === 'muster')

function service(name: string): Service {
  const found = compose.services[name]
  if (found === undefined) throw new Error(`docker-compose.yml has no service ${name}`)
  return found
}

/** As Compose fills them in, with a password for each that has to be set. */
function filledIn(environment: Record<string, string>): Record<string, string> {
  const fill = (value: string): string => value.replace(/\$\{\w+(?::-([^}]*)|:\?[^}]*)?\}/g, (_all, fallback: string | undefined) => fallback ?? 'secret')
  return Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, fill(String(value))]))
}

/** Packages that the lock file has for some projects, and for those that they depend on, without what only development needs. */
function lockedPackages(projects: readonly string[]): Set<string> {
  type Dependencies = Record<string, string>
  const lock = parse(readFileSync(join(ROOT, 'pnpm-lock.yaml'), 'utf8')) as {
    importers: Record<string, Partial<Record<'dependencies' | 'optionalDependencies', Record<string, { version: string }>>>>
    snapshots: Record<string, Partial<Record<'dependencies' | 'optionalDependencies', Dependencies>>>
  }
  const found = new Set<string>()
  const seen = new Set<string>()
  const addPackage = (name: string, version: string): void => {
    const key = `${name}@${version}` in lock.snapshots ? `${name}@${version}` : version
    if (seen.has(key)) return
    seen.add(key)
    found.add(key.replace(/\(.*$/, ''))
    const { dependencies, optionalDependencies } = lock.snapshots[key] ?? {}
    for (const [each, itsVersion] of Object.entries({ ...dependencies, ...optionalDependencies })) addPackage(each, itsVersion)
  }
  const addProject = (folder: string): void => {
    if (seen.has(folder)) return
    seen.add(folder)
    const { dependencies, optionalDependencies } = lock.importers[folder] ?? {}
    for (const [name, { version }] of Object.entries({ ...dependencies, ...optionalDependencies })) {
      if (version.startsWith('link:')) addProject(posix.join(folder, version.slice('link:'.length)))
      else addPackage(name, version)
    }
  }
  for (const project of projects) addProject(project)
  return found
}

describe('docker-compose.yml', () => {
  it('sets nothing that the settings do not have', () => {
    const known = (name: string): boolean => name in settingsSchema.shape || name.startsWith('POSTGRES_')

    expect(services.flatMap(([, { environment }]) => Object.keys(environment)).filter((name) => !known(name))).toEqual([])
  })

  it.each(ours)('gives %s an environment that passes the check of the processes', (_name, { environment }) => {
    expect(prepareEnvironment(filledIn(environment)).settings).toMatchObject({ HOST: '0.0.0.0', AUTH: 'keys' })
  })

  it('gives the right to change the schema to the migrate step alone', () => {
    const able = services.filter(([, { environment }]) => JSON.stringify(environment).includes('MIGRATE_DATABASE_URL')).map(([name]) => name)

    expect(able).toEqual(['migrate'])
    expect(service('migrate').restart).toBe('no')
  })

  it('starts API and worker only on a migrated database', () => {
    for (const name of ['api', 'worker']) expect(service(name).depends_on).toEqual({ migrate: { condition: 'service_completed_successfully' } })
    expect(service('migrate').depends_on).toEqual({ postgres: { condition: 'service_healthy' } })
  })

  it('builds one image for all of its services', () => {
    expect(services.filter(([, { build }]) => build !== undefined).map(([name]) => name)).toEqual(['migrate'])
    expect(ours.map(([name]) => name)).toEqual(['migrate', 'api', 'worker'])
  })

  it('lets the worker be scaled', () => {
    expect(service('worker').container_name).toBeUndefined()
    expect(service('worker').ports).toBeUndefined()
  })

  it('asks the API for its readiness', () => {
    expect(service('api').healthcheck?.test.join(' ')).toContain('/readyz')
  })

  it('runs files that exist', () => {
    for (const [, { command }] of ours) expect(() => readFileSync(join(ROOT, command?.at(-1) ?? ''))).not.toThrow()
  })
})

describe('Dockerfile', () => {
  const dockerfile = readFileSync(join(ROOT, 'Dockerfile'), 'utf8')

  it('does not run as root', () => {
    expect(dockerfile).toMatch(/^USER node$/m)
  })

  it('is on the Node that the project runs on', () => {
    const { devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { devDependencies: { node: string } }
    const major = /\d+/.exec(devDependencies.node)?.[0]

    const stages = [...dockerfile.matchAll(/^FROM (\S+)(?: AS (\S+))?/gm)].map(([, base, name]) => ({ base, name }))
    // A stage is on the image of Node, or on one before it.
    const bases = stages.map(({ base }) => base).filter((base, index) => !stages.slice(0, index).some(({ name }) => name === base))
    expect(bases).toEqual(Array(3).fill('$NODE_IMAGE'))
    expect(/^ARG NODE_IMAGE=node:(\d+)-slim$/m.exec(dockerfile)?.[1]).toBe(major)
    expect(service('migrate').build?.args.NODE_IMAGE).toContain(/^ARG NODE_IMAGE=(\S+)$/m.exec(dockerfile)?.[1])
  })
})

describe('npm run image', () => {
  it('says of each base image whether it is pinned, and by which variable to pin it', () => {
    expect(basesOf({}).map(({ image, isPinned }) => [image, isPinned])).toEqual([
      ['node:24-slim', false],
      ['postgres:18', false],
    ])
    const digest = `sha256:${'0a'.repeat(32)}`
    const pinned = basesOf({ NODE_IMAGE: `node:24-slim@${digest}`, POSTGRES_IMAGE: 'registry.example.com/postgres:18@sha256:short' })
    expect(pinned.map(({ variable, isPinned }) => [variable, isPinned])).toEqual([
      ['NODE_IMAGE', true],
      ['POSTGRES_IMAGE', false],
    ])
  })

  it('lists the packages of Debian that are installed, by the addresses that scanners know', () => {
    const status = [
      'Package: libssl3\nStatus: install ok installed\nArchitecture: amd64\nSource: openssl (3.0.1)\nVersion: 1:3.0.1-1~deb12u1\nDescription: x\n Package: no',
      'Package: removed\nStatus: deinstall ok config-files\nArchitecture: all\nVersion: 1',
    ].join('\n\n')
    const purl = 'pkg:deb/debian/libssl3@1%3A3.0.1-1~deb12u1?arch=amd64&distro=debian-12&upstream=openssl'
    expect(debianComponents(status, 'NAME="Debian"\nVERSION_ID="12"\n')).toEqual([
      { type: 'library', 'bom-ref': purl, name: 'libssl3', version: '1:3.0.1-1~deb12u1', purl },
    ])
  })

  it('reads which packages apt would replace', () => {
    const printed = 'Inst base-files [12.4] (12.4+deb12u11 Debian:12.11/oldstable [amd64])\nInst new (1 Debian:12 [all])\nConf base-files (12.4+deb12u11 …)\n'
    expect(updatesOf(printed)).toEqual([{ package: 'base-files', installed: '12.4', available: '12.4+deb12u11', from: 'Debian:12.11/oldstable' }])
  })

  it('writes a bill of materials with every package that the lock file has for the processes of the image', async () => {
    const [program, ...args] = sbomCommand()
    const { stdout } = await promisify(execFile)(program, args, { cwd: ROOT, env: { ...process.env, CI: 'true' }, maxBuffer: 64 * 1_048_576 })
    const { bomFormat, components } = JSON.parse(stdout) as { bomFormat: string; components: { group?: string; name: string; version: string; purl: string }[] }
    expect(bomFormat).toBe('CycloneDX')
    const listed = new Set(components.map(({ group, name, version }) => `${group === undefined ? '' : `${group}/`}${name}@${version}`))
    const locked = lockedPackages(['.', 'apps/api', 'apps/worker'])
    expect(locked.size).toBeGreaterThan(100)
    expect([...locked].filter((each) => !listed.has(each))).toEqual([])
    // Nor anything else but packages of ours.
    expect([...listed].filter((each) => !locked.has(each) && !each.startsWith('@muster/'))).toEqual([])
  }, 120_000)
})
