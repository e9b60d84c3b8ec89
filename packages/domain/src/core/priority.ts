/** Of tasks, subtasks and schedules, lowest first. */
export const PRIORITIES = ['low', 'normal', 'high', 'urgent'] as const
export type Priority = (typeof PRIORITIES)[number]

/** Names that tasks had for them before, which are taken until 1.0. */
export const FORMER_PRIORITIES: ReadonlyMap<string, Priority> = new Map([
  ['p0', 'urgent'],
  ['p1', 'high'],
  ['p2', 'normal'],
  ['p3', 'low'],
])

/** Reads a priority of a task in upper or lower case, by its present or its former name; null if it is neither. */
export function readPriority(value: string): Priority | null {
  const wanted = value.trim().toLowerCase()
  return PRIORITIES.find((priority) => priority === wanted) ?? FORMER_PRIORITIES.get(wanted) ?? null
}

/** Position in the queue before ageing: one rank is worth `SUBTASK_AGEING_SECONDS` of waiting. */
export const PRIORITY_RANKS = { urgent: 0, high: 1, normal: 2, low: 3 } as const satisfies Record<Priority, number>
