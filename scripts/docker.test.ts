import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { settingsSchema } from '@muster/domain'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { prepareEnvironment, ROOT } from './system/environment.ts'

type Service = {
  image: string
  build?: string
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

    const versions = [...dockerfile.matchAll(/^FROM node:(\d+)/gm)].map(([, version]) => version)
    expect(versions.length).toBeGreaterThan(1)
    expect(new Set(versions)).toEqual(new Set([major]))
  })
})
