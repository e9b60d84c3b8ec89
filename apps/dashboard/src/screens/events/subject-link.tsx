import type { Event } from '@muster/client'
import { Link } from '@tanstack/react-router'

/** What an event is about, as a link where it has a screen of its own. */
export function SubjectLink({ subject: { kind, id } }: { subject: Event['subject'] }) {
  const name = `${kind} ${id.slice(-6)}`
  if (kind === 'subtask' || kind === 'task') {
    return (
      <Link to={`/${kind}s/$id`} params={{ id }}>
        {name}
      </Link>
    )
  }
  return <span className="meta">{name}</span>
}
