import type { Task } from '@muster/client'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Panel } from '../../design/panel.tsx'
import { guideQuery } from '../guides/queries.ts'

/** The guides that the brief names, and whether they were announced, read and of use. */
export function TaskGuides({ guides }: { guides: Task['tsgs'] }) {
  return (
    <Panel title="Guides" count={guides.length} isFlush>
      <ul className="list">
        {guides.map(({ tsg_id, title }) => (
          <li key={tsg_id}>
            <Link className="grow" to="/guides" search={{ q: title }}>
              {title}
            </Link>
            <Usage id={tsg_id} />
          </li>
        ))}
      </ul>
    </Panel>
  )
}

function Usage({ id }: { id: string }) {
  const { data } = useQuery(guideQuery(id))
  if (data === undefined) return null
  const { surfaced, read, resolved, unresolved } = data.usage
  return (
    <span className="meta">
      shown {surfaced}, read {read}, helped {resolved} of {resolved + unresolved}
    </span>
  )
}
