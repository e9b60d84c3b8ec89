import type { List } from '@muster/client'
import { type QueryKey, type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query'
import { useCallback, useState } from 'react'

/** Pages that are read again when an event may have changed the list. What is below changes only where a row reads itself again. */
const FRESH_PAGES = 2

interface Loaded<Item> {
  items: Item[]
  cursor: string | null
}

export interface GrowingList<Item> {
  query: UseQueryResult<Loaded<Item>>
  items: Item[]
  hasMore: boolean
  isLoadingMore: boolean
  /** Reads the next page. Does nothing at the end, or while a page is being read. */
  loadMore(): void
}

/** A list, newest first, that grows at its end as a person scrolls and at its head as events arrive. */
export function useGrowingList<Item>(
  queryKey: QueryKey,
  list: () => List<Item>,
  idOf: (item: Item) => string,
  /** For what changes without an event: when to read the list again, in milliseconds from now; false to wait for events. */
  readAgainMs: (items: readonly Item[]) => number | false = () => false,
): GrowingList<Item> {
  const client = useQueryClient()
  const [isLoadingMore, setLoadingMore] = useState(false)
  const query = useQuery<Loaded<Item>>({
    queryKey,
    queryFn: () => readHead(list(), client.getQueryData<Loaded<Item>>(queryKey), idOf),
    // Comparing a hundred thousand rows with those before takes longer than showing the few that are visible.
    structuralSharing: false,
    refetchInterval: ({ state: { data } }) => readAgainMs(data?.items ?? []),
  })
  const cursor = query.data?.cursor ?? null
  const loadMore = useCallback(async () => {
    if (cursor === null) return
    setLoadingMore(true)
    try {
      const page = await list().page(cursor)
      client.setQueryData<Loaded<Item>>(queryKey, (loaded) => {
        if (loaded === undefined || loaded.cursor !== cursor) return loaded
        const last = loaded.items.at(-1)
        const older = last === undefined ? page.items : page.items.filter((item) => idOf(item) < idOf(last))
        return { items: [...loaded.items, ...older], cursor: page.next_cursor }
      })
    } finally {
      setLoadingMore(false)
    }
  }, [client, cursor, idOf, list, queryKey])
  return {
    query,
    items: query.data?.items ?? [],
    hasMore: cursor !== null,
    isLoadingMore,
    loadMore: () => {
      if (!isLoadingMore) void loadMore()
    },
  }
}

/** The newest pages, followed by what was loaded below them. */
async function readHead<Item>(list: List<Item>, before: Loaded<Item> | undefined, idOf: (item: Item) => string): Promise<Loaded<Item>> {
  const head: Item[] = []
  let cursor: string | null | undefined
  for (let pages = 0; pages < FRESH_PAGES && cursor !== null; pages += 1) {
    const page = await list.page(cursor)
    head.push(...page.items)
    cursor = page.next_cursor
    if (before === undefined || head.length >= before.items.length) break
  }
  const last = head.at(-1)
  if (before === undefined || last === undefined || cursor === null) return { items: head, cursor: cursor ?? null }
  // Ids grow with time, so that what is older than the head is what was below it.
  const below = before.items.slice(firstOlder(before.items, idOf(last), idOf))
  if (below.length === 0) return { items: head, cursor: cursor ?? null }
  return { items: [...head, ...below], cursor: before.cursor }
}

/** The place of the first item that is older than an id, in a list with the newest first. */
function firstOlder<Item>(items: readonly Item[], id: string, idOf: (item: Item) => string): number {
  let [from, to] = [0, items.length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (idOf(items[middle] as Item) < id) to = middle
    else from = middle + 1
  }
  return from
}
