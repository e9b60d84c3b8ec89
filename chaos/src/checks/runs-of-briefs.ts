import type { Evidence } from './check.ts'

interface Told {
  in_brief: string[]
  received: string[]
  revision: number
}

/** Programs and outside workers that run a brief are told of its changes in their order, each once. */
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

  const runs = await admin<{ id: string; task_id: string; task_revision: number; told: Told; is_held: boolean }[]>`
    select s.id, s.task_id, s.task_revision, s.outputs -> 'told' as told, coalesce(a.ended_at > s.attempt_started_at and not chaos.is_told_twice(a.ended_at), true) as is_held
    from subtasks s left join assignments a on a.task_id = s.task_id and a.session_id = 'subtask-' || s.id
    where s.runner = 'steered' and s.status = 'completed' and s.task_id is not null`
  findings.none(
    'a program that runs a brief is told of its changes in order, each once, and of none that its brief contained',
    runs.length,
    runs
      .filter(({ task_id, told }) => {
        const contained = updates.filter(
          (update) => update.task_id === task_id && !['note', 'revision_request'].includes(update.type) && update.revision <= told.revision,
        )
        const last = Math.max(0, ...contained.map((update) => update.seq), ...seqs(told.in_brief))
        const places = seqs(told.received)
        return !isRising(seqs(told.in_brief)) || !isRising(places) || (places[0] ?? Number.POSITIVE_INFINITY) <= last
      })
      .map(({ id, told }) => `${id}: ${seqs(told.in_brief).join(',')} in its brief of revision ${told.revision}, then ${seqs(told.received).join(',')}`),
  )
  // An attempt that began when its task had already ended otherwise receives nothing of it any more.
  const confirmed = runs
    .filter((run) => run.is_held)
    .flatMap(({ id, told }) =>
      updates
        .filter((update) => update.type === 'note' && update.is_confirmed && update.delivered_to === `subtask-${id}`)
        .map((update) => ({ update, id, told })),
    )
  findings.none(
    'a note that a program has confirmed has reached it',
    confirmed.length,
    confirmed
      .filter(({ update, told }) => !told.in_brief.includes(update.id) && !told.received.includes(update.id))
      .map(({ update, id }) => `${update.id} of ${id}`),
  )
  findings.none(
    'a run of a brief records the newest revision that it was told',
    runs.length,
    runs
      .filter(({ task_revision, told }) => Math.max(told.revision, ...told.received.flatMap((id) => byId.get(id)?.revision ?? [])) > task_revision)
      .map(({ id, task_revision }) => `${id} at revision ${task_revision}`),
  )
  const claims = ledger.claims.flatMap((claim) => (claim.brief === null ? [] : [{ ...claim, brief: claim.brief }]))
  findings.none(
    'an outside worker that runs a brief is told of its changes in order, and of none that its brief contained',
    claims.length,
    claims
      .filter(({ told, brief }) => {
        const isContained = (update: (typeof updates)[number]) =>
          ['note', 'revision_request'].includes(update.type) ? brief.noteIds.includes(update.id) : update.revision <= brief.revision
        return !isRising(seqs(told)) || told.some((id) => !byId.has(id) || isContained(byId.get(id) as (typeof updates)[number]))
      })
      .map(
        ({ subtaskId, attempt, told, brief }) =>
          `${subtaskId}#${attempt}: ${seqs(told).join(',')} after revision ${brief.revision} and ${seqs(brief.noteIds).join(',')}`,
      ),
  )
}
