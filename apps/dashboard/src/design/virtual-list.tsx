import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useCallback, useEffect, useMemo, useRef } from 'react'

interface VirtualListProps<Item> {
  label: string
  items: readonly Item[]
  /** Of an item, the same as long as it is listed. Numbers are faster. */
  idOf: (item: Item) => string | number
  children: (item: Item) => ReactNode
  /** Height of most rows, in pixels. Rows of another height are measured. */
  rowPx?: number
  /** Called when the end comes into view. */
  onEnd?: () => void
  /** A row that a person asked for: it is brought into view once, as soon as it is there. */
  focusOn?: string | number | undefined
  /** Keeps the newest row, the last one, in view as long as a person has not scrolled up. */
  followsEnd?: boolean
}

/** A list of any length in a region that scrolls: only the visible rows exist. */
export function VirtualList<Item>({ label, items, idOf, children, rowPx = 40, onEnd, focusOn, followsEnd = false }: VirtualListProps<Item>) {
  const region = useRef<HTMLDivElement>(null)
  const isAtEnd = useRef(followsEnd && focusOn === undefined)
  // Another function makes the virtualizer lay out all rows anew, and a list may have a hundred thousand.
  const getItemKey = useCallback((index: number) => idOf(items[index] as Item), [items, idOf])
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => region.current,
    estimateSize: () => rowPx,
    getItemKey,
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
  const focusAt = useMemo(() => (focusOn === undefined ? -1 : items.findIndex((item) => idOf(item) === focusOn)), [focusOn, items, idOf])
  const hasFocus = focusAt >= 0
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows that arrive later must not bring a person back who has scrolled on.
  useEffect(() => {
    if (!hasFocus) return
    isAtEnd.current = false
    rows.scrollToIndex(focusAt, { align: 'center' })
  }, [focusOn, hasFocus])
  const noteEnd = () => {
    const element = region.current
    if (element !== null) isAtEnd.current = element.scrollHeight - element.scrollTop - element.clientHeight < 2 * rowPx
  }
  const height = `min(${rows.getTotalSize()}px, calc(100vh - 13rem))`
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable by keyboard.
    <section className="virtual" style={{ height }} ref={region} onScroll={noteEnd} aria-label={label} tabIndex={0}>
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
