import { Link } from '@tanstack/react-router'

/** Leads to the form of a new subtask. */
export function NewSubtaskLink() {
  return (
    <Link className="button" data-kind="primary" to="/subtasks/new">
      New subtask
    </Link>
  )
}
