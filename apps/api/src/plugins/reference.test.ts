import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Fastify from 'fastify'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addReference } from './reference.ts'

describe('the pages of the reference', () => {
  let built: string

  beforeAll(async () => {
    built = `${await mkdtemp(join(tmpdir(), 'muster-reference-'))}/`
    await mkdir(`${built}guides/adr`, { recursive: true })
    await writeFile(`${built}index.html`, 'the dashboard')
    await writeFile(`${built}docs.html`, '<title>API reference</title>')
    await writeFile(`${built}guides/errors.html`, '<h2 id="not_found">')
    await writeFile(`${built}guides/errors.md`, '## not_found')
    await writeFile(`${built}guides/adr/0001-a.html`, 'decided')
  })
  afterAll(() => rm(built, { recursive: true }))

  function pages(folder = built) {
    const app = Fastify()
    app.register((scope, _options, done) => {
      addReference(scope, [], folder)
      done()
    })
    return app
  }

  it('may load from this server alone, and run no script that stands in a page', async () => {
    const { headers, body } = await pages().inject('/docs')
    expect(body).toBe('<title>API reference</title>')
    const policy = String(headers['content-security-policy'])
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toMatch(/unsafe|data:|https?:|\*/)
  })

  it('show a guide by its name, and its Markdown with .md', async () => {
    const app = pages()
    const page = await app.inject('/docs/errors')
    expect(page.headers['content-type']).toContain('text/html')
    expect(page.body).toContain('id="not_found"')
    const source = await app.inject('/docs/errors.md')
    expect(source.headers['content-type']).toContain('text/markdown')
    expect((await app.inject('/docs/adr/0001-a')).body).toBe('decided')
    expect((await app.inject('/docs/')).headers.location).toBe('/docs')
  })

  it.each(['/docs/none', '/docs/none.md', '/docs/..%2findex', '/docs/%2e%2e%2findex.html', '/docs/errors%00', '/docs/guides'])(
    'show nothing at %s',
    async (path) => {
      const answer = await pages().inject(path)
      expect(answer.body).not.toContain('the dashboard')
      expect(answer.json()).toMatchObject({ code: 'not_found' })
    },
  )

  it('say how they are built where they are not', async () => {
    const answer = await pages('/nowhere/').inject('/docs')
    expect(answer.json()).toMatchObject({ code: 'not_found', message: expect.stringContaining('npm run build') })
  })
})
