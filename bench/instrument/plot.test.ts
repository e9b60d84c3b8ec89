import { expect, it } from 'vitest'
import { plot } from './plot.ts'

it('draws each curve over decades, and growth by log n as a straight line', () => {
  const points = [10, 100, 1_000].map((size) => ({ size, cost: Math.log10(size) }))
  const svg = plot('Pages & more', 'rows', 'pages', [
    { name: 'GET <one>', points },
    { name: 'POST', points: points.slice(1) },
  ])
  const [first, second] = [...svg.matchAll(/<polyline points="([^"]+)"/g)].map(([, text = '']) => text.split(' ').map((pair) => pair.split(',').map(Number)))
  const [[x1 = 0, y1 = 0] = [], [x2 = 0, y2 = 0] = [], [x3 = 0, y3 = 0] = []] = first ?? []
  expect((y1 - y2) / (x2 - x1)).toBeCloseTo((y2 - y3) / (x3 - x2), 2)
  expect(second).toHaveLength(2)
  expect(svg).toContain('Pages &amp; more (pages)')
  expect(svg).toContain('GET &lt;one&gt;')
})
