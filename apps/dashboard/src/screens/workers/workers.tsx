import type { DrainMode, OutputOf } from '@muster/client'
import { queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Badge } from '../../design/badge.tsx'
import { curlLine, Empty } from '../../design/empty.tsx'
import { Loaded } from '../../design/loaded.tsx'
import { Page, Panel } from '../../design/panel.tsx'
import { Popup } from '../../design/popup.tsx'
import { TableScroll } from '../../design/table-scroll.tsx'
import { Time } from '../../design/time.tsx'
import { showError } from '../../design/toasts.tsx'
import { muster } from '../../muster.ts'
import { runnersQuery } from './queries.ts'

/** A worker as the server lists it; `Worker` of the client is another thing: it works. */
type Worker = OutputOf<'listWorkers'>['items'][number]

/** Workers write no events: their heartbeats are read again this often while the screen is open. */
const READ_MS = 5_000

const workersQuery = queryOptions({ queryKey: ['workers'], queryFn: () => muster.call('listWorkers', {}), refetchInterval: READ_MS })
const readinessQuery = queryOptions({ queryKey: ['readiness'], queryFn: () => muster.server.readiness(), refetchInterval: READ_MS })

/** The processes that execute subtasks, and what they can execute. */
export function Workers() {
  const workers = useQuery(workersQuery)
  const readiness = useQuery(readinessQuery)
  const runners = useQuery(runnersQuery)
  return (
    <Page title="Workers" actions={readiness.data !== undefined && <Badge status={readiness.data.status} />}>
      <div className="stack">
        <Panel title="Workers" count={workers.data?.items.length} isFlush>
          <Loaded query={workers}>{({ items }) => (items.length === 0 ? <NoWorkers /> : <WorkerTable workers={items} />)}</Loaded>
        </Panel>
        <Panel title="Runners" isFlush>
          <Loaded query={runners}>
            {({ items }) => (
              <ul className="list">
                {items.map((runner) => (
                  <li key={runner.name}>
                    <Badge status={runner.available ? 'ready' : 'not available'} />
                    <span>{runner.name}</span>
                    <span className="hint grow">{runner.default ? 'the default' : runner.missing.join(' ')}</span>
                  </li>
                ))}
              </ul>
            )}
          </Loaded>
        </Panel>
      </div>
    </Page>
  )
}

function NoWorkers() {
  return (
    <Empty
      curl={curlLine('/subtasks/claim', { runner: 'external', worker_id: 'me', lease_seconds: 60 })}
      sdk={`muster.worker('external', async (run) => ({ result: \`Done: \${run.subtask.task}\` }))`}
    >
      No worker process runs: subtasks wait until one starts, with <code>npm start</code> for example. A program of your own can take those of the runner{' '}
      <code>external</code>:
    </Empty>
  )
}

function WorkerTable({ workers }: { workers: Worker[] }) {
  return (
    <TableScroll label="Workers">
      <table>
        <thead>
          <tr>
            {['State', 'Worker', 'Version', 'Running', 'Runners', 'Heartbeat', 'Started'].map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
            <th scope="col">
              <span className="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {workers.map((worker) => (
            <tr key={worker.id}>
              <td>
                <Badge status={worker.state} />
              </td>
              <td>
                {worker.host ?? '–'} <span className="hint">{worker.pid}</span>
                <br />
                <code className="hint">{worker.id}</code>
              </td>
              <td>{worker.version ?? '–'}</td>
              <td>
                {worker.running} of {worker.capacity}
              </td>
              <td style={{ minWidth: '12rem' }}>{worker.runners.join(', ')}</td>
              <td>
                <Time at={worker.heartbeat_at} />
              </td>
              <td>
                <Time at={worker.started_at} />
              </td>
              <td>{worker.drain === null && <Drain worker={worker} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableScroll>
  )
}

/** Has a worker take no more work. Its process stays until it is stopped. */
function Drain({ worker }: { worker: Worker }) {
  const client = useQueryClient()
  const draining = useMutation({
    mutationFn: (runs: DrainMode) => muster.workers.drain(worker.id, { runs }),
    onSettled: () => client.invalidateQueries(workersQuery),
    onError: showError,
  })
  return (
    <Popup
      trigger="Drain"
      title="Have this worker take no more work"
      submit="Let its runs finish"
      onSubmit={() => draining.mutate('finish')}
      other={{ label: 'Give its runs back', onChoose: () => draining.mutate('release') }}
    >
      <p>
        It runs {worker.running} of at most {worker.capacity}. A run that is given back begins again elsewhere, as another attempt that is no failure. A drained
        worker never takes work again: start another process in its place.
      </p>
    </Popup>
  )
}
