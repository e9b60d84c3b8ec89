/** One page of a list. */
export interface Page<Item> {
  items: Item[]
  /** Null on the last page. */
  next_cursor: string | null
}

/** A list of the API, read page by page as it is needed: `for await (const task of muster.tasks.list())`. */
export class List<Item> implements AsyncIterable<Item> {
  readonly #read: (cursor: string | undefined) => Promise<Page<Item>>

  constructor(read: (cursor: string | undefined) => Promise<Page<Item>>) {
    this.#read = read
  }

  /** The first page, or the one after a page, by its `next_cursor`. */
  page(cursor?: string): Promise<Page<Item>> {
    return this.#read(cursor)
  }

  /** All items, or the first `most` of them. */
  async all(most = Number.POSITIVE_INFINITY): Promise<Item[]> {
    const items: Item[] = []
    if (most <= 0) return items
    for await (const item of this) if (items.push(item) >= most) break
    return items
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item> {
    let cursor: string | undefined
    do {
      const page: Page<Item> = await this.page(cursor)
      for (const item of page.items) yield item
      cursor = page.next_cursor ?? undefined
    } while (cursor !== undefined)
  }
}
