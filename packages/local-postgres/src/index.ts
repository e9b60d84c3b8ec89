/**
 * A PostgreSQL server of the project's own, for `npm start`, the demo, the tests and the benchmarks: real server programs
 * out of an npm package, on a data folder, on 127.0.0.1, for an ordinary user as for root. It owns the life of that server
 * and nothing in it: tables, roles and migrations belong to `@muster/db`. Production brings its own PostgreSQL instead.
 */
export { makeFolder } from './data-folder.ts'
export { LocalPostgresError, type LocalPostgresErrorCode } from './errors.ts'
export { freePort, isPortFree, takenBy } from './ports.ts'
export { commandOf, identifyProcess, isRunning, type ProcessIdentity, waitUntil } from './processes.ts'
export type { StopMode } from './server.ts'
export {
  type FoundPostgres,
  findLocalPostgres,
  hasLocalDatabase,
  type LocalPostgres,
  type LocalPostgresOptions,
  removeLocalPostgres,
  startLocalPostgres,
} from './start.ts'
