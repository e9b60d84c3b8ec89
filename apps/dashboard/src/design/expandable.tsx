import { type ReactNode, useState } from 'react'

/** A row that opens. What is inside exists, and is read, only while it is open. */
export function Expandable({ summary, children }: { summary: ReactNode; children: ReactNode }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <details className="panel" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="panel-head">{summary}</summary>
      {isOpen && <div className="panel-body">{children}</div>}
    </details>
  )
}
