/** One curve: a cost at each size. */
export interface Curve {
  name: string
  points: readonly { size: number; cost: number }[]
}

const WIDTH = 720
const HEIGHT = 320
const LEFT = 60
const RIGHT = 190
const TOP = 36
const BOTTOM = 44
const COLOURS = ['#1f6feb', '#d1242f', '#1a7f37', '#9a6700', '#8250df', '#bf3989']

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

/** How many, as an axis says it: 10k, 1M. */
function short(value: number): string {
  if (value >= 1_000_000) return `${value / 1_000_000}M`
  if (value >= 10_000) return `${value / 1_000}k`
  return value >= 10 ? value.toFixed(0) : String(Number(value.toPrecision(2)))
}

/** Draws curves over sizes in decades as SVG: a straight line is the growth of log n, a curve that bends upwards grows faster. */
export function plot(title: string, axis: string, unit: string, curves: readonly Curve[]): string {
  const all = curves.flatMap(({ points }) => points)
  const sizes = [...new Set(all.map(({ size }) => size))].sort((one, other) => one - other)
  const [first = 1, last = 10] = [sizes[0], sizes.at(-1)]
  const top = Math.max(...all.map(({ cost }) => cost), Number.MIN_VALUE) * 1.1
  const x = (size: number) => LEFT + ((Math.log(size) - Math.log(first)) / Math.max(Math.log(last) - Math.log(first), 1e-9)) * (WIDTH - LEFT - RIGHT)
  const y = (cost: number) => HEIGHT - BOTTOM - (cost / top) * (HEIGHT - TOP - BOTTOM)
  const text = (at: number, down: number, words: string, more = '') => `<text x="${at.toFixed(1)}" y="${down.toFixed(1)}" ${more}>${escaped(words)}</text>`
  const lines = [0, 0.25, 0.5, 0.75, 1].map((part) => {
    const down = y(top * part)
    const line = `<line x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${down.toFixed(1)}" y2="${down.toFixed(1)}" stroke="#d0d7de"/>`
    return `${line}${text(LEFT - 6, down + 4, short(top * part), 'text-anchor="end"')}`
  })
  const marks = sizes.map((size) => text(x(size), HEIGHT - BOTTOM + 16, short(size), 'text-anchor="middle"'))
  const drawn = curves.map(({ name, points }, index) => {
    const colour = COLOURS[index % COLOURS.length]
    const path = points.map(({ size, cost }) => `${x(size).toFixed(1)},${y(cost).toFixed(1)}`).join(' ')
    const dots = points.map(({ size, cost }) => `<circle cx="${x(size).toFixed(1)}" cy="${y(cost).toFixed(1)}" r="3" fill="${colour}"/>`).join('')
    return `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="2"/>${dots}${text(WIDTH - RIGHT + 14, TOP + 14 + index * 18, name, `fill="${colour}"`)}`
  })
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="11" fill="#1f2328">`,
    `<rect width="100%" height="100%" fill="#fff"/>${text(LEFT, 20, `${title} (${unit})`, 'font-size="13" font-weight="bold"')}`,
    ...lines,
    ...marks,
    text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, axis, 'text-anchor="middle"'),
    ...drawn,
  ].join('\n')}\n</svg>\n`
}
