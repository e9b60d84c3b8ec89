/** The parts of a task, as its tabs name them. */
export const TASK_TABS = {
  receipts: 'Updates and receipts',
  revisions: 'Revisions',
  verdicts: 'Verdicts',
  runs: 'Subtasks',
  'check-ins': 'Check-ins',
  checks: 'Checks',
  history: 'History',
} as const
