import { readdir, readFile } from 'node:fs/promises'
import type { Browser, BrowserContext } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildDashboard } from '../scripts/system/dashboard.ts'
import { findAccessibilityProblems, openBrowser, openPage } from './harness/browser.ts'
import { type System, startSystem } from './harness/system.ts'

const DOCUMENTS = new URL('../docs/', import.meta.url)

let browser: Browser
let system: System

beforeAll(async () => {
  await buildDashboard(() => {})
  browser = await openBrowser()
  system = await startSystem({ workers: 0 })
})
afterAll(async () => {
  await browser?.close()
  await system?.close()
})

/** Shows pages, and fails if one had an error, broke its policy, or asked another server for anything. */
async function reading(
  options: Parameters<Browser['newContext']>[0],
  read: (context: BrowserContext, open: (path: string) => Promise<void>, page: Page) => Promise<void>,
) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: 'reduce', ...options })
  const { page, errors } = await openPage(context)
  const outside: string[] = []
  page.on('request', (request) => request.url().startsWith(system.api.address) || outside.push(request.url()))
  await read(context, async (path) => void (await page.goto(`${system.api.address}${path}`)), page)
  await context.close()
  expect([...errors, ...outside]).toEqual([])
}
type Page = Awaited<ReturnType<typeof openPage>>['page']

describe('the reference', () => {
  it('shows every operation of the document closed, and one open at its address', async () => {
    await reading({}, async (_context, open, page) => {
      const { paths } = (await (await fetch(`${system.api.address}/openapi.json`)).json()) as { paths: Record<string, object> }
      await open('/docs')
      await page.getByRole('heading', { name: 'API reference' }).waitFor()
      expect(await page.locator('details.docs-row').count()).toBe(Object.values(paths).flatMap((path) => Object.keys(path)).length)
      expect(await page.locator('details.docs-row[open]').count()).toBe(0)
      await open('/docs#createSubtask')
      await page.getByText('timeout_seconds').first().waitFor()
      expect(await page.locator('details.docs-row[open]').count()).toBe(1)
    })
  })

  it('is filtered by the words of operations, their fields and the guides, and the filter stands in the address', async () => {
    await reading({}, async (_context, open, page) => {
      await open('/docs')
      await page.getByRole('searchbox').fill('spawn timeout_seconds')
      await page.getByText(/of \d+ operations and/).waitFor()
      await page.locator('#listSubtasks').waitFor({ state: 'detached' })
      expect(await page.locator('#createSubtask').count()).toBe(1)
      expect(new URL(page.url()).searchParams.get('q')).toBe('spawn timeout_seconds')
      await page.getByRole('searchbox').fill('pg_dump')
      await page.getByRole('main').getByRole('link', { name: 'Backup' }).waitFor()
      await open('/docs?q=list+subtasks')
      await page.locator('#listSubtasks').waitFor()
      expect(await page.locator('#createWebhook').count()).toBe(0)
    })
  })

  it('filters by what is typed before the document has come', async () => {
    await reading({}, async (_context, open, page) => {
      const { promise: typed, resolve: answer } = Promise.withResolvers<void>()
      await page.route('**/openapi.json', async (route) => {
        await typed
        await route.continue()
      })
      await open('/docs?q=webhooks')
      await page.getByRole('searchbox').fill('spawn timeout_seconds')
      answer()
      await page.getByText(/of \d+ operations and .* match “spawn timeout_seconds”/).waitFor()
      expect(await page.locator('#createWebhook').count()).toBe(0)
    })
  })

  it('sends a call from the page by keyboard alone, and shows the answer', async () => {
    await reading({}, async (_context, open, page) => {
      await open('/docs#createSubtask')
      await page.locator('#createSubtask > summary').focus()
      const send = page.locator('#createSubtask').getByText('Send it from here')
      await send.focus()
      await page.keyboard.press('Enter')
      await page.locator('#createSubtask').getByLabel('Body').fill('{"task": "Said from the reference.", "runner": "hold"}')
      await page.keyboard.press('Tab')
      await page.keyboard.press('Tab')
      await page.keyboard.press('Enter')
      await page.getByText(/^20[12] /).waitFor()
      await page.getByText('Said from the reference.').last().waitFor()
    })
  })

  it('keeps a key nowhere', async () => {
    await reading({}, async (_context, open, page) => {
      await open('/docs#listSubtasks')
      await page.locator('#listSubtasks').getByText('Send it from here').click()
      await page
        .locator('#listSubtasks')
        .getByLabel(/API key/)
        .fill('mst_key_secret')
      await page.getByRole('button', { name: 'Send GET' }).click()
      await page
        .getByText(/^\d{3} /)
        .last()
        .waitFor()
      const kept = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])')
      expect(kept).not.toContain('mst_key_secret')
    })
  })
})

describe('the guides', () => {
  it('of docs/ are all there, and none leads to a page that is not', async () => {
    const names = (await readdir(DOCUMENTS)).filter((name) => name.endsWith('.md')).map((name) => name.slice(0, -3))
    const get = async (path: string) => await fetch(new URL(path, system.api.address))
    const pages = new Map(await Promise.all(names.map(async (name) => [name, await (await get(`/docs/${name}`)).text()] as const)))
    const links = new Set([...pages.values()].flatMap((page) => [...page.matchAll(/(?:href|src)="(\/docs[^"#]*)/g)].map(([, link = '']) => link)))
    expect(links.size).toBeGreaterThan(names.length)
    const dead = await Promise.all([...links].map(async (link) => ((await get(link)).status === 200 ? [] : [link])))
    expect(dead.flat()).toEqual([])
    expect(await (await get('/docs/errors.md')).text()).toBe(await readFile(new URL('errors.md', DOCUMENTS), 'utf8'))
  })

  it('has the section that the type of a problem names', async () => {
    const { type } = (await (await fetch(new URL('/nowhere', system.api.address))).json()) as { type: string }
    await reading({}, async (_context, open, page) => {
      await open(new URL(type).pathname + new URL(type).hash)
      expect(await page.locator(':target').textContent()).toBe('not_found')
    })
  })
})

it.each([
  ['light', 1440],
  ['dark', 390],
] as const)('no page breaks WCAG 2.2 AA or scrolls sideways, in %s colours and %i pixels wide', async (colorScheme, width) => {
  await reading({ colorScheme, viewport: { width, height: 900 } }, async (_context, open, page) => {
    for (const path of ['/docs', '/docs#createSubtask', '/docs/schedules', '/docs/errors', '/docs/performance']) {
      await open('/ui/none')
      await open(path)
      await page.getByRole('heading', { level: 1 }).first().waitFor()
      if (path.includes('#')) await page.getByText('Send it from here').click()
      expect({ path, problems: await findAccessibilityProblems(page) }).toEqual({ path, problems: [] })
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    }
  })
})
