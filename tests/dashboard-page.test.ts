import { randomBytes } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openPage, settled } from './harness/browser.ts'
import { type Dashboard, openDashboard } from './harness/dashboard.ts'
import type { System } from './harness/system.ts'

/*
 * The page itself: how it loads and stays up to date, its keys and its focus. What people do with it is in dashboard.test.ts.
 */
const ASSETS = fileURLToPath(new URL('../apps/dashboard/dist/assets/', import.meta.url))
const FIRST_SCREEN_BYTES_MAX = 300_000

let dashboard: Dashboard
let browser: Browser
let system: System
let page: Page

const open = (path: string) => dashboard.open(path)
const heading = (name: string) => dashboard.heading(name)

beforeAll(async () => {
  dashboard = await openDashboard({ SECRETS_KEYS: `one:${randomBytes(32).toString('base64')}` })
  ;({ browser, system, page } = dashboard)
})
afterEach(() => {
  expect(dashboard.errors.splice(0)).toEqual([])
})
afterAll(() => dashboard?.close())

describe('the build', () => {
  it('needs at most 300 kB for the first screen, compressed', async () => {
    const context = await browser.newContext()
    const first = await context.newPage()
    const loaded: string[] = []
    first.on('response', (response) => {
      const name = /\/ui\/assets\/([^?]+)/.exec(response.url())?.[1]
      if (name !== undefined) loaded.push(name)
    })
    await first.goto(`${system.api.address}/`)
    await first.getByRole('heading', { name: 'Now' }).waitFor()
    await context.close()
    const files = new Set(await readdir(ASSETS))
    const sizes = await Promise.all(
      [...new Set(loaded)].map(async (name) => (await readFile(`${ASSETS}${files.has(`${name}.gz`) ? `${name}.gz` : name}`)).length),
    )
    expect(sizes.length).toBeGreaterThan(3)
    expect(sizes.reduce((sum, each) => sum + each, 0)).toBeLessThan(FIRST_SCREEN_BYTES_MAX)
  })

  it.each(['light', 'dark'] as const)('is painted in %s before its scripts have come', async (colorScheme) => {
    const context = await browser.newContext({ colorScheme })
    const first = await context.newPage()
    const painted = Promise.withResolvers<void>()
    await first.route('**/*.js', async (route) => {
      await painted.promise
      await route.continue()
    })
    await first.goto(`${system.api.address}/ui/`, { waitUntil: 'commit' })
    await first.getByText('Loading …').waitFor()
    await expect.poll(() => first.evaluate(`performance.getEntriesByName('first-contentful-paint').length`)).toBe(1)
    const background = () => first.evaluate('getComputedStyle(document.body).backgroundColor')
    expect(await background()).toBe(colorScheme === 'dark' ? 'rgb(18, 18, 22)' : 'rgb(255, 255, 255)')
    painted.resolve()
    await first.getByRole('heading', { name: 'Now' }).waitFor()
    await first.getByRole('button', { name: /Use (light|dark) colours/ }).click()
    expect(await background()).toBe(colorScheme === 'dark' ? 'rgb(255, 255, 255)' : 'rgb(18, 18, 22)')
    await context.close()
  })
})

describe('what is live', () => {
  const spawnSeen = async (task: string, ...tabs: Page[]) => {
    const { id } = await system.client.spawn({ task, runner: 'hold' })
    for (const tab of tabs) await tab.getByRole('link', { name: task }).first().waitFor()
    system.ledger.release(id)
    await system.client.ended(id)
  }

  it('misses nothing that happens while a page loads and before its stream of events begins', async () => {
    const [early, begin] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const context = await browser.newContext()
    const { page: late } = await openPage(context)
    await late.route(/\/events(\?|$)/, async (route) => {
      early.resolve()
      await begin.promise
      await route.continue()
    })
    await late.goto(`${system.api.address}/ui/subtasks`)
    await early.promise
    await late.getByRole('heading', { name: 'Subtasks', level: 1 }).waitFor()
    await settled(late)
    // Nobody claims it: no event follows.
    const { id } = await system.client.spawn({ task: 'Begin before the stream.', runner: 'external' })
    begin.resolve()
    await late.getByRole('link', { name: 'Begin before the stream.' }).waitFor()
    await context.close()
    await system.client.cancel(id)
  })

  it('shows a list that is on its way when the stream begins, and then misses nothing of what the list lacks', async () => {
    const { id: early } = await system.client.spawn({ task: 'Begin before the list.', runner: 'external' })
    const [read, begun, shown] = [Promise.withResolvers<void>(), Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const context = await browser.newContext()
    const { page: late } = await openPage(context)
    let lists = 0
    await late.route(/\/subtasks\?/, async (route) => {
      lists += 1
      if (lists > 1) {
        await shown.promise
        return await route.continue()
      }
      const response = await route.fetch()
      read.resolve()
      await begun.promise
      await route.fulfill({ response })
    })
    const stream = late.waitForResponse(/\/events(\?|$)/)
    await late.route(/\/events(\?|$)/, async (route) => {
      await read.promise
      await route.continue()
    })
    await late.goto(`${system.api.address}/ui/subtasks`)
    await read.promise
    const { id } = await system.client.spawn({ task: 'Begin behind the list.', runner: 'external' })
    await stream
    begun.resolve()
    await late.getByRole('link', { name: 'Begin before the list.' }).waitFor()
    shown.resolve()
    await late.getByRole('link', { name: 'Begin behind the list.' }).waitFor()
    await context.close()
    await Promise.all([early, id].map((each) => system.client.cancel(each)))
  })

  it('comes over one connection for all tabs; another tab takes over from one that hangs, and from one that is closed', async () => {
    const context = await browser.newContext()
    let streams = 0
    context.on('request', (request) => {
      if (new URL(request.url()).pathname === '/events') streams += 1
    })
    const tabs: Page[] = []
    for (const path of ['/', '/subtasks', '/']) {
      const { page: tab } = await openPage(context)
      await tab.goto(`${system.api.address}/ui${path}`)
      await tab.getByRole('heading', { level: 1 }).waitFor()
      await settled(tab)
      tabs.push(tab)
    }
    const [first, second, third] = tabs as [Page, Page, Page]
    await spawnSeen('Seen by three tabs.', first, second, third)
    expect(streams).toBe(1)
    const hanging = first.evaluate('for (const sinceMs = performance.now(); performance.now() < sinceMs + 60_000; );').catch(() => undefined)
    await spawnSeen('Seen although a tab hangs.', second, third)
    await second.close()
    await third.bringToFront()
    await spawnSeen('Seen although a tab is closed.', third)
    await context.close()
    await hanging
  })
})

describe('access', () => {
  it('the command palette opens any screen by keyboard', async () => {
    await open('/')
    await heading('Now')
    await page.keyboard.press('Control+k')
    await page.getByPlaceholder(/Go to a screen/).fill('usage')
    await page.keyboard.press('Enter')
    await heading('Usage')
  })

  it('the command palette gets what is typed before it has come', async () => {
    await open('/subtasks')
    const { promise: typed, resolve: answer } = Promise.withResolvers<void>()
    await page.route('**/palette-*.js', async (route) => {
      await typed
      await route.continue()
    })
    await page.getByLabel('Agent', { exact: true }).click()
    await page.keyboard.press('Control+k')
    await page.keyboard.type('memo')
    answer()
    await expect.poll(() => page.getByPlaceholder(/Go to a screen/).inputValue()).toBe('memo')
    await page.unroute('**/palette-*.js')
    expect(await page.locator('input[aria-label="Agent"]').inputValue()).toBe('')
    await page.keyboard.type('ry')
    await page.keyboard.press('Enter')
    await heading('Memory')
  })

  it('the command palette that cannot be loaded says so, and what is typed goes into the field again', async () => {
    const context = await browser.newContext()
    const { page: away } = await openPage(context)
    await away.goto(`${system.api.address}/ui/subtasks`)
    await settled(away)
    await away.route('**/palette-*.js', (route) => route.abort())
    await away.getByLabel('Agent', { exact: true }).click()
    await away.keyboard.press('Control+k')
    await away.getByRole('alert').getByText('The palette could not be loaded.').waitFor()
    await away.keyboard.type('scout')
    expect(await away.locator('input[aria-label="Agent"]').inputValue()).toBe('scout')
    await away.unroute('**/palette-*.js')
    await away.keyboard.press('Control+k')
    await away.getByPlaceholder(/Go to a screen/).waitFor()
    await context.close()
  })
})

describe('the focus', () => {
  it('stays in a filter after Enter, which loses nothing that is typed while the list is read', async () => {
    await open('/subtasks')
    const filter = page.getByLabel('Agent', { exact: true })
    await filter.click()
    await page.keyboard.type('nobody')
    const { promise: typed, resolve: answer } = Promise.withResolvers<void>()
    await page.route(/\/subtasks\?.*agent_id=nobody/, async (route) => {
      await typed
      await route.continue()
    })
    await page.keyboard.press('Enter')
    await page.keyboard.type('-else')
    answer()
    await page.waitForURL(/agent_id=nobody(&|$)/)
    await page.getByText('No subtask').first().waitFor()
    const focusedLabel = await page.evaluate('document.activeElement.ariaLabel')
    expect([focusedLabel, await filter.inputValue()]).toEqual(['Agent', 'nobody-else'])
    await page.keyboard.press('Enter')
    await page.waitForURL(/agent_id=nobody-else/)
    await page.getByRole('navigation').getByRole('link', { name: 'Subtasks' }).click()
    await expect.poll(() => filter.inputValue()).toBe('')
    await page.unroute(/\/subtasks\?.*agent_id=nobody/)
  })

  it('goes to the heading of the next screen, back to the button of a dialog, and to the row beside one that is deleted', async () => {
    await open('/webhooks')
    for (const path of ['first-hook', 'second-hook']) {
      await page.getByLabel('URL', { exact: true }).fill(`https://example.com/${path}`)
      await page.getByRole('button', { name: 'Create webhook' }).click()
      await page.getByRole('region', { name: path }).waitFor()
    }
    await page.getByRole('region', { name: 'second-hook' }).getByRole('button', { name: 'Delete' }).press('Enter')
    await page.getByRole('region', { name: 'second-hook' }).waitFor({ state: 'detached' })
    await expect.poll(() => page.evaluate('document.activeElement.className')).toBe('panel')
    await page.getByRole('region', { name: 'first-hook' }).getByRole('button', { name: 'Delete' }).press('Enter')
    await page.getByRole('region', { name: 'first-hook' }).waitFor({ state: 'detached' })
    await page.getByRole('navigation').getByRole('link', { name: 'Workers' }).press('Enter')
    await heading('Workers')
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Workers')
    expect(await page.title()).toBe('Workers · Muster')
    const drain = page.getByRole('button', { name: 'Drain' }).first()
    await drain.press('Enter')
    const dialog = page.getByRole('dialog', { name: /take no more work/ })
    await dialog.waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Drain')
  })
})
