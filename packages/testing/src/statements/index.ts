/** What tests of statements and their plans share: pools that record what they send, a use of every operation, and the rows of some months. */
export { type Explained, type PlanNode, planOf, type Recording, recordStatements, type Statement } from './record.ts'
export { STORED_ROWS, storeGuides, storeJobs, storeMonthsOfWork, storePastSchedules, storeTasks } from './stored-rows.ts'
export { EVERYTHING_SETTINGS, useEverything } from './use-everything.ts'
