import type { Page } from 'playwright-core'

/** More stops than any screen of the tests has: the walk would not end. */
const STOPS_MAX = 400

/** Looks for the outline of one stop, 50 ms apart. */
const LOOKS_MAX = 20

/** In the page: everything in `main` that a person can use, in the order of the document, with where it is before anything scrolls. */
const COLLECT = `(() => {
  const found = []
  const visit = (root) => {
    for (const element of root.querySelectorAll('*')) {
      if (element.shadowRoot) visit(element.shadowRoot)
      const isUsable = element.matches('a[href], button, input, select, textarea, summary, [contenteditable=true], [tabindex="0"]')
      // An editable element has no index of its own.
      const isSkipped = element.disabled || (element.tabIndex < 0 && !element.isContentEditable)
      if (!isUsable || isSkipped || !element.checkVisibility({ visibilityProperty: true })) continue
      found.push(element)
    }
  }
  visit(document.querySelector('main'))
  window.stops = found
  return found.map((element) => {
    const { top, left, right, bottom } = element.getBoundingClientRect()
    return { name: element.outerHTML.slice(0, 160), top, left, right, bottom }
  })
})()`

/** In the page: which of them has the focus, and whether that can be seen: an outline that nothing cuts off on every side. */
const LOOK = `(() => {
  let active = document.activeElement
  while (active?.shadowRoot?.activeElement) active = active.shadowRoot.activeElement
  if (active === null || !document.querySelector('main').contains(active.getRootNode().host ?? active)) return null
  const parentOf = (element) => element.parentElement ?? element.getRootNode().host ?? null
  const outlined = [active, active.closest('.cm-editor')].find((element) => {
    if (element === null) return false
    const { outlineStyle, outlineWidth } = getComputedStyle(element)
    return outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2
  })
  let isSeen = outlined !== undefined
  if (isSeen) {
    const { outlineOffset, outlineWidth } = getComputedStyle(outlined)
    const reach = parseFloat(outlineOffset) + parseFloat(outlineWidth)
    const { top, left, right, bottom } = outlined.getBoundingClientRect()
    const cut = { top: false, left: false, right: false, bottom: false }
    for (let around = parentOf(outlined); around !== null; around = parentOf(around)) {
      if (getComputedStyle(around).overflow === 'visible') continue
      const box = around.getBoundingClientRect()
      if (top - reach < box.top - 0.5) cut.top = true
      if (left - reach < box.left - 0.5) cut.left = true
      if (right + reach > box.right + 0.5) cut.right = true
      if (bottom + reach > box.bottom + 0.5) cut.bottom = true
    }
    isSeen = !(cut.top && cut.bottom) && !(cut.left && cut.right)
  }
  // A row that appeared as the list was walked.
  if (!window.stops.includes(active) && active.closest('.virtual') !== null) window.stops.push(active)
  return { index: window.stops.indexOf(active), isSeen, name: active.outerHTML.slice(0, 160) }
})()`

interface Focus {
  index: number
  isSeen: boolean
  name: string
}

/** An editor draws its outline a moment after it has the focus. */
async function lookUntilSeen(page: Page): Promise<Focus | null> {
  let at: Focus | null = null
  for (let look = 0; look < LOOKS_MAX; look += 1) {
    if (look > 0) await page.waitForTimeout(50)
    at = (await page.evaluate(LOOK)) as Focus | null
    if (at === null || at.isSeen) return at
  }
  return at
}

interface Stop {
  name: string
  top: number
  left: number
  right: number
  bottom: number
}

/** Walks a screen with the Tab key, from the skip link to its end. @returns what is not reached, reached twice, out of order, or has a focus that cannot be seen */
export async function findKeyboardProblems(page: Page): Promise<string[]> {
  await page.evaluate('document.activeElement.blur(); getSelection().removeAllRanges()')
  await page.keyboard.press('Tab')
  const problems: string[] = []
  if ((await page.evaluate('document.activeElement.classList.contains("skip")')) !== true) problems.push('the skip link is not the first stop')
  await page.keyboard.press('Enter')
  if ((await page.evaluate('document.activeElement.closest("main") === null')) === true) problems.push('the skip link does not lead to the content')
  const stops = (await page.evaluate(COLLECT)) as Stop[]
  const reached: number[] = []
  for (let count = 0; count < STOPS_MAX; count += 1) {
    await page.keyboard.press('Tab')
    const at = await lookUntilSeen(page)
    if (at === null) break
    if (!at.isSeen) problems.push(`the focus cannot be seen: ${at.name}`)
    if (at.index < 0) problems.push(`a stop that is nothing to use: ${at.name}`)
    else reached.push(at.index)
  }
  stops.forEach(({ name }, index) => {
    if (!reached.includes(index)) problems.push(`not reached: ${name}`)
  })
  if (new Set(reached).size < reached.length) problems.push('some are reached twice')
  reached.forEach((index, place) => {
    const [before, stop] = [stops[reached[place - 1] ?? index], stops[index]]
    // What comes next stands to the right or below, also in the next column.
    if (before !== undefined && stop !== undefined && stop.bottom <= before.top && stop.left < before.right)
      problems.push(`above the stop before it: ${stop.name}`)
  })
  return problems
}
