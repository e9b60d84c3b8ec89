// Put into each page that is measured, before its own scripts. Its clock is performance.now(): milliseconds since the page was asked for.

const interactions = new Map()
new PerformanceObserver((list) => {
  for (const { interactionId, duration } of list.getEntries()) {
    if (interactionId > 0) interactions.set(interactionId, Math.max(duration, interactions.get(interactionId) ?? 0))
  }
}).observe({ type: 'event', buffered: true, durationThreshold: 16 })
let countBefore = 0

const frames = []
let lastFrame = performance.now()
requestAnimationFrame(function onFrame(now) {
  frames.push(now - lastFrame)
  lastFrame = now
  requestAnimationFrame(onFrame)
})

const isThere = (selector, text) => [...document.querySelectorAll(selector)].some((element) => element.textContent.includes(text))

globalThis.watch = {
  /** When something that a selector finds, with a text in it, has been painted. */
  shown: (selector, text = '') =>
    new Promise((resolve, reject) => {
      const untilMs = performance.now() + 30_000
      const look = () => {
        // A timer that follows a frame runs when that frame has been painted.
        if (isThere(selector, text)) setTimeout(() => resolve(performance.now()))
        else if (performance.now() > untilMs)
          reject(new Error(`${selector} with ${text} was not shown within 30 s: ${document.body.textContent.slice(0, 500)}`))
        else requestAnimationFrame(look)
      }
      requestAnimationFrame(look)
    }),

  async loaded(selector, text) {
    const shownMs = await watch.shown(selector, text)
    return { shownMs, firstPaintMs: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? shownMs }
  },

  /** Milliseconds between frames since the last call. */
  takeFrames: () => frames.splice(0),

  /** Milliseconds from each event of a person since the last call to the next paint. The browser does not report those below 16. */
  takeInteractions() {
    const reported = [...interactions.values()]
    const others = performance.interactionCount - countBefore - reported.length
    interactions.clear()
    countBefore = performance.interactionCount
    return [...reported, ...new Array(Math.max(0, others)).fill(16)]
  },

  /** Scrolls a list to its end again and again, until it has so many rows. */
  async readToEnd(rows, rowPx) {
    const region = document.querySelector('.virtual')
    frames.length = 0
    for (let height = 0; region.scrollHeight < rows * rowPx; ) {
      if (region.scrollHeight !== height) {
        height = region.scrollHeight
        region.scrollTop = height
      }
      await new Promise((resolve) => requestAnimationFrame(resolve))
    }
    return { frames: watch.takeFrames(), rows: Math.round(region.scrollHeight / rowPx) }
  },

  /** Milliseconds from the request to cancel to the word on the screen. */
  async cancel(id) {
    const startMs = performance.now()
    const shown = watch.shown('h1 .badge', 'cancelled')
    await fetch(`/subtasks/${id}`, { method: 'DELETE' })
    return (await shown) - startMs
  },
}
