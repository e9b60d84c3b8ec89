import { CodeBlock } from './code-block.tsx'

/** A value as JSON, cut where it is very long. */
export function JsonBlock({ value, label }: { value: unknown; label: string }) {
  const text = JSON.stringify(value, null, 2) ?? 'undefined'
  return (
    <figure className="stack" style={{ margin: 0, gap: 'var(--space-1)' }}>
      <figcaption className="hint">{label}</figcaption>
      <CodeBlock text={text.length > 100_000 ? `${text.slice(0, 100_000)}\n… cut` : text} />
    </figure>
  )
}
