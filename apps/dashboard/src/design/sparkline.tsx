const WIDTH = 240
const HEIGHT = 40

/** A row of bars, one for each value, with its meaning in words. */
export function Sparkline({ label, values }: { label: string; values: readonly number[] }) {
  const most = Math.max(...values, 0)
  const step = WIDTH / values.length
  return (
    <figure className="plain">
      <figcaption className="hint">{label}</figcaption>
      <svg className="sparkline" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {values.map((value, index) => {
          const height = most === 0 ? 0 : (value / most) * (HEIGHT - 2)
          // biome-ignore lint/suspicious/noArrayIndexKey: a bar is its place.
          return <rect key={index} x={index * step} y={HEIGHT - height - 1} width={step * 0.72} height={height + 1} fill="currentColor" />
        })}
      </svg>
    </figure>
  )
}
