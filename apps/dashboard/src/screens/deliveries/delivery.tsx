import type { EventDelivery } from '@muster/client'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Badge } from '../../design/badge.tsx'
import { Button } from '../../design/button.tsx'
import { CodeBlock } from '../../design/code-block.tsx'
import { Loaded } from '../../design/loaded.tsx'
import { Facts, Page, Panel } from '../../design/panel.tsx'
import { duration, Time } from '../../design/time.tsx'
import { showError, toasts } from '../../design/toasts.tsx'
import { keys } from '../../live/refresh.ts'
import { muster } from '../../muster.ts'
import { SubjectLink } from '../events/subject-link.tsx'
import { deliveryQuery } from './queries.ts'

const route = getRouteApi('/deliveries/$id')

/** One delivery: to whom, each attempt with its answer, and the bytes that were sent. */
export function DeliveryScreen() {
  const { id } = route.useParams()
  return <Loaded query={useQuery(deliveryQuery(id))}>{(delivery) => <Details delivery={delivery} />}</Loaded>
}

function Details({ delivery }: { delivery: EventDelivery }) {
  const { receiver, subject } = delivery
  const title = (
    <span className="row">
      <Badge status={delivery.status} />
      {delivery.type} to a {receiver.kind}
    </span>
  )
  return (
    <Page title={title} actions={<SendAgain id={delivery.id} />}>
      <div className="columns">
        <div className="stack">
          <Attempts delivery={delivery} />
          <Panel title="Body">
            <CodeBlock text={delivery.body} />
          </Panel>
        </div>
        <aside className="stack" aria-label="About this delivery">
          <Panel title="About">
            <Facts
              of={{
                Receiver: (
                  <Link to="/deliveries" search={{ receiver_id: receiver.id }}>
                    {receiver.kind} {receiver.id.slice(-6)}
                  </Link>
                ),
                Subject: subject === null ? 'none: a test' : <SubjectLink subject={subject} />,
                Event: delivery.event_id ?? undefined,
                Created: <Time at={delivery.created_at} />,
                'Next attempt': delivery.next_attempt_at === null ? undefined : <Time at={delivery.next_attempt_at} />,
                Ended: delivery.ended_at === null ? undefined : <Time at={delivery.ended_at} />,
                'Ended because': delivery.ended_reason ?? undefined,
                Id: <code>{delivery.id}</code>,
              }}
            />
          </Panel>
        </aside>
      </div>
    </Page>
  )
}

function Attempts({ delivery: { attempts } }: { delivery: EventDelivery }) {
  return (
    <Panel title="Attempts" count={attempts.length} isFlush>
      {attempts.length === 0 ? (
        <p className="empty">It has not been tried yet.</p>
      ) : (
        <ol className="list" aria-label="Attempts">
          {attempts.map(({ at, status, latency_ms, error, response }) => (
            <li key={at} className="attempt">
              <p className="attempt-head">
                {status === null ? 'No answer' : `Answered ${status}`}
                <span className="hint grow">{status === null && error}</span>
                <span className="meta">{duration(latency_ms)}</span>
                <Time at={at} exact />
              </p>
              {response !== null && <CodeBlock text={response} />}
            </li>
          ))}
        </ol>
      )}
    </Panel>
  )
}

/** The same bytes with the same id: a receiver that had them already can tell. */
function SendAgain({ id }: { id: string }) {
  const client = useQueryClient()
  const sending = useMutation({
    mutationFn: () => muster.deliveries.redeliver(id),
    onSuccess: (delivery) => {
      client.setQueryData(deliveryQuery(id).queryKey, delivery)
      void client.invalidateQueries({ queryKey: keys.list('delivery') })
      toasts.add({ title: 'It is sent again.' })
    },
    onError: showError,
  })
  return (
    <Button disabled={sending.isPending} onClick={() => sending.mutate()}>
      Send again
    </Button>
  )
}
