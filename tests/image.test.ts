import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, cp, mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { type TestDatabase, testDatabase } from '@muster/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

describe('npm run key in the image', () => {
  let image: string
  let database: TestDatabase

  beforeAll(async () => {
    database = await testDatabase()
    image = await mkdtemp(join(tmpdir(), 'muster image '))
    // What .dockerignore lets in and `--prod` installs: neither Node nor the embedded PostgreSQL.
    for (const name of ['package.json', 'pnpm-lock.yaml']) await copyFile(join(ROOT, name), join(image, name))
    await cp(join(ROOT, 'scripts'), join(image, 'scripts'), { recursive: true })
    for (const name of ['apps', 'packages', 'drizzle', 'examples']) await symlink(join(ROOT, name), join(image, name))
    await mkdir(join(image, 'node_modules', '@muster'), { recursive: true })
    const { dependencies } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as { dependencies: Record<string, string> }
    for (const name of Object.keys(dependencies)) await symlink(join(ROOT, 'node_modules', name), join(image, 'node_modules', name))
  })
  afterAll(async () => {
    await rm(image, { recursive: true, force: true })
    await database.drop()
  })

  /** A command as `docker compose run --rm migrate npm run …` starts it, but for the addresses of the database. */
  async function npmRun(...words: string[]): Promise<{ code: number | null; output: string; said: string }> {
    const dockerfile = await readFile(join(ROOT, 'Dockerfile'), 'utf8')
    const settings = [...dockerfile.matchAll(/^ENV (.*)$/gm)].flatMap(([, line = '']) => line.split(' '))
    const compose = parse(await readFile(join(ROOT, 'docker-compose.yml'), 'utf8'), { merge: true }) as {
      services: { migrate: { environment: Record<string, string> } }
    }
    const env = {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      ...Object.fromEntries(settings.map((setting) => setting.split('=') as [string, string])),
      ...compose.services.migrate.environment,
      LOG_LEVEL: 'info',
      DATABASE_URL: database.appUrl,
      MIGRATE_DATABASE_URL: database.adminUrl,
    }
    const child = spawn('npm', ['run', '--silent', ...words], { cwd: image, env, stdio: ['ignore', 'pipe', 'pipe'] })
    const [output, said, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
    return { code, output, said }
  }

  it('makes a key for the database of the services, and installs nothing', async () => {
    const made = await npmRun('key', '--', 'create', '--name', 'first', '--scopes', 'admin')

    expect(made).toMatchObject({ code: 0, output: expect.stringMatching(/^mst_\S+\n$/), said: expect.not.stringContaining('Installing') })
    expect((await npmRun('key', '--', 'list')).output).toContain('first')
    expect(await readdir(join(image, 'node_modules'))).not.toContain('.pnpm')
  })

  it('says which commands the image has', async () => {
    expect(await npmRun('demo')).toMatchObject({
      code: 1,
      said: expect.stringContaining(
        'npm run demo is not part of this image, which has: npm run key, npm run migrate, npm run rotate-secrets, npm run restored, npm run storage.',
      ),
    })
  })
})
