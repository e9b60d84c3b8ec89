import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { buildDashboard } from '../scripts/system/dashboard.ts'
import { findAccessibilityProblems, openBrowser, openPage, settled } from './harness/browser.ts'
import { findKeyboardProblems } from './harness/keyboard.ts'
import { fillShowcase, type Showcase } from './harness/showcase.ts'
import { type System, startSystem } from './harness/system.ts'

/** Where to leave a picture of each screen. Those of the documents: `SCREENSHOTS=docs/images npm test -- tests/screens.test.ts`. */
const PICTURES = process.env.SCREENSHOTS
/** Screens that are made for phones. Of the others, a picture of that width says little. */
const ON_PHONES = ['now', 'questions']
const WIDTHS = [1440, 390] as const
const THEMES = ['light', 'dark'] as const

let browser: Browser
let system: System
let showcase: Showcase
/** Its runner is no outside worker, so that its prompt is kept. */
let promptedId: string
let page: Page
let errors: string[]

beforeAll(async () => {
  await buildDashboard(() => {})
  browser = await openBrowser()
  const COMMAND_RUNNERS = JSON.stringify({ assistant: { argv: [process.execPath, fileURLToPath(new URL('./programs/act.mjs', import.meta.url))] } })
  system = await startSystem({
    env: {
      ...{ SUBTASK_MAX_CONCURRENT: '20', SUBTASK_MAX_PENDING: '50', OUTBOUND_ALLOW: '127.0.0.1', COMMAND_RUNNERS, DEFAULT_RUNNER: 'assistant' },
      SECRETS_KEYS: `one:${randomBytes(32).toString('base64')}`,
    },
  })
  showcase = await fillShowcase(system)
  promptedId = (await system.client.spawn({ task: 'Count the open questions of the team, and report.', runner: 'assistant' })).id
  await system.client.ended(promptedId)
  const context = await browser.newContext({ reducedMotion: 'reduce' })
  ;({ page, errors } = await openPage(context))
  if (PICTURES !== undefined) await mkdir(PICTURES, { recursive: true })
})
afterAll(async () => {
  await browser?.close()
  await showcase?.close()
  await system?.close()
})

/** Leaves a picture as WebP, a third of the size of a PNG, which the browser takes only by its own protocol. */
async function takePicture(folder: string, name: string, colorScheme: string, width: number): Promise<void> {
  const isPhone = width < WIDTHS[0]
  if (isPhone && !ON_PHONES.includes(name)) return
  const session = await page.context().newCDPSession(page)
  const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 80 })
  await session.detach()
  await writeFile(join(folder, `${name}-${colorScheme}${isPhone ? '-phone' : ''}.webp`), Buffer.from(data, 'base64'))
}

/** Each screen with something that it shows of the showcase. */
const SCREENS: [name: string, path: () => string, shows: string | RegExp][] = [
  ['now', () => '/', 'Publish the packages of 2.4'],
  ['questions', () => '/questions', 'May I publish six packages'],
  ['subtasks', () => '/subtasks', 'Compare three vector stores'],
  ['subtask-new', () => '/subtasks/new', 'Instructions'],
  ['subtask', () => `/subtasks/${showcase.endedId}`, 'Three places validate a token'],
  ['subtask-brief', () => `/subtasks/${promptedId}?tab=brief`, 'Sent in attempt'],
  ['subtask-running', () => `/subtasks/${showcase.runningId}`, 'Start with those of the payment service'],
  ['tasks', () => '/tasks', 'Validate tokens in one place'],
  ['task', () => `/tasks/${showcase.taskId}`, 'Every entry point checks the signature'],
  ['task-new', () => '/tasks/new', 'Acceptance criteria'],
  ['schedules', () => '/schedules', 'Summarise the errors'],
  ['evaluations', () => '/evaluations', 'Evaluations'],
  ['subagents', () => '/subagents', 'Sub-agents'],
  ['guides', () => '/guides', 'The port is already in use'],
  ['memory', () => '/memory', 'Memory'],
  ['events', () => '/events', 'Events'],
  ['webhooks', () => '/webhooks', 'ci.example.com'],
  ['deliveries', () => '/deliveries', /subtask\.\w+/],
  ['delivery', () => `/deliveries/${showcase.deliveryId}`, 'upstream is being deployed'],
  ['usage', () => '/usage', 'Usage'],
  ['workers', () => '/workers', 'Workers'],
  ['audit', () => '/audit', 'Audit'],
  ['settings', () => '/settings', 'Settings'],
]

it.each(SCREENS)('%s shows its content, fits both widths, is walked with the Tab key, and keeps to WCAG 2.2 AA in both themes', async (name, path, shows) => {
  await page.setViewportSize({ width: WIDTHS[0], height: 900 })
  await page.goto(`${system.api.address}/ui${path()}`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.getByText(shows).first().waitFor()
  await settled(page)
  const problems: Record<string, unknown> = {}
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 })
    const hidden = await page.evaluate(
      'Math.max(...[document.documentElement, document.querySelector("main")].map((shown) => shown.scrollWidth - shown.clientWidth))',
    )
    if (hidden !== 0) problems[`width ${width}`] = `${hidden} pixels are out of sight`
    for (const colorScheme of THEMES) {
      await page.emulateMedia({ colorScheme })
      const found = await findAccessibilityProblems(page)
      if (found.length > 0) problems[`${colorScheme} ${width}`] = found
      if (PICTURES !== undefined) await takePicture(PICTURES, name, colorScheme, width)
    }
  }
  await page.setViewportSize({ width: WIDTHS[0], height: 900 })
  const walked = await findKeyboardProblems(page)
  if (walked.length > 0) problems.keyboard = walked
  expect(problems).toEqual({})
  expect(errors.splice(0)).toEqual([])
})
