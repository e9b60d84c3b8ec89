import type { Brief } from '../ledger.ts'
import { checkRows, type Evidence } from './check.ts'

interface Row {
  id: string
  project_id: string
  marker: string | null
  status: string
  session: string | null
  summary: string | null
}

/** What was answered about tasks is there, as it was answered; a task ends with what its brief asks for, and with the subtask that runs it. */
export async function checkBriefs(evidence: Evidence): Promise<void> {
  const { admin, ledger, findings } = evidence
  const rows = await admin<Row[]>`select id, project_id, metadata ->> 'chaos' as marker, status, parent_session_id as session, summary from tasks`
  const byId = new Map(rows.map((row) => [row.id, row]))
  const byMarker = Map.groupBy(rows, (row) => row.marker ?? '')
  const accepted = ledger.briefs.filter((brief) => brief.state === 'accepted')
  findings.none(
    'every accepted task is there, as it was asked for',
    accepted.length,
    accepted.filter((brief) => !isSame(brief, byId.get(brief.id as string))).map((brief) => `${brief.marker} ${brief.id}`),
  )
  const asked = new Set(ledger.briefs.map((brief) => brief.marker))
  findings.none(
    'one request makes at most one task, and nothing else makes one',
    ledger.briefs.length,
    [...byMarker].filter(([marker, group]) => group.length > 1 || !asked.has(marker)).map(([marker, group]) => `${marker}: ${group.length}`),
  )
  await checkMoves(evidence, accepted, byId)
  await checkChanges(evidence)
  await checkEnds(evidence)
}

function isSame(brief: Brief, row: Row | undefined): boolean {
  return row !== undefined && row.marker === brief.marker && row.project_id === brief.projectId && row.session === brief.session
}

async function checkMoves({ admin, ledger, findings }: Evidence, accepted: readonly Brief[], byId: ReadonlyMap<string, Row>): Promise<void> {
  const moves = accepted.flatMap((brief) => brief.moves.map((move) => ({ ...move, brief, row: byId.get(brief.id as string) })))
  const holders = await admin<{ task_id: string; session_id: string }[]>`select task_id, session_id from assignments`
  const held = new Set(holders.map((row) => `${row.task_id} ${row.session_id}`))
  const given = moves.filter((move) => move.isAccepted && move.session !== null)
  findings.none(
    'a task was given to whom it was answered to be given to',
    given.length,
    given.filter((move) => !held.has(`${move.brief.id} ${move.session}`)).map((move) => `${move.brief.marker} to ${move.session}`),
  )
  // One whose earlier request got no answer may have been accepted by that.
  const handedIn = moves.filter((move) => move.kind === 'complete' && move.answeredMs !== null && (move.isAccepted || !move.wasLost))
  findings.none(
    'what was handed in for a task is what it holds, if it was answered 200, and not otherwise',
    handedIn.length,
    handedIn
      .filter((move) => (move.row?.status === 'completed' && move.row.summary === move.summary) !== move.isAccepted)
      .map((move) => `${move.brief.marker}: accepted ${move.isAccepted}, ${move.row?.status} with "${move.row?.summary}" for "${move.summary}"`),
  )
  const cancelled = moves.filter((move) => move.kind === 'cancel' && move.isAccepted)
  findings.none(
    'a task that was answered to be cancelled is cancelled',
    cancelled.length,
    cancelled.filter((move) => move.row?.status !== 'cancelled').map((move) => `${move.brief.marker} is ${move.row?.status}`),
  )
  const acknowledged = await admin<{ id: string }[]>`select id from updates where status = 'acknowledged'`
  const known = new Set(acknowledged.map((row) => row.id))
  findings.none(
    'what a check-in acknowledged is acknowledged',
    ledger.acknowledgedIds.length,
    ledger.acknowledgedIds.filter((id) => !known.has(id)),
  )
}

/** Notes are stored once; of changes of one revision, one is accepted. */
async function checkChanges({ admin, ledger, findings }: Evidence): Promise<void> {
  const rows = await admin<{ id: string; task_id: string; revision: number; content: string; title: string | null }[]>`
    select u.id, u.task_id, u.revision, u.content, substring(u.content from '(?n)^Title: (.*)$') as title from updates u where u.task_id is not null`
  const byId = new Map(rows.map((row) => [row.id, row]))
  const byText = Map.groupBy(rows, (row) => row.title ?? row.content)
  const accepted = ledger.changes.filter((change) => change.state === 'accepted')
  findings.none(
    'every accepted change of a task is stored, with the revision that was answered',
    accepted.length,
    accepted
      .filter((change) => {
        const row = byId.get(change.updateId as string)
        return row === undefined || row.task_id !== change.taskId || (change.kind === 'revision' && row.revision !== change.revision)
      })
      .map((change) => `${change.text} of ${change.taskId}: ${change.updateId} at revision ${change.revision}`),
  )
  findings.none(
    'a change of a task is stored at most once, and not if it was refused',
    ledger.changes.length,
    ledger.changes
      .filter((change) => (byText.get(change.text)?.length ?? 0) > (change.state === 'refused' ? 0 : 1))
      .map((change) => `${change.text} of ${change.taskId} (${change.state}): ${byText.get(change.text)?.length}`),
  )
  const revisions = accepted.filter((change) => change.kind === 'revision')
  findings.none(
    'an accepted change of a task follows the revision that it was made from, so that of several one is accepted',
    revisions.length,
    revisions
      .filter((change) => change.revision !== (change.from as number) + 1)
      .map((change) => `${change.text}: ${change.revision} made from ${change.from}`),
  )
}

async function checkEnds(evidence: Evidence): Promise<void> {
  const { admin } = evidence
  const all = admin`select count(*) from tasks`
  await checkRows(
    evidence,
    'an ended task has exactly one terminal event in the log',
    all,
    admin`
      select t.id, t.status, e.types from tasks t left join lateral (
        select array_agg(type) as types from events where subject_id = t.id and type in ('task.completed', 'task.failed', 'task.cancelled')
      ) as e on true
      where e.types is distinct from case when t.status in ('completed', 'failed', 'cancelled') then array['task.' || t.status] end`,
  )
  await checkRows(
    evidence,
    'a completed task has the outputs that its last revision requires',
    admin`select count(*) from tasks where status = 'completed'`,
    admin`
      select t.id, t.revision, o.output ->> 'name' as missing from tasks t join task_revisions r on r.task_id = t.id and r.revision = t.revision
      cross join lateral jsonb_array_elements(r.required_outputs) as o(output)
      where t.status = 'completed' and coalesce(t.completion_outputs -> (o.output ->> 'name'), 'null') = 'null'`,
  )
  await checkRows(
    evidence,
    'a dispatched task is no longer run when its subtask has ended, and is completed if that completed',
    admin`select count(*) from tasks where subtask_id is not null`,
    admin`
      select t.id, t.status, t.subtask_id, s.status as subtask from tasks t join subtasks s on s.id = t.subtask_id
      where (t.subagent_session_id = 'subtask-' || s.id and t.status not in ('completed', 'failed', 'cancelled'))
        or (s.status = 'completed' and t.status not in ('completed', 'failed', 'cancelled'))`,
  )
  await checkRows(
    evidence,
    'a task that a subtask completed holds the outputs of that subtask',
    admin`select count(*) from tasks t join subtasks s on s.id = t.subtask_id where t.status = 'completed' and s.status = 'completed'`,
    // Unless another holder had submitted them before.
    admin`
      select t.id, t.summary, t.completion_outputs, s.outputs from tasks t join subtasks s on s.id = t.subtask_id
      where t.status = 'completed' and s.status = 'completed' and t.completion_outputs <> s.outputs and coalesce(t.summary, '') not like 'handed in %'`,
  )
}
