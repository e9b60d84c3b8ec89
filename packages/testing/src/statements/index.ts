/** What tests of statements and their plans share: pools that record what they send, a use of every operation, and the rows of some months. */
export { type Explained, type PlanNode, planOf, type Recording, recordStatements, type Statement } from './record.ts'
export { recordEverything } from './record-everything.ts'
export { STORED_ROWS, storeGuides, storeJobs, storePastSchedules, storeTasks } from './stored-rows.ts'
