import { type ReactNode, useEffect, useId, useRef } from 'react'

interface PanelProps {
  title: ReactNode
  count?: number | string | undefined
  actions?: ReactNode
  /** Lists and tables fill the panel; anything else keeps a distance. */
  isFlush?: boolean
  children: ReactNode
}

/** A titled part of a screen. */
export function Panel({ title, count, actions, isFlush = false, children }: PanelProps) {
  const id = useId()
  return (
    <section className="panel" aria-labelledby={id}>
      <header className="panel-head">
        <h2 id={id}>{title}</h2>
        {count !== undefined && <span className="count">{count}</span>}
        {actions !== undefined && <div className="actions">{actions}</div>}
      </header>
      {isFlush ? children : <div className="panel-body">{children}</div>}
    </section>
  )
}

/** A screen: its title, its actions, its content. */
export function Page({ title, actions, children }: { title: ReactNode; actions?: ReactNode; children: ReactNode }) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = `${heading.current?.textContent} · Muster`
  })
  useEffect(() => {
    // A person came here before there was anything to read.
    if (document.activeElement?.localName === 'main') heading.current?.focus({ preventScroll: true })
  }, [])
  return (
    <div className="page">
      <header className="page-head">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {actions !== undefined && <div className="actions">{actions}</div>}
      </header>
      {children}
    </div>
  )
}

/** Names and values. Values that are undefined are left out. */
export function Facts({ of }: { of: Record<string, ReactNode> }) {
  return (
    <dl className="facts">
      {Object.entries(of).map(
        ([name, value]) =>
          value !== undefined && (
            <div key={name} style={{ display: 'contents' }}>
              <dt>{name}</dt>
              <dd>{value ?? '–'}</dd>
            </div>
          ),
      )}
    </dl>
  )
}
