import { queryOptions, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { Badge } from '../../design/badge.tsx'
import { curlLine, Empty } from '../../design/empty.tsx'
import { Expandable } from '../../design/expandable.tsx'
import { Loaded } from '../../design/loaded.tsx'
import { Markdown } from '../../design/markdown.tsx'
import { Facts, Page, Panel } from '../../design/panel.tsx'
import { keys } from '../../live/refresh.ts'
import { muster } from '../../muster.ts'

const guidesQuery = (q: string) =>
  queryOptions({ queryKey: keys.list('tsg', q), queryFn: () => muster.guides.list({ limit: 200, ...(q === '' ? {} : { q }) }).all(1_000) })
const guideQuery = (id: string) =>
  queryOptions({ queryKey: keys.one('tsg', id), queryFn: async () => ({ guide: await muster.guides.get(id), usage: await muster.guides.usage(id) }) })

/** Troubleshooting guides, and whether they help. */
export function Guides() {
  const [words, setWords] = useState('')
  const query = useQuery({ ...guidesQuery(words.trim()), placeholderData: (before) => before })
  return (
    <Page title="Guides">
      <div className="stack">
        <input
          className="input"
          type="search"
          aria-label="Words"
          placeholder="Words of a guide"
          value={words}
          onChange={(event) => setWords(event.target.value)}
        />
        <Loaded query={query}>
          {(guides) =>
            guides.length === 0 ? (
              <Panel title="No guides">
                <Empty
                  curl={curlLine('/tsgs', { title: 'Port already in use', content: 'Find the process with `ss -ltnp` …', patterns: ['EADDRINUSE'] })}
                  sdk={`await muster.guides.create({ title: 'Port already in use', content: '…', patterns: ['EADDRINUSE'] })`}
                >
                  A guide is announced to a session once when a failure fits one of its patterns.
                </Empty>
              </Panel>
            ) : (
              guides.map((guide) => (
                <Expandable
                  key={guide.id}
                  summary={
                    <>
                      <Badge status={guide.severity} tone="neutral" />
                      <span className="grow">{guide.title}</span>
                      <code>{guide.patterns[0]}</code>
                    </>
                  }
                >
                  <Guide id={guide.id} />
                </Expandable>
              ))
            )
          }
        </Loaded>
      </div>
    </Page>
  )
}

function Guide({ id }: { id: string }) {
  const query = useQuery(guideQuery(id))
  return (
    <Loaded query={query}>
      {({ guide, usage }) => (
        <div className="stack">
          <Facts
            of={{
              Patterns: guide.patterns.join(', '),
              Announced: `${usage.surfaced} times, read ${usage.read} times`,
              Helped: usage.rate === null ? 'nothing reported yet' : `${usage.resolved} of ${usage.resolved + usage.unresolved}`,
            }}
          />
          <Markdown text={guide.content} />
        </div>
      )}
    </Loaded>
  )
}
