import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { until } from './until.ts'

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** Where the packages of distributions put Chromium. */
const PATHS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome']

/** Nothing of the browser itself calls out: the machine may have no network. */
const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
]

/** A real browser. @throws Error with what to install where there is none */
export async function openBrowser(): Promise<Browser> {
  const executablePath = process.env.CHROMIUM_PATH ?? PATHS.find(existsSync)
  if (executablePath === undefined) throw new Error('The tests of the dashboard need Chromium: apt-get install chromium, or its path in CHROMIUM_PATH.')
  return await chromium.launch({ executablePath, args: FLAGS })
}

/** A page, and what went wrong in it: errors of its scripts, and what its security policy refused. */
export async function openPage(context: BrowserContext): Promise<{ page: Page; errors: string[] }> {
  const page = await context.newPage()
  const errors: string[] = []
  // The browser prints most refusals by itself, but not which element was refused, and not each of them.
  await page.addInitScript(`addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI, sample }) =>
    console.error('refused by the security policy:', effectiveDirective, blockedURI, sample))`)
  page.on('pageerror', (error) => errors.push(error.message))
  page.on('console', (message) => {
    // What the browser says of a request that failed is no error of the page.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) errors.push(message.text())
  })
  return { page, errors }
}

/** Everything that the screen reads has arrived. The stream of events never ends, so that the network is never idle. */
export async function settled(page: Page): Promise<void> {
  await until('the screen has loaded', async () => (await page.getByText('Loading …').count()) === 0)
  await until('its editors have loaded', () =>
    page.evaluate(`[...document.querySelectorAll('.field > .label')].every((label) => label.nextElementSibling.shadowRoot)`),
  )
}

interface Violation {
  id: string
  nodes: { html: string; failureSummary?: string }[]
}

/** What a page does against WCAG 2.2 AA, as far as a program can tell. */
export async function findAccessibilityProblems(page: Page): Promise<string[]> {
  // Scripts may not be put into the page, whose policy refuses them: it is evaluated by the browser itself.
  await page.evaluate(readFileSync(AXE, 'utf8'))
  const violations = (await page.evaluate(
    `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] }).then(({ violations }) => violations)`,
  )) as Violation[]
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary ?? ''}`))
}
