import { useRouterState } from '@tanstack/react-router'
import { type RefObject, useEffect, useRef } from 'react'

const INTERACTIVE = 'a, button, input, select, textarea, summary, label'

/** After a person went to another screen, the focus is at its heading, and not where a link used to be. */
export function useFocusOfScreen(main: RefObject<HTMLElement | null>): void {
  const path = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname })
  const shown = useRef<string>(undefined)
  useEffect(() => {
    if (path === undefined || path === shown.current) return
    const isFirst = shown.current === undefined
    shown.current = path
    // What is read first when a page is loaded is for the browser to say.
    if (!isFirst) focusScreen(main.current)
  }, [path, main])
}

/** The heading, or the place where it will be: a screen whose content is on its way takes the focus from there. */
export function focusScreen(main: HTMLElement | null): void {
  const place = main?.querySelector<HTMLElement>('h1') ?? main
  place?.focus({ preventScroll: true })
}

/**
 * When the element that has the focus is removed, such as a row that was deleted, the focus goes to what has taken its place, or to what it was in. Left alone it would
 * go to the beginning of the page. Never to a button: a person who pressed Enter twice would press it.
 *
 * @returns ends it
 */
export function keepFocus(main: HTMLElement): () => void {
  let last: Element | null = null
  const onFocus = ({ target }: FocusEvent) => {
    last = target as Element
  }
  const onBlur = () => {
    // Left on purpose, and not because it was removed.
    queueMicrotask(() => {
      if (document.activeElement === document.body && last?.isConnected === true) last = null
    })
  }
  const onChange = (records: MutationRecord[]) => {
    if (last === null || last.isConnected || document.activeElement !== document.body) return
    const lost = last
    const record = records.find(({ removedNodes }) => [...removedNodes].some((node) => node.contains(lost)))
    last = null
    const places = record === undefined ? [] : [record.nextSibling, record.previousSibling, record.target]
    const place = places.find((node) => node instanceof HTMLElement && main.contains(node) && !node.matches(INTERACTIVE)) as HTMLElement | undefined
    // Rows of a long list go when they are out of sight: the focus stays with the list.
    const found = place?.closest<HTMLElement>('.virtual') ?? place ?? main
    if (!found.hasAttribute('tabindex')) found.tabIndex = -1
    found.focus({ preventScroll: true })
  }
  const observer = new MutationObserver(onChange)
  observer.observe(document.body, { childList: true, subtree: true })
  document.addEventListener('focusin', onFocus)
  document.addEventListener('focusout', onBlur)
  return () => {
    observer.disconnect()
    document.removeEventListener('focusin', onFocus)
    document.removeEventListener('focusout', onBlur)
  }
}
