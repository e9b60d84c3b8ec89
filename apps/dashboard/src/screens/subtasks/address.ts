export const TABS = ['transcript', 'timeline', 'brief', 'evaluation', 'updates'] as const
export type SubtaskTab = (typeof TABS)[number]

/** What of a subtask is open, as the address of the page has it. */
export interface SubtaskPlace {
  tab?: SubtaskTab
  /** The number of a step of the transcript. */
  step?: number
}

/** Reads an address; what it does not understand is left out. */
export function readSubtaskPlace(search: Record<string, unknown>): SubtaskPlace {
  const tab = TABS.find((each) => each === search.tab)
  const step = Number(search.step)
  return { ...(tab === undefined ? {} : { tab }), ...(Number.isInteger(step) && step > 0 ? { step } : {}) }
}
