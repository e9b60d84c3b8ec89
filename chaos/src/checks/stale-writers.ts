import type { FaultRecord } from '../faults.ts'
import type { EndingVerb, OutsideClaim } from '../ledger.ts'
import { checkRows, type Evidence } from './check.ts'

/** How an attempt ends that its holder ended, by what the holder asked for. A cancel may have been asked for before. */
const OUTCOMES: Record<EndingVerb, readonly string[]> = {
  complete: ['completed', 'validation_failed', 'cancelled'],
  fail: ['errored', 'cancelled'],
  release: ['released', 'cancelled'],
  wait: ['waiting', 'cancelled'],
}

/** A worker that has lost a subtask can write nothing to it any more: no step and no end. */
export async function checkStaleWriters(evidence: Evidence, faults: readonly FaultRecord[]): Promise<void> {
  const { admin, ledger, findings } = evidence
  await checkRows(
    evidence,
    'no step is stored before its attempt begins or after it has ended',
    admin`select count(*) from steps`,
    admin`
      select p.subtask_id, p.seq, p.attempt, p.at, a.started_at, a.ended_at, a.outcome
      from steps p left join attempts a on a.subtask_id = p.subtask_id and a.attempt = p.attempt
      where a.subtask_id is null or ((p.at < a.started_at or p.at > a.ended_at) and not chaos.is_repeated(p.at))`,
  )

  const rows = await admin<{ ref: string; outcome: string | null; error: string | null }[]>`
    select a.subtask_id || '#' || a.attempt as ref, a.outcome, a.error from attempts a join subtasks s on s.id = a.subtask_id where s.runner = 'external'`
  const attempts = new Map(rows.map((row) => [row.ref, row]))
  const attemptOf = (claim: OutsideClaim) => attempts.get(`${claim.subtaskId}#${claim.attempt}`)
  const hasEnded = (claim: OutsideClaim, verb: EndingVerb) => OUTCOMES[verb].includes(attemptOf(claim)?.outcome ?? '')
  const describe = (claim: OutsideClaim) => `${claim.subtaskId}#${claim.attempt} ${claim.nonce} (${claim.did}, ${claim.verb}): ${attemptOf(claim)?.outcome}`
  for (const verb of ['complete', 'fail', 'release', 'wait'] as const) {
    const settled = ledger.claims.filter((claim) => claim.end === 'settled' && claim.verb === verb)
    findings.none(
      `an outside worker's ${verb} that was answered 200 has ended its own attempt`,
      settled.length,
      settled.filter((claim) => !hasEnded(claim, verb)).map(describe),
    )
  }
  const refused = ledger.claims.filter((claim) => claim.end === 'refused')
  findings.none(
    'what an outside worker was refused (412) has not ended its attempt',
    refused.length,
    // A cancel ends it for all holders.
    refused.filter((claim) => attemptOf(claim)?.outcome !== 'cancelled' && hasEnded(claim, claim.verb as EndingVerb)).map(describe),
  )
  await checkStoppedWorkers(evidence, faults)
  await checkKilledWorkers(evidence, faults)
}

/** What is taken from a worker that is stopped, or cut off from the database, beyond its lease bears no trace of what that worker did when it was woken. */
async function checkStoppedWorkers({ admin, findings, clock }: Evidence, faults: readonly FaultRecord[]): Promise<void> {
  for (const { fault, atMs, life, wasDone } of faults) {
    if (!wasDone || (fault.kind !== 'worker-stop' && fault.kind !== 'partition') || life?.workerId == null) continue
    const stopped = clock.shown(atMs, atMs + fault.lastsMs)
    const taken = await admin<{ subtask_id: string; attempt: number; is_touched: boolean }[]>`
      select a.subtask_id, a.attempt,
        (s.attempt = a.attempt and (s.result is not null or s.result_body_id is not null))
          or exists (select from steps p where p.subtask_id = a.subtask_id and p.attempt = a.attempt and p.at > a.ended_at and not chaos.is_repeated(p.at)) as is_touched
      from attempts a join subtasks s on s.id = a.subtask_id
      where a.worker_id = ${life.workerId} and a.outcome in ('lost', 'worker_lost')
        and a.ended_at between ${new Date(stopped.fromMs).toISOString()}::timestamptz and ${new Date(stopped.toMs).toISOString()}::timestamptz`
    findings.none(
      fault.kind === 'partition'
        ? 'what was taken from a worker that was cut off is not touched by it when it is back'
        : 'what was taken from a stopped worker is not touched by it when it goes on',
      taken.length,
      taken.filter((row) => row.is_touched).map((row) => `${row.subtask_id}#${row.attempt} of ${life.workerId}`),
    )
  }
}

/** The statement that ends an attempt may have been under way when its worker was killed. */
const UNDER_WAY_MS = 1_000

/** What a killed worker ran is lost with it, and never counts as timed out: a timeout ends a subtask for good, and a lost worker has it retried. */
async function checkKilledWorkers({ admin, findings, clock }: Evidence, faults: readonly FaultRecord[]): Promise<void> {
  for (const { fault, atMs, life, wasDone } of faults) {
    if (!wasDone || fault.kind !== 'worker-kill' || life?.workerId == null) continue
    const sinceMs = clock.shown(atMs, atMs).toMs + UNDER_WAY_MS
    const ended = await admin<{ subtask_id: string; attempt: number; outcome: string }[]>`
      select subtask_id, attempt, outcome from attempts
      where worker_id = ${life.workerId} and ended_at > ${new Date(sinceMs).toISOString()}::timestamptz`
    findings.none(
      'what a killed worker ran never ends as timed out',
      ended.length,
      ended.filter((row) => row.outcome === 'timed_out').map((row) => `${row.subtask_id}#${row.attempt} of ${life.workerId}`),
    )
  }
}
