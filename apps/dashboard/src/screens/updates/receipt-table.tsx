import type { Update } from '@muster/client'
import { Badge } from '../../design/badge.tsx'
import { TableScroll } from '../../design/table-scroll.tsx'
import { Time } from '../../design/time.tsx'

/** Longer texts are cut: the revisions of a task have them whole. */
const SHOWN = 2_000
const COLUMNS = ['Receipt', 'Update', 'Sent', 'Delivered', 'Acknowledged', 'To']

/** Who was told what, and when it is known to have arrived. */
export function ReceiptTable({ updates }: { updates: Update[] }) {
  return (
    <TableScroll label="Receipts">
      <table>
        <thead>
          <tr>
            {COLUMNS.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {updates.map((update) => (
            <tr key={update.id}>
              <td>
                <Badge status={update.status} />
              </td>
              <td>
                <What update={update} />
              </td>
              <td>
                <Time at={update.created_at} /> <span className="hint">by {update.sender.id}</span>
              </td>
              <td>
                <Time at={update.delivered_at} />
              </td>
              <td>
                <Time at={update.acknowledged_at} />
              </td>
              <td className="meta">{update.delivered_to ?? '–'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableScroll>
  )
}

function What({ update }: { update: Update }) {
  const { update_type, revision, delivery, content } = update
  return (
    <>
      {update_type.replaceAll('_', ' ')}
      <span className="hint">
        {revision !== null && ` to revision ${revision}`}
        {delivery === 'interrupt' && ', interrupting'}
      </span>
      {content !== '' && <pre>{content.slice(0, SHOWN)}</pre>}
    </>
  )
}
