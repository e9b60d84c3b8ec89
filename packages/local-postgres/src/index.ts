/**
 * The embedded PostgreSQL of `npm start`, the demo, the tests and the benchmarks: server programs from an npm package, a data folder, this machine only, for
 * ordinary users and for root. It starts and stops that server and owns nothing in it: tables, roles and migrations belong to `@muster/db`. Production
 * uses a PostgreSQL of the operator instead.
 */
export { makeFolder } from './data-folder.ts'
export { freePort, isPortFree, takenBy } from './ports.ts'
export { identifyProcess, isRunning, type ProcessIdentity, waitUntil } from './processes.ts'
export type { StopMode } from './server.ts'
export { findLocalPostgres, hasLocalDatabase, type LocalPostgres, type LocalPostgresOptions, removeLocalPostgres, startLocalPostgres } from './start.ts'
