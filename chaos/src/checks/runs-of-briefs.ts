import type { Evidence } from './check.ts'

interface Delivered {
  in_brief: string[]
  received: string[]
  revision: number
}

/** Programs and outside workers that run a brief receive its changes in order, each once. */
export async function checkRunsOfBriefs({ admin, ledger, findings }: Evidence): Promise<void> {
  const updates = await admin<
    { id: string; task_id: string; seq: number; type: string; revision: number; delivered_to: string | null; is_confirmed: boolean }[]
  >`
    select u.id, u.task_id, u.seq, u.update_type as type, u.revision, u.delivered_to,
      -- By the program, that is, not by a later holder's check-in.
      exists (
        select from events e where e.subject_id = u.task_id and e.type = 'update.acknowledged'
          and e.data ->> 'update_id' = u.id::text and not e.data ? 'check_in_id'
      ) as is_confirmed
    from updates u where u.task_id is not null`
  const byId = new Map(updates.map((update) => [update.id, update]))
  const seqs = (ids: readonly string[]) => ids.flatMap((id) => byId.get(id)?.seq ?? [])
  const isRising = (places: readonly number[]) => places.every((place, index) => index === 0 || place > (places[index - 1] as number))

  const runs = await admin<{ id: string; task_id: string; task_revision: number; delivered: Delivered; is_held: boolean }[]>`
    select s.id, s.task_id, s.task_revision, s.outputs -> 'delivered' as delivered, coalesce(a.ended_at > s.attempt_started_at and not chaos.is_repeated(a.ended_at), true) as is_held
    from subtasks s left join assignments a on a.task_id = s.task_id and a.session_id = 'subtask-' || s.id
    where s.runner = 'steered' and s.status = 'completed' and s.task_id is not null`
  findings.none(
    'a program that runs a brief receives its changes in order, each once, and none that its prompt contained',
    runs.length,
    runs
      .filter(({ task_id, delivered }) => {
        const contained = updates.filter(
          (update) => update.task_id === task_id && !['note', 'revision_request'].includes(update.type) && update.revision <= delivered.revision,
        )
        const last = Math.max(0, ...contained.map((update) => update.seq), ...seqs(delivered.in_brief))
        const places = seqs(delivered.received)
        return !isRising(seqs(delivered.in_brief)) || !isRising(places) || (places[0] ?? Number.POSITIVE_INFINITY) <= last
      })
      .map(
        ({ id, delivered }) =>
          `${id}: ${seqs(delivered.in_brief).join(',')} in its brief of revision ${delivered.revision}, then ${seqs(delivered.received).join(',')}`,
      ),
  )
  // An attempt that began when its task had already ended otherwise receives nothing of it any more.
  const confirmed = runs
    .filter((run) => run.is_held)
    .flatMap(({ id, delivered }) =>
      updates
        .filter((update) => update.type === 'note' && update.is_confirmed && update.delivered_to === `subtask-${id}`)
        .map((update) => ({ update, id, delivered })),
    )
  findings.none(
    'a note that a program has confirmed has reached it',
    confirmed.length,
    confirmed
      .filter(({ update, delivered }) => !delivered.in_brief.includes(update.id) && !delivered.received.includes(update.id))
      .map(({ update, id }) => `${update.id} of ${id}`),
  )
  findings.none(
    'a run of a brief records the newest delivered revision',
    runs.length,
    runs
      .filter(
        ({ task_revision, delivered }) => Math.max(delivered.revision, ...delivered.received.flatMap((id) => byId.get(id)?.revision ?? [])) > task_revision,
      )
      .map(({ id, task_revision }) => `${id} at revision ${task_revision}`),
  )
  const claims = ledger.claims.flatMap((claim) => (claim.brief === null ? [] : [{ ...claim, brief: claim.brief }]))
  findings.none(
    'an outside worker that runs a brief receives its changes in order, and none that its prompt contained',
    claims.length,
    claims
      .filter(({ delivered, brief }) => {
        const isContained = (update: (typeof updates)[number]) =>
          ['note', 'revision_request'].includes(update.type) ? brief.noteIds.includes(update.id) : update.revision <= brief.revision
        return !isRising(seqs(delivered)) || delivered.some((id) => !byId.has(id) || isContained(byId.get(id) as (typeof updates)[number]))
      })
      .map(
        ({ subtaskId, attempt, delivered, brief }) =>
          `${subtaskId}#${attempt}: ${seqs(delivered).join(',')} after revision ${brief.revision} and ${seqs(brief.noteIds).join(',')}`,
      ),
  )
}
