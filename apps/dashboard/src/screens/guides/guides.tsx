import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Badge } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { curlLine, Empty } from '../../design/empty.tsx'
import { Expandable } from '../../design/expandable.tsx'
import { Loaded } from '../../design/loaded.tsx'
import { Markdown } from '../../design/markdown.tsx'
import { Facts, Page, Panel } from '../../design/panel.tsx'
import { showError } from '../../design/toasts.tsx'
import { muster } from '../../muster.ts'
import { NewGuide } from './new-guide.tsx'
import { guideQuery, guidesQuery } from './queries.ts'

const route = getRouteApi('/guides')

/** Troubleshooting guides, and whether they help. */
export function Guides() {
  const { q = '' } = route.useSearch()
  // The address follows the field, not the other way round: it changes a moment later, and letters typed meanwhile would be lost.
  const [words, setWords] = useState(q)
  const navigate = useNavigate()
  const change = (next: string) => {
    setWords(next)
    void navigate({ to: '/guides', search: next === '' ? {} : { q: next }, replace: true })
  }
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
          onChange={(event) => change(event.target.value)}
        />
        <NewGuide />
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
          <Feedback id={id} />
          <Markdown text={guide.content} />
        </div>
      )}
    </Loaded>
  )
}

/** What a person knows of it. Agents report the same through the API. */
function Feedback({ id }: { id: string }) {
  const client = useQueryClient()
  const reporting = useMutation({
    mutationFn: (resolved: boolean) => muster.guides.feedback(id, { resolved }),
    onSuccess: () => client.invalidateQueries(guideQuery(id)),
    onError: showError,
  })
  return (
    <div className="row">
      <Button onClick={() => reporting.mutate(true)}>It helped</Button>
      <Button onClick={() => reporting.mutate(false)}>It did not help</Button>
    </div>
  )
}
