import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useDeferredValue, useState } from 'react'
import { Badge } from '../../design/badge.tsx'
import { curlLine, Empty } from '../../design/empty.tsx'
import { Loaded } from '../../design/loaded.tsx'
import { Page, Panel } from '../../design/panel.tsx'
import { Time } from '../../design/time.tsx'
import { muster } from '../../muster.ts'

const route = getRouteApi('/memory')

/** Facts that agents keep, and ended subtasks, found by their words. */
export function Memory() {
  const { q: given = '' } = route.useSearch()
  // The address follows the field, not the other way round: it changes a moment later, and letters typed meanwhile would be lost.
  const [words, setWords] = useState(given)
  const navigate = useNavigate()
  const change = (next: string) => {
    setWords(next)
    void navigate({ to: '/memory', search: next === '' ? {} : { q: next }, replace: true })
  }
  const q = useDeferredValue(words.trim())
  const query = useQuery({
    queryKey: ['memory', 'search', q],
    queryFn: ({ signal }) => muster.memory.search({ q, limit: 50 }, { signal }),
    enabled: q !== '',
    placeholderData: (before) => before,
  })
  return (
    <Page title="Memory">
      <div className="stack">
        <input
          className="input"
          type="search"
          aria-label="Words"
          placeholder="Words of facts and ended work"
          value={words}
          onChange={(event) => change(event.target.value)}
        />
        {q === '' ? (
          <Panel title="Search">
            <Empty
              curl={curlLine('/memory/facts', { content: 'The staging database is read-only.', tags: ['staging'] })}
              sdk={`await muster.memory.learn({ content: 'The staging database is read-only.', tags: ['staging'] })`}
            >
              Runs remember facts, and Muster remembers what each run came to.
            </Empty>
          </Panel>
        ) : (
          <Loaded query={query}>
            {({ items }) => (
              <Panel title="Best first" count={items.length} isFlush>
                <ul className="list">
                  {items.map((item) => (
                    <li key={item.id}>
                      <Badge status={item.kind} />
                      {item.kind === 'fact' ? (
                        <span className="grow">{item.content}</span>
                      ) : (
                        <Link className="grow" to="/subtasks/$id" params={{ id: item.id }}>
                          {item.task}
                          {item.summary !== null && <span className="hint"> {item.summary.slice(0, 200)}</span>}
                        </Link>
                      )}
                      {item.tags.map((tag) => (
                        <code key={tag}>{tag}</code>
                      ))}
                      <Time at={item.created_at} />
                    </li>
                  ))}
                </ul>
                {items.length === 0 && <p className="empty">Nothing has these words.</p>}
              </Panel>
            )}
          </Loaded>
        )}
      </div>
    </Page>
  )
}
