import type { Criterion, Task, TaskCheckIn } from '@muster/client'
import { useQuery } from '@tanstack/react-query'
import { Badge } from '../../design/badge.tsx'
import { Loaded } from '../../design/loaded.tsx'
import { Panel } from '../../design/panel.tsx'
import { TableScroll } from '../../design/table-scroll.tsx'
import { Time } from '../../design/time.tsx'
import { taskCheckInsQuery } from './queries.ts'

/** What assignees said of each criterion, check-in by check-in, and of which revision they spoke. */
export function CheckInMatrix({ task }: { task: Task }) {
  const query = useQuery(taskCheckInsQuery(task.id))
  return (
    <Panel title="Check-ins" count={query.data?.length} isFlush>
      <Loaded query={query}>
        {(checkIns) =>
          checkIns.length === 0 ? (
            <p className="empty">The assignee has not reported on the criteria yet.</p>
          ) : (
            <Matrix criteria={task.acceptance_criteria} checkIns={[...checkIns].reverse()} />
          )
        }
      </Loaded>
    </Panel>
  )
}

function Matrix({ criteria, checkIns }: { criteria: Criterion[]; checkIns: TaskCheckIn[] }) {
  const revisions = [...Map.groupBy(checkIns, ({ revision }) => revision)]
  const rows = rowsOf(criteria, checkIns)
  return (
    <TableScroll label="Check-ins by criterion and revision">
      <table className="matrix">
        <thead>
          <tr>
            <th scope="col" rowSpan={2}>
              Criterion
            </th>
            {revisions.map(([revision, said]) => (
              <th key={revision} scope="colgroup" colSpan={said.length}>
                Revision {revision}
              </th>
            ))}
          </tr>
          <tr>
            {revisions.flatMap(([, said]) =>
              said.map((checkIn) => (
                <th key={checkIn.id} scope="col">
                  <Time at={checkIn.created_at} />
                </th>
              )),
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ id, text, isCurrent }) => (
            <tr key={id}>
              <th scope="row">
                {text} {!isCurrent && <span className="hint">no longer asked for</span>}
              </th>
              {revisions.flatMap(([, said]) => said.map((checkIn) => <Cell key={checkIn.id} checkIn={checkIn} criterionId={id} />))}
            </tr>
          ))}
        </tbody>
      </table>
    </TableScroll>
  )
}

function Cell({ checkIn, criterionId }: { checkIn: TaskCheckIn; criterionId: string }) {
  const said = checkIn.criteria.find(({ id }) => id === criterionId)
  if (said === undefined) return <td className="meta">–</td>
  return (
    <td>
      <Badge status={said.state} />
      {said.note !== '' && said.note !== said.text && <p className="hint">{said.note}</p>}
    </td>
  )
}

/** The criteria of now, then those that were reported on and have gone since. */
function rowsOf(criteria: readonly Criterion[], checkIns: readonly TaskCheckIn[]) {
  const rows = new Map(criteria.map(({ id, text }) => [id, { id, text, isCurrent: true }]))
  for (const { id, text } of checkIns.flatMap((checkIn) => checkIn.criteria)) if (!rows.has(id)) rows.set(id, { id, text, isCurrent: false })
  return [...rows.values()]
}
