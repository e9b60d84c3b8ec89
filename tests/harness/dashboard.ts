import type { Browser, Page } from 'playwright-core'
import { buildDashboard } from '../../scripts/system/dashboard.ts'
import { openBrowser, openPage } from './browser.ts'
import { type System, startSystem } from './system.ts'

/** The dashboard in a real browser, over a system of its own. */
export interface Dashboard {
  browser: Browser
  system: System
  page: Page
  /** Shows a screen by its address. */
  open(path: string): Promise<unknown>
  /** The screen with this name is shown. */
  heading(name: string): Promise<void>
  /** What went wrong in the page. */
  errors: string[]
  close(): Promise<void>
}

/** @param env settings of its processes, on top of the usual ones */
export async function openDashboard(env: Record<string, string> = {}): Promise<Dashboard> {
  await buildDashboard(() => {})
  const browser = await openBrowser()
  const system = await startSystem({ env }).catch(async (error: unknown) => {
    await browser.close()
    throw error
  })
  const { page, errors } = await openPage(await browser.newContext({ viewport: { width: 1440, height: 900 } }))
  return {
    browser,
    system,
    page,
    errors,
    open: (path) => page.goto(`${system.api.address}/ui${path}`),
    heading: (name) => page.getByRole('heading', { name, level: 1 }).waitFor(),
    async close() {
      await browser.close()
      await system.close()
    },
  }
}
