import type { BodyOf, OutputOf } from '@muster/client'
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Badge } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { CodeBlock } from '../../design/code-block.tsx'
import { curlLine, Empty } from '../../design/empty.tsx'
import { Form } from '../../design/form.tsx'
import { Loaded } from '../../design/loaded.tsx'
import { Page, Panel } from '../../design/panel.tsx'
import { showError, toasts } from '../../design/toasts.tsx'
import { muster } from '../../muster.ts'

type Webhook = OutputOf<'listWebhooks'>['items'][number]

const webhooksQuery = queryOptions({ queryKey: ['webhooks', 'list'], queryFn: () => muster.call('listWebhooks', { query: { limit: 200 } }) })

/** Programs that events are pushed to. */
export function Webhooks() {
  const query = useQuery(webhooksQuery)
  return (
    <Page title="Webhooks" actions={<Link to="/deliveries">All deliveries</Link>}>
      <div className="stack">
        <NewWebhook />
        <Loaded query={query}>
          {({ items }) =>
            items.length === 0 ? (
              <Panel title="No webhooks yet">
                <Empty
                  curl={curlLine('/webhooks', { url: 'https://example.com/muster', events: ['subtask.completed', 'subtask.failed'] })}
                  sdk={`await muster.call('createWebhook', { body: { url: 'https://example.com/muster', events: ['subtask.*'] } })`}
                >
                  Each event is sent at least once, signed by the Standard Webhooks specification.
                </Empty>
              </Panel>
            ) : (
              items.map((webhook) => <WebhookCard key={webhook.id} webhook={webhook} />)
            )
          }
        </Loaded>
      </div>
    </Page>
  )
}

function WebhookCard({ webhook }: { webhook: Webhook }) {
  const client = useQueryClient()
  const act = useMutation({
    mutationFn: (action: 'testWebhook' | 'deleteWebhook'): Promise<unknown> => muster.call(action, { path: { id: webhook.id } }),
    onSuccess: (_, action) => toasts.add({ title: action === 'testWebhook' ? 'A test delivery is on its way.' : 'Deleted.' }),
    onSettled: () => client.invalidateQueries({ queryKey: ['webhooks'] }),
    onError: showError,
  })
  const title = (
    <span className="row">
      <Badge status={webhook.status} />
      {webhook.url}
    </span>
  )
  const actions = (
    <>
      <Link className="button" to="/deliveries" search={{ receiver_id: webhook.id }}>
        Deliveries
      </Link>
      <Button onClick={() => act.mutate('testWebhook')}>Test</Button>
      <Button kind="danger" onClick={() => act.mutate('deleteWebhook')}>
        Delete
      </Button>
    </>
  )
  return (
    <Panel title={title} actions={actions}>
      <p className="hint">
        {webhook.description !== null && `${webhook.description}: `}
        {webhook.events.join(', ')} {webhook.disabled_reason !== null && `– disabled: ${webhook.disabled_reason}`}
      </p>
    </Panel>
  )
}

function NewWebhook() {
  const client = useQueryClient()
  const [url, setUrl] = useState('')
  const [events, setEvents] = useState('subtask.completed subtask.failed')
  const creating = useMutation({
    mutationFn: () =>
      muster.call('createWebhook', { body: { url, events: events.split(/[\s,]+/).filter((event) => event !== '') as BodyOf<'createWebhook'>['events'] } }),
    onSuccess: () => {
      setUrl('')
      void client.invalidateQueries({ queryKey: ['webhooks'] })
    },
  })
  return (
    <Panel title="New webhook">
      <div className="stack tight">
        <Form submit="Create webhook" onSubmit={() => creating.mutate()} isPending={creating.isPending} error={creating.error} isTight>
          <div className="row">
            <input
              className="input grow"
              type="url"
              aria-label="URL"
              placeholder="https://…"
              value={url}
              onChange={(event) => setUrl(event.target.value)}
              required
            />
            <input
              className="input grow"
              aria-label="Events"
              placeholder="Events"
              value={events}
              onChange={(event) => setEvents(event.target.value)}
              required
            />
          </div>
        </Form>
        {typeof creating.data?.secret === 'string' && (
          <>
            <p>The secret that signs its deliveries. Copy it now: it is not shown again.</p>
            <CodeBlock text={creating.data.secret} />
          </>
        )}
      </div>
    </Panel>
  )
}
