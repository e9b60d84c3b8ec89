import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Badge } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { Loaded } from '../../design/loaded.tsx'
import { duration, Time } from '../../design/time.tsx'
import { showError } from '../../design/toasts.tsx'
import { muster } from '../../muster.ts'

/** Attempts write no events: the log is read again this often while it is open. */
const READ_MS = 3_000

const deliveriesQuery = (id: string) =>
  queryOptions({
    queryKey: ['webhooks', id, 'deliveries'],
    queryFn: () => muster.call('listWebhookDeliveries', { path: { id }, query: { limit: 50 } }),
    refetchInterval: READ_MS,
  })

/** The newest deliveries of a webhook, each with its last answer. */
export function Deliveries({ webhookId }: { webhookId: string }) {
  const client = useQueryClient()
  const query = useQuery(deliveriesQuery(webhookId))
  const redelivering = useMutation({
    mutationFn: (deliveryId: string) => muster.call('redeliverToWebhook', { path: { id: webhookId, delivery_id: deliveryId } }),
    onSettled: () => client.invalidateQueries(deliveriesQuery(webhookId)),
    onError: showError,
  })
  return (
    <Loaded query={query}>
      {({ items }) =>
        items.length === 0 ? (
          <p className="hint">Nothing has been sent yet.</p>
        ) : (
          <ul className="list">
            {items.map((delivery) => {
              const last = delivery.attempts.at(-1)
              return (
                <li key={delivery.id}>
                  <Badge status={delivery.status} />
                  <span className="grow">
                    {delivery.type} <span className="hint">{last === undefined ? 'not tried yet' : `${last.status ?? last.error ?? ''}`}</span>
                  </span>
                  {last !== undefined && <span className="meta">{duration(last.latency_ms)}</span>}
                  <Time at={delivery.created_at} />
                  <Button onClick={() => redelivering.mutate(delivery.id)}>Send again</Button>
                </li>
              )
            })}
          </ul>
        )
      }
    </Loaded>
  )
}
