import { fileURLToPath } from 'node:url'
import type { BrowserContext, Page } from 'playwright-core'
import { openBrowser } from '../../tests/harness/browser.ts'
import { keep } from './live.ts'

const WATCH = fileURLToPath(new URL('./watch.js', import.meta.url))

interface WatchedPage {
  page: Page
  /** Calls a function of `watch.js` in the page. */
  watch<Result>(name: string, ...args: (string | number)[]): Promise<Result>
  /** Goes to an address, and answers when what is asked for was shown, in milliseconds from the start of the navigation. */
  load(address: string, selector: string, text?: string): Promise<{ firstPaintMs: number; shownMs: number }>
  /** Bytes of the heap of scripts, after a collection. */
  heapBytes(): Promise<number>
}

/** A real browser. Each page that it opens has an empty cache. */
export async function openWatchedPages() {
  const browser = await openBrowser()
  return keep({ open: async () => await watchPage(await browser.newContext({ viewport: { width: 1440, height: 900 } })) }, () => browser.close())
}

async function watchPage(context: BrowserContext): Promise<WatchedPage & AsyncDisposable> {
  await context.addInitScript({ path: WATCH })
  const page = await context.newPage()
  const devtools = await context.newCDPSession(page)
  await devtools.send('Performance.enable')
  const watch = async <Result>(name: string, ...args: (string | number)[]) =>
    (await page.evaluate(`watch.${name}(${args.map((arg) => JSON.stringify(arg)).join(', ')})`)) as Result
  return keep<WatchedPage>(
    {
      page,
      watch,
      async load(address: string, selector: string, text = '') {
        await page.goto(address, { waitUntil: 'commit' })
        return await watch<{ firstPaintMs: number; shownMs: number }>('loaded', selector, text)
      },
      async heapBytes() {
        await devtools.send('HeapProfiler.collectGarbage')
        const { metrics } = await devtools.send('Performance.getMetrics')
        return metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? Number.NaN
      },
    },
    () => context.close(),
  )
}
