import type { Spawn } from '../ledger.ts'
import { checkRows, type Evidence } from './check.ts'

interface Row {
  id: string
  project_id: string
  marker: string | null
  status: string
  final_outcome: string | null
  agent_id: string
  runner: string
  session: string | null
}

/** What was accepted is there, once, and has come to its end; what is there was asked for. */
export async function checkSubtasks(evidence: Evidence): Promise<void> {
  const { admin, ledger, findings } = evidence
  const rows = await admin<Row[]>`
    select id, project_id, metadata ->> 'chaos' as marker, status, final_outcome, agent_id, runner, parent_session_id as session from subtasks
    where schedule_id is null and revision_of is null`
  const byId = new Map(rows.map((row) => [row.id, row]))
  const byMarker = Map.groupBy(rows, (row) => row.marker ?? '')
  const accepted = ledger.spawns.filter((spawn) => spawn.state === 'accepted')
  const spawned = new Map(ledger.spawns.map((spawn) => [spawn.marker, spawn]))

  findings.none(
    'every accepted subtask is there, as it was asked for',
    accepted.length,
    accepted
      .filter((spawn) => !isSame(spawn, byId.get(spawn.id as string)))
      .map((spawn) => `${spawn.marker} ${spawn.id}: ${JSON.stringify(byId.get(spawn.id as string) ?? 'missing')}`),
  )
  findings.none(
    'every accepted subtask has come to an end',
    rows.length,
    rows.filter((row) => row.final_outcome === null).map((row) => `${row.id} (${row.marker}) is ${row.status}`),
  )
  findings.none(
    'nothing exists without a request',
    rows.length,
    rows.filter((row) => !spawned.has(row.marker ?? '')).map((row) => `${row.id} ${row.marker}`),
  )
  findings.none(
    'one request makes at most one subtask, however often it was repeated',
    ledger.spawns.length,
    [...byMarker].filter(([, group]) => group.length > 1).map(([marker, group]) => `${marker}: ${group.map((row) => row.id).join(', ')}`),
  )
  // One whose earlier request got no answer may have been accepted by it.
  const refused = ledger.spawns.filter((spawn) => spawn.state === 'refused' && !spawn.wasLost)
  findings.none(
    'what was refused is not there',
    refused.length,
    refused.filter((spawn) => byMarker.has(spawn.marker)).map((spawn) => spawn.marker),
  )
  findings.none(
    'an end that was seen never changes',
    accepted.filter((spawn) => spawn.seenEnd !== null).length,
    accepted
      .filter((spawn) => spawn.seenEnd !== null && byId.get(spawn.id as string)?.final_outcome !== spawn.seenEnd)
      .map((spawn) => `${spawn.id} was ${spawn.seenEnd}`),
  )
  checkCancels(evidence, byId)

  const all = admin`select count(*) from subtasks`
  await checkRows(
    evidence,
    'an ended subtask has exactly one terminal event in the log',
    all,
    admin`
      select s.id, s.status, e.types from subtasks s left join lateral (
        select array_agg(type) as types from events where subject_id = s.id and type in ('subtask.completed', 'subtask.failed', 'subtask.cancelled')
      ) as e on true
      where e.types is distinct from array['subtask.' || s.status]`,
  )
  await checkRows(
    evidence,
    'an ended subtask has exactly one inbox item if it has a parent session and was not sent back, and none otherwise',
    all,
    admin`
      select s.id, s.parent_session_id, count(i.id) from subtasks s left join inbox i on i.subtask_id = s.id and i.session_id = s.parent_session_id
      group by s.id having count(i.id) <> (s.parent_session_id is not null and not exists (select from subtasks later where later.revision_of = s.id))::int`,
  )
  await checkRows(
    evidence,
    'an ended subtask holds no slot, job, lease or secret',
    all,
    admin`
      select id, status, slot, job_id, lease_expires_at from subtasks
      where slot or job_id is not null or lease_expires_at is not null or lease_token_hash is not null or credential_hash is not null`,
  )
}

function isSame(spawn: Spawn, row: Row | undefined): boolean {
  return (
    row !== undefined &&
    row.marker === spawn.marker &&
    row.project_id === spawn.projectId &&
    row.agent_id === spawn.agent &&
    row.runner === spawn.runner &&
    row.session === spawn.session
  )
}

function checkCancels({ ledger, findings }: Evidence, byId: Map<string, Row>): void {
  const delivered = ledger.cancels.filter(({ status }) => status === 200 || status === 202)
  findings.none(
    'what was answered as cancelled is cancelled, or had completed first',
    delivered.length,
    delivered
      .filter(({ id, status }) => {
        const end = byId.get(id)?.status
        return end !== 'cancelled' && !(status === 202 && end === 'completed')
      })
      .map(({ id, status }) => `${id} answered ${status}, is ${byId.get(id)?.status} ${byId.get(id)?.final_outcome}`),
  )
}
