import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useEffect, useRef } from 'react'

interface VirtualListProps<Item> {
  label: string
  items: readonly Item[]
  idOf: (item: Item) => string
  children: (item: Item) => ReactNode
  /** Height of most rows, in pixels. Rows of another height are measured. */
  rowPx?: number
  /** Called when the end comes into view. */
  onEnd?: () => void
  /** Keeps the newest row, the last one, in view as long as a person has not scrolled up. */
  followsEnd?: boolean
}

/** A list of any length in a region that scrolls: only the visible rows exist. */
export function VirtualList<Item>({ label, items, idOf, children, rowPx = 40, onEnd, followsEnd = false }: VirtualListProps<Item>) {
  const region = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(followsEnd)
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => region.current,
    estimateSize: () => rowPx,
    getItemKey: (index) => idOf(items[index] as Item),
    overscan: 12,
  })
  const visible = rows.getVirtualItems()
  const lastVisible = visible.at(-1)?.index ?? -1
  useEffect(() => {
    if (lastVisible >= items.length - 20) onEnd?.()
  }, [lastVisible, items.length, onEnd])
  useEffect(() => {
    if (followsEnd && isAtEnd.current && items.length > 0) rows.scrollToIndex(items.length - 1, { align: 'end' })
  }, [followsEnd, items.length, rows])
  const noteEnd = () => {
    const element = region.current
    if (element !== null) isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < 2 * rowPx
  }
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard.
    <section className="virtual" ref={region} onScroll={noteEnd} aria-label={label} tabIndex={0}>
      <ul className="virtual-rows" style={{ height: rows.getTotalSize() }}>
        {visible.map((row) => (
          <li key={row.key} data-index={row.index} ref={rows.measureElement} style={{ transform: `translateY(${row.start}px)` }}>
            {children(items[row.index] as Item)}
          </li>
        ))}
      </ul>
    </section>
  )
}
