import type { Criterion, CriterionSource } from './task.ts'

/** A criterion as a brief states it, before it is known whether the task has it already. */
export interface CleanCriterion {
  /** Sent by a caller who means a criterion that is there, with this or another text. */
  id?: string
  text: string
  source: CriterionSource
  required: boolean
  /** Absent: that of the criterion that is there. Null: none. */
  check?: string | null
}

/** What a criterion of one source may be given as. */
export type WantedCriterion = string | { id?: string; text: string; required?: boolean; check?: string | null }

/**
 * The criteria of one source after an edit, in the order wanted. One keeps its id where the id is sent or its text is unchanged, and
 * its state only where the text is: a reworded criterion has to be met anew. It also keeps its check, unless another or null is sent. An id that the task does not have is not taken over.
 */
export function mergeCriteria(previous: readonly Criterion[], wanted: readonly WantedCriterion[], source: CriterionSource, newId: () => string): Criterion[] {
  const before = previous.filter((criterion) => criterion.source === source)
  const kept = new Map<number, Criterion>()
  const free = new Map(before.map((criterion) => [criterion.id, criterion]))
  const given = wanted.map((item) => (typeof item === 'string' ? { text: item } : item) as Exclude<WantedCriterion, string>)
  // Ids first: a text that has moved to another line must not take the id from the line that names it.
  const keep = (index: number, criterion: Criterion | undefined): void => {
    if (criterion === undefined) return
    kept.set(index, criterion)
    free.delete(criterion.id)
  }
  for (const [index, { id }] of given.entries()) if (id !== undefined) keep(index, free.get(id))
  const byText = new Map<string, Criterion[]>()
  for (const criterion of free.values()) byText.set(criterion.text, [...(byText.get(criterion.text) ?? []), criterion])
  for (const [index, { text }] of given.entries()) if (!kept.has(index)) keep(index, byText.get(text)?.shift())
  return given.map(({ text, required = true, check: wanted }, index) => {
    const criterion = kept.get(index)
    const check = wanted === undefined ? criterion?.check : (wanted ?? undefined)
    const state = criterion?.text === text ? criterion.state : 'open'
    return { id: criterion?.id ?? newId(), text, source, required, ...(check === undefined ? {} : { check }), state }
  })
}

/** `mergeCriteria` for a whole brief: those of all sources, in the order of the brief. */
export function mergeAllCriteria(previous: readonly Criterion[], wanted: readonly CleanCriterion[], newId: () => string): Criterion[] {
  const sources = [...new Set(wanted.map(({ source }) => source))]
  return sources.flatMap((source) =>
    mergeCriteria(
      previous,
      wanted.filter((criterion) => criterion.source === source),
      source,
      newId,
    ),
  )
}
