import { useEffect, useRef } from 'react'
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { useTheme } from './theme.ts'

const HEIGHT = 220

interface ChartProps {
  /** In seconds, ascending. */
  times: number[]
  series: { label: string; values: (number | null)[] }[]
  /** The series measure the same, and share one axis. */
  isOneScale?: boolean
}

/** Lines over time. The same figures stand in a table beside it, for those who cannot see it. */
export default function Chart({ times, series, isOneScale = false }: ChartProps) {
  const place = useRef<HTMLDivElement>(null)
  const theme = useTheme()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the colours are read from the theme.
  useEffect(() => {
    const element = place.current
    if (element === null) return
    const colors = ['--accent', '--green', '--amber', '--blue'].map((name) => colorOf(element, name))
    const axis = { stroke: colorOf(element, '--text-3'), grid: { stroke: colorOf(element, '--line'), width: 1 } }
    const scaleOf = (label: string) => (isOneScale ? 'y' : label)
    const scales = isOneScale ? ['y'] : series.map(({ label }) => label)
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        series: [
          {},
          ...series.map(({ label }, index) => ({ label, stroke: colors[index % colors.length], width: 2, scale: scaleOf(label), points: { show: true } })),
        ],
        axes: [axis, ...scales.map((scale, index) => ({ ...axis, scale, side: index === 0 ? 3 : 1, grid: { show: index === 0, ...axis.grid } }))],
      } as uPlot.Options,
      [times, ...series.map(({ values }) => values)] as uPlot.AlignedData,
      element,
    )
    const resized = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT }))
    resized.observe(element)
    return () => {
      resized.disconnect()
      plot.destroy()
    }
  }, [times, series, isOneScale, theme])
  return <div ref={place} aria-hidden="true" />
}

/** A colour of the design system, as a canvas takes it: of the two that a token has, the one that the theme chooses. */
function colorOf(element: HTMLElement, token: string): string {
  element.style.color = `var(${token})`
  const { color } = getComputedStyle(element)
  element.style.color = ''
  return color
}
